//! SUBSCRIBE: a relation's rows and their changes, without end.

use std::sync::Arc;

use super::outcome::{Description, Patience, Rows, Tag};
use super::session::Session;
use crate::catalog::privilege::Privileges;
use crate::catalog::{Object, ObjectKind};
use crate::engine::{Watch, WatchFrom, change_rows, subscribed};
use crate::error::{SqlError, SqlResult, code};
use crate::planner::Name;
use crate::planner::statement::{Since, Subscribe, SubscriptionCursor};
use crate::types::Epoch;

impl Session {
    /// Begins to watch. The epoch that it begins at is the newest one, whatever the transaction
    /// reads otherwise.
    pub(super) async fn subscribe(&mut self, subscribe: &Subscribe) -> SqlResult<Rows> {
        let object = self.watched(&subscribe.relation)?;
        let description = Arc::new(Description::new(subscribed(&object, subscribe.progress)));
        let watch = Watch {
            object,
            rows: subscribe.snapshot,
            from: subscribe.as_of.map_or(WatchFrom::Newest, |epoch| WatchFrom::Epoch(Epoch(epoch))),
            backlog_max: self.backlog_max(),
            subscription: None,
            process_id: self.membership.process_id(),
        };
        let context = self.query_context()?;
        let interrupts = Arc::clone(&self.interrupts);
        let work = self.engine.subscribe(&context, &watch, subscribe.progress);
        let rows = interrupts.race(Box::pin(work)).await?;
        let rows =
            Rows::new(description, Tag::Counted("SUBSCRIBE"), rows).without_end(Patience::Once);
        Ok(rows.with_style(self.text_style()))
    }

    /// The columns that it gives.
    pub(super) fn describe_subscribe(&self, subscribe: &Subscribe) -> SqlResult<Description> {
        let object = self.watched(&subscribe.relation)?;
        Ok(Description::new(subscribed(&object, subscribe.progress)))
    }

    /// The rows of a subscription's cursor. It reads what the subscription keeps.
    pub(super) async fn subscription_rows(
        &mut self,
        cursor: &SubscriptionCursor,
    ) -> SqlResult<Rows> {
        let (subscription, object) = self.kept_by(&cursor.subscription)?;
        let description = Arc::new(Description::new(change_rows(&object)));
        let watch = Watch {
            object,
            rows: cursor.since == Since::Full,
            from: match cursor.since {
                Since::Now | Since::Full => WatchFrom::Newest,
                Since::Begin => WatchFrom::Oldest,
                Since::Epoch(epoch) => WatchFrom::Epoch(Epoch(epoch)),
            },
            backlog_max: self.backlog_max(),
            subscription: Some(subscription.id),
            process_id: self.membership.process_id(),
        };
        let context = self.query_context()?;
        let interrupts = Arc::clone(&self.interrupts);
        let work = self.engine.subscription_changes(&context, &watch);
        let rows = interrupts.race(Box::pin(work)).await?;
        // As in RisingWave, FETCH gives what is there.
        let rows = Rows::new(description, Tag::Counted("FETCH"), rows).without_end(Patience::None);
        Ok(rows.with_style(self.text_style()))
    }

    /// A subscription, and what it keeps the changes of, which this client may read.
    fn kept_by(&self, name: &Name) -> SqlResult<(Arc<Object>, Arc<Object>)> {
        let object = self.object(name)?;
        let catalog = self.engine.catalog();
        let actor = catalog.actor(self.current_user())?;
        actor.check_schema(&object.name.schema, Privileges::USAGE)?;
        let Some(subscription) = object.subscription() else {
            let message = format!("\"{}\" is not a subscription", name.name);
            return Err(SqlError::new(code::WRONG_OBJECT_TYPE, message)
                .hint(format!(
                    "CREATE SUBSCRIPTION ... FROM {name} WITH (retention = ...) makes one."
                ))
                .position(name.position));
        };
        let from = catalog.object(subscription.from).cloned();
        let from = from.ok_or_else(|| SqlError::internal("a subscription to nothing"))?;
        actor.check_relation(&from, Privileges::SELECT)?;
        Ok((object, from))
    }

    /// What can be watched, by whom may read it.
    pub(super) fn watched(&self, name: &Name) -> SqlResult<Arc<Object>> {
        let object = self.object(name)?;
        let catalog = self.engine.catalog();
        let actor = catalog.actor(self.current_user())?;
        actor.check_schema(&object.name.schema, Privileges::USAGE)?;
        object.check_readable().map_err(|error| error.position(name.position))?;
        actor.check_relation(&object, Privileges::SELECT)?;
        if matches!(object.kind, ObjectKind::Table(_) | ObjectKind::MaterializedView(_)) {
            return Ok(object);
        }
        let message = format!("\"{}\" is not a table or materialized view", name.name);
        Err(SqlError::new(code::WRONG_OBJECT_TYPE, message)
            .hint(format!(
                "CREATE MATERIALIZED VIEW ... AS SELECT * FROM {name} keeps its rows, and can be \
                 watched."
            ))
            .position(name.position))
    }

    /// Bytes of changes that one who watches may leave unread.
    pub(super) fn backlog_max(&self) -> u64 {
        let kilobytes = self.variables.get("subscribe_backlog_max");
        kilobytes.and_then(|value| value.parse::<u64>().ok()).unwrap_or(0) * 1024
    }
}
