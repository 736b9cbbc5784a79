//! What CREATE MATERIALIZED VIEW says while it reads its inputs.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use super::notice::{Notice, Severity};
use super::session::Session;
use crate::clock::{self, Moment};
use crate::engine::Creation;
use crate::planner::Name;

/// How long it is silent at first, and then between two lines.
const FIRST_AFTER: Duration = Duration::from_secs(1);
const THEN_EVERY: Duration = Duration::from_secs(3);

impl Session {
    /// `creating`, and meanwhile how far `name` is.
    pub(super) async fn telling_progress<T>(
        &self,
        name: &Name,
        creating: impl Future<Output = T>,
    ) -> T {
        let mut creating = pin!(creating);
        let mut before: Option<(u64, Moment)> = None;
        let begun = clock::moment();
        let mut wait = FIRST_AFTER;
        loop {
            tokio::select! {
                biased;
                created = &mut creating => {
                    self.remarks.clear();
                    return created;
                }
                () = tokio::time::sleep(wait) => {}
            }
            wait = THEN_EVERY;
            let object = self.object(name).ok();
            let Some(creation) = object.and_then(|object| self.engine.creation(object.id)) else {
                continue;
            };
            let (rows, since) = before.unwrap_or((0, begun));
            let now = clock::moment();
            let speed = speed(creation.rows.saturating_sub(rows), now.since(since));
            before = Some((creation.rows, now));
            if self.variables.wants(Severity::Notice) {
                self.remarks.say(Notice::remark(line(&name.name, creation, speed)));
            }
        }
    }
}

/// Rows a second.
fn speed(rows: u64, time: Duration) -> f64 {
    rows as f64 / time.as_secs_f64().max(1e-3)
}

/// `backfill of "v": 42% (4.2M of 10M rows, 310k rows/s, ETA 19 s)`
fn line(name: &str, creation: Creation, speed: f64) -> String {
    let rows = creation.rows as f64;
    let speed_text = format!("{} rows/s", short(speed));
    let Some(read) = creation.read else {
        return format!("backfill of \"{name}\": {} rows, {speed_text}", short(rows));
    };
    let percent = u32::from(read) / 10;
    if read == 0 {
        return format!("backfill of \"{name}\": {percent}% ({} rows, {speed_text})", short(rows));
    }
    let all = rows * 1000.0 / f64::from(read);
    let mut text = format!(
        "backfill of \"{name}\": {percent}% ({} of {} rows, {speed_text}",
        short(rows),
        short(all)
    );
    if speed >= 1.0 {
        text.push_str(&format!(", ETA {} s", ((all - rows) / speed).ceil()));
    }
    text.push(')');
    text
}

/// `310k`, `4.2M`, `10M`.
fn short(number: f64) -> String {
    let (scaled, unit) = match number {
        ..1e3 => return format!("{number:.0}"),
        ..1e6 => (number / 1e3, "k"),
        ..1e9 => (number / 1e6, "M"),
        _ => (number / 1e9, "G"),
    };
    let digits = if scaled < 9.95 { 1 } else { 0 };
    let text = format!("{scaled:.digits$}");
    format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_reads_like_this() {
        let at = |rows, read, speed| line("mv", Creation { rows, read }, speed);
        assert_eq!(
            at(4_200_000, Some(420), 310_000.0),
            "backfill of \"mv\": 42% (4.2M of 10M rows, 310k rows/s, ETA 19 s)"
        );
        assert_eq!(at(0, Some(0), 0.0), "backfill of \"mv\": 0% (0 rows, 0 rows/s)");
        assert_eq!(at(999, None, 1234.0), "backfill of \"mv\": 999 rows, 1.2k rows/s");
        assert_eq!(
            at(10_000, Some(1000), 0.0),
            "backfill of \"mv\": 100% (10k of 10k rows, 0 rows/s)"
        );
    }
}
