//! Planning errors in PostgreSQL's words, with the place in the client's string.
//!
//! DataFusion says what is wrong with which name; where that name stands is found in the syntax
//! tree.

use std::ops::ControlFlow;
use std::sync::LazyLock;

use arrow::datatypes::DataType;
use datafusion::common::{Column, SchemaError};
use datafusion::error::DataFusionError;
use regex::Regex;
use sqlparser::ast::{self, Spanned};
use sqlparser::tokenizer::Span;

use super::parse::fold_ident;
use super::source::Source;
use crate::error::{SqlError, code};
use crate::types::SqlType;

/// `error`, which planning `tree` gave.
pub(super) fn planning_error<T: ast::Visit>(
    error: DataFusionError,
    tree: &T,
    source: &Source,
) -> SqlError {
    let error = reworded(error);
    if error.position.is_some() {
        return error;
    }
    match span_of_culprit(&error, tree).and_then(|span| source.position(span)) {
        Some(position) => error.position(position),
        None => error,
    }
}

fn reworded(error: DataFusionError) -> SqlError {
    match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => {
            reworded(*inner)
        }
        DataFusionError::Collection(mut errors) if !errors.is_empty() => {
            reworded(errors.swap_remove(0))
        }
        DataFusionError::SchemaError(error, backtrace) => match *error {
            SchemaError::FieldNotFound { ref field, ref valid_fields }
                if field.relation.is_some() =>
            {
                no_such_qualified_column(field, valid_fields)
            }
            _ => DataFusionError::SchemaError(error, backtrace).into(),
        },
        other => {
            let text = other.strip_backtrace();
            no_such_function(&text)
                .or_else(|| no_such_operator(&text))
                .or_else(|| grouping(&text))
                .or_else(|| too_wide(&text))
                .unwrap_or_else(|| other.into())
        }
    }
}

fn no_such_qualified_column(field: &Column, valid_fields: &[Column]) -> SqlError {
    let relation = field.relation.as_ref().map_or("", |relation| relation.table());
    let known = valid_fields
        .iter()
        .filter_map(|valid| valid.relation.as_ref())
        .any(|valid| valid.table() == relation);
    if known {
        let message = format!("column {relation}.{} does not exist", field.name);
        SqlError::new(code::UNDEFINED_COLUMN, message)
    } else {
        let message = format!("missing FROM-clause entry for table \"{relation}\"");
        SqlError::new(code::UNDEFINED_TABLE, message)
    }
}

/// What are functions to DataFusion, and to PostgreSQL a choice among values of one type.
const CHOICES: &[(&str, &str)] = &[
    ("coalesce", "COALESCE"),
    ("greatest", "GREATEST"),
    ("least", "LEAST"),
    ("make_array", "ARRAY"),
];

/// DataFusion knows no function of the name, or none for the types.
fn no_such_function(text: &str) -> Option<SqlError> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"Invalid function '(\w+)'").expect("the pattern is well formed")
    });
    static CALL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"name and argument types '(\w+)\((.*?)\)'\.")
            .expect("the pattern is well formed")
    });
    let message = if let Some(found) = NAME.captures(text) {
        format!("function {} does not exist", &found[1])
    } else {
        let found = CALL.captures(text)?;
        let types = type_names(&found[2]);
        if let Some((_, construct)) = CHOICES.iter().find(|(name, _)| *name == &found[1]) {
            // PostgreSQL names the first two that do not go together.
            let types = types.replacen(", ", " and ", 1);
            let message = format!("{construct} types {types} cannot be matched");
            return Some(SqlError::new(code::DATATYPE_MISMATCH, message));
        }
        format!("function {}({}) does not exist", &found[1], type_names(&found[2]))
    };
    let hint = "No function matches the given name and argument types. \
                You might need to add explicit type casts.";
    Some(SqlError::new(code::UNDEFINED_FUNCTION, message).hint(hint))
}

/// DataFusion has no arithmetic for the types.
fn no_such_operator(text: &str) -> Option<SqlError> {
    static ARITHMETIC: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"Cannot coerce arithmetic expression (.+) ([-+*/%]) (.+) to valid types")
            .expect("the pattern is well formed")
    });
    let found = ARITHMETIC.captures(text)?;
    let [left, right] = [&found[1], &found[3]].map(type_names);
    let message = format!("operator does not exist: {left} {} {right}", &found[2]);
    let hint = "No operator matches the given name and argument types. \
                You might need to add explicit type casts.";
    Some(SqlError::new(code::UNDEFINED_FUNCTION, message).hint(hint))
}

/// Arrow's names of types as PostgreSQL's.
fn type_names(types: &str) -> String {
    let mut names = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for (index, character) in types.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                names.push(&types[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    names.push(&types[start..]);
    let name = |text: &str| match text.trim() {
        "" => String::new(),
        "Null" => "unknown".to_owned(),
        text => text.parse::<DataType>().map_or_else(
            |_| text.to_owned(),
            |arrow| match SqlType::of_arrow(&arrow) {
                SqlType::Numeric(_) => "numeric".to_owned(),
                other => other.to_string(),
            },
        ),
    };
    names.into_iter().map(name).collect::<Vec<_>>().join(", ")
}

/// A column that is neither grouped nor aggregated.
fn grouping(text: &str) -> Option<SqlError> {
    static UNGROUPED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"column "([^"]+)" must appear in the GROUP BY"#)
            .expect("the pattern is well formed")
    });
    let found = UNGROUPED.captures(text)?;
    let message = format!(
        "column \"{}\" must appear in the GROUP BY clause or be used in an aggregate function",
        &found[1]
    );
    Some(SqlError::new(code::GROUPING_ERROR, message))
}

/// A subquery of several columns where one is wanted.
fn too_wide(text: &str) -> Option<SqlError> {
    text.contains("The subquery should only return one column")
        .then(|| SqlError::new(code::SYNTAX_ERROR, "subquery must return only one column"))
}

/// Where the name that an error complains of stands.
fn span_of_culprit<T: ast::Visit>(error: &SqlError, tree: &T) -> Option<Span> {
    match error.code {
        code::UNDEFINED_TABLE => {
            let name = quoted(&error.message)?;
            relation_span(tree, name).or_else(|| column_span(tree, name))
        }
        code::UNDEFINED_COLUMN | code::AMBIGUOUS_COLUMN | code::GROUPING_ERROR => {
            let name = quoted(&error.message)
                .or_else(|| error.message.strip_prefix("column ")?.split(' ').next())?;
            column_span(tree, name)
        }
        code::UNDEFINED_OBJECT => type_span(tree, quoted(&error.message)?),
        code::UNDEFINED_FUNCTION => {
            let rest = error.message.strip_prefix("function ")?;
            function_span(tree, rest.split(['(', ' ']).next()?)
        }
        _ => None,
    }
}

fn quoted(message: &str) -> Option<&str> {
    let (_, after) = message.split_once('"')?;
    after.split_once('"').map(|(name, _)| name)
}

fn relation_span<T: ast::Visit>(tree: &T, name: &str) -> Option<Span> {
    let found = ast::visit_relations(tree, |relation| {
        let parts: Vec<_> =
            relation.0.iter().filter_map(|part| part.as_ident()).map(fold_ident).collect();
        if parts.join(".") == name || parts.last().is_some_and(|last| last == name) {
            return ControlFlow::Break(relation.span());
        }
        ControlFlow::Continue(())
    });
    broken(found)
}

fn column_span<T: ast::Visit>(tree: &T, name: &str) -> Option<Span> {
    let found = ast::visit_expressions(tree, |expr| {
        let parts: &[ast::Ident] = match expr {
            ast::Expr::Identifier(ident) => std::slice::from_ref(ident),
            ast::Expr::CompoundIdentifier(parts) => parts,
            _ => return ControlFlow::Continue(()),
        };
        let folded: Vec<_> = parts.iter().map(fold_ident).collect();
        let wanted = name.rsplit('.').next();
        let last = folded.last().map(String::as_str) == wanted;
        let qualifier = folded.len() > 1 && folded[folded.len() - 2] == name;
        if last || qualifier || folded.join(".") == name {
            return ControlFlow::Break(Span::union_iter(parts.iter().map(|part| part.span)));
        }
        ControlFlow::Continue(())
    });
    broken(found)
}

fn function_span<T: ast::Visit>(tree: &T, name: &str) -> Option<Span> {
    let found = ast::visit_expressions(tree, |expr| match expr {
        ast::Expr::Function(function)
            if function.name.0.last().and_then(|part| part.as_ident()).map(fold_ident)
                == Some(name.to_owned()) =>
        {
            ControlFlow::Break(function.name.span())
        }
        _ => ControlFlow::Continue(()),
    });
    broken(found)
}

fn type_span<T: ast::Visit>(tree: &T, name: &str) -> Option<Span> {
    let found = ast::visit_expressions(tree, |expr| match expr {
        ast::Expr::Cast { data_type: ast::DataType::Custom(custom, _), .. }
            if custom.to_string().to_lowercase().replace('"', "") == name.to_lowercase() =>
        {
            ControlFlow::Break(custom.span())
        }
        _ => ControlFlow::Continue(()),
    });
    broken(found)
}

fn broken(found: ControlFlow<Span>) -> Option<Span> {
    match found {
        ControlFlow::Break(span) => Some(span),
        ControlFlow::Continue(()) => None,
    }
}
