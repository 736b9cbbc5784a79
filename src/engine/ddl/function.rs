//! `CREATE FUNCTION` and `DROP FUNCTION`.
//!
//! A function is part of the plans of those that call it. Views that are planned where they are
//! used call a replaced one from then on; a materialized view's rows are those of the old one, so a
//! function that one calls is not replaced.

use std::sync::Arc;

use super::authority::Deed;
use super::{DdlOutcome, Names, Notice, check_database, new_name};
use crate::catalog::catalog::lasting_path;
use crate::catalog::function::{ReturnedColumn, Returns, signature, without_modifier};
use crate::catalog::{Catalog, Function, Meaning, ObjectKind, QualifiedName, quote_identifier};
use crate::engine::Engine;
use crate::error::{SqlError, SqlResult, code};
use crate::planner;
use crate::planner::statement::{CreateFunction, DropFunction, FunctionResult};
use crate::types::{ObjectId, SqlType};

impl Engine {
    /// Creates a function, or puts it in the place of one with the same name and parameters.
    pub async fn create_function(
        self: &Arc<Self>,
        statement: &CreateFunction,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let _one_at_a_time =
            self.permitted(Deed::Create { name: &statement.name, connector: None }, names).await?;
        let catalog = self.catalog();
        let name = new_name(&catalog, &statement.name, names)?;
        let (returns, relation) = returned(&catalog, &statement.returns, names)?;
        let types: Vec<SqlType> = statement.parameters.iter().map(|p| p.sql_type.clone()).collect();
        let old = catalog.function_of(&name, &types);
        let function = Function {
            id: old.map_or_else(|| catalog.oids().next(), |old| old.id),
            name,
            parameters: statement.parameters.clone(),
            returns,
            body: statement.body.clone(),
            search_path: lasting_path(&names.search_path),
            meaning: Meaning::default(),
            strict: statement.strict,
            volatility: statement.volatility,
            depends_on: Vec::new(),
            owner: names.user.clone(),
        };
        if let Some(old) = old {
            catalog.actor(&names.user)?.check_owns_function(old)?;
            check_replacement(&catalog, old, &function, statement.or_replace)?;
        }
        let mut depends_on = planner::describe_function(&catalog, &function)?.depends_on;
        depends_on.extend(relation);
        let meaning = planner::Kept::of_function(&function)?.meaning(&catalog)?;
        let function = Function { depends_on, meaning, ..function };
        let (next, changes) = catalog.with_function(function)?;
        self.commit_meta(changes).await?;
        self.publish(next);
        Ok(DdlOutcome::default())
    }

    /// Drops functions, and with CASCADE what needs them.
    pub async fn drop_functions(
        self: &Arc<Self>,
        statement: &DropFunction,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let _one_at_a_time =
            self.permitted(Deed::OwnFunctions(&statement.functions), names).await?;
        let catalog = self.catalog();
        let mut targets = Vec::new();
        let mut notices = Vec::new();
        for (name, types) in &statement.functions {
            check_database(name, names)?;
            match named(&catalog, name, types.as_deref(), names) {
                Ok(id) => targets.push(id),
                Err(error)
                    if statement.if_exists
                        && [code::UNDEFINED_FUNCTION, code::INVALID_SCHEMA_NAME]
                            .contains(&error.code) =>
                {
                    let types = types.as_deref().unwrap_or(&[]);
                    let message = format!(
                        "function {} does not exist, skipping",
                        signature(&name.name, types)
                    );
                    notices.push(Notice { message, detail: None, warning: None });
                }
                Err(error) => return Err(error),
            }
        }
        let plan = catalog.plan_drop_all(targets, &names.search_path, statement.cascade)?;
        let (next, changes) = catalog.without(&plan.objects)?;
        self.take_away(&plan.objects, next, changes).await?;
        let mut outcome = super::drop::outcome(plan);
        outcome.notices.extend(notices);
        Ok(outcome)
    }
}

/// What is returned, and the relation whose rows it is.
fn returned(
    catalog: &Catalog,
    result: &FunctionResult,
    names: &Names,
) -> SqlResult<(Returns, Option<ObjectId>)> {
    let name = match result {
        FunctionResult::Known(returns) => return Ok((returns.clone(), None)),
        FunctionResult::RowsOf(name) => name,
    };
    check_database(name, names)?;
    let object = catalog.resolve(&names.search_path, name.schema.as_deref(), &name.name);
    let object = object.ok_or_else(|| {
        let message = format!("type \"{name}\" does not exist");
        SqlError::new(code::UNDEFINED_OBJECT, message).position(name.position)
    })?;
    let columns = object.columns.iter().map(|column| ReturnedColumn {
        name: column.name.clone(),
        sql_type: without_modifier(&column.sql_type),
    });
    let name = QualifiedName::new(&object.name.schema, &object.name.name);
    Ok((Returns::Rows(name, columns.collect()), Some(object.id)))
}

fn check_replacement(
    catalog: &Catalog,
    old: &Function,
    new: &Function,
    or_replace: bool,
) -> SqlResult<()> {
    let shown = new.signature();
    if !or_replace {
        let message =
            format!("function \"{}\" already exists with same argument types", new.name.name);
        return Err(SqlError::new(code::DUPLICATE_FUNCTION, message));
    }
    let wrong = |message: String| {
        let hint = format!("Use DROP FUNCTION {shown} first.");
        Err(SqlError::new(code::INVALID_FUNCTION_DEFINITION, message).hint(hint))
    };
    if old.returns != new.returns {
        return wrong("cannot change return type of existing function".to_owned());
    }
    for (before, after) in old.parameters.iter().zip(&new.parameters) {
        if let Some(name) = &before.name
            && before.name != after.name
        {
            let name = quote_identifier(name).trim_matches('"').to_owned();
            return wrong(format!("cannot change name of input parameter \"{name}\""));
        }
        if before.default.is_some() && after.default.is_none() {
            let message = "cannot remove parameter defaults from existing function";
            return wrong(message.to_owned());
        }
    }
    let stored = catalog.dependants(old.id).into_iter().filter_map(|id| catalog.object(id));
    let stored = stored.filter(|object| !matches!(object.kind, ObjectKind::View(_)));
    let stored: Vec<_> = stored
        .map(|object| {
            let name = quote_identifier(&object.name.name);
            format!("{} {name} depends on function {shown}", object.kind_name())
        })
        .collect();
    if stored.is_empty() {
        return Ok(());
    }
    let message = format!("cannot replace function {shown} because stored rows depend on it");
    Err(SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, message).detail(stored.join("\n")).hint(
        "Drop what depends on it and create it anew afterwards, or create a function of \
             another name.",
    ))
}

/// The function that a statement names.
pub(super) fn named(
    catalog: &Catalog,
    name: &planner::Name,
    types: Option<&[SqlType]>,
    names: &Names,
) -> SqlResult<ObjectId> {
    if let Some(schema) = &name.schema
        && catalog.schema(schema).is_none()
    {
        let message = format!("schema \"{schema}\" does not exist");
        return Err(SqlError::new(code::INVALID_SCHEMA_NAME, message));
    }
    let found = catalog.functions_named(&names.search_path, name.schema.as_deref(), &name.name);
    let Some(types) = types else {
        return match found.as_slice() {
            [one] => Ok(one.id),
            [] => {
                let message = format!("could not find a function named \"{name}\"");
                Err(SqlError::new(code::UNDEFINED_FUNCTION, message))
            }
            _ => {
                let message = format!("function name \"{name}\" is not unique");
                Err(SqlError::new(code::AMBIGUOUS_FUNCTION, message)
                    .hint("Specify the argument list to select the function unambiguously."))
            }
        };
    };
    let exact = found.iter().find(|function| function.types() == types);
    exact.map(|function| function.id).ok_or_else(|| {
        let message = format!("function {} does not exist", signature(&name.to_string(), types));
        SqlError::new(code::UNDEFINED_FUNCTION, message)
    })
}
