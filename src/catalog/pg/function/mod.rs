//! The system's functions, on [`Value`]s: one table of them, by name and number of arguments.

mod arrays;
mod definitions;
mod locks;
mod names;
mod privileges;
mod sequences;
mod sessions;
mod sizes;
mod text;

use std::collections::HashMap;
use std::sync::LazyLock;

pub use sessions::check_notification;

use arrow::array::ArrayRef;

use super::PgContext;
use super::value::Value;
use crate::error::{SqlError, SqlResult, code};
use crate::types::SqlType;

/// A function.
#[derive(Debug)]
pub struct Function {
    pub name: &'static str,
    /// How many arguments it takes: from, to.
    pub arity: (usize, usize),
    pub returns: Returns,
    /// NULL for any NULL argument, without being called.
    pub strict: bool,
    /// DataFusion has its own, which statements over user tables use.
    pub catalog_only: bool,
    /// Another result each time.
    pub volatile: bool,
    /// The results of so many calls at once, with the same arguments.
    pub(super) batch: Option<Batch>,
    pub(super) call: fn(&PgContext, &[Value]) -> SqlResult<Value>,
}

/// Computes the results of many calls.
pub(super) type Batch = fn(&PgContext, &[Value], usize) -> SqlResult<ArrayRef>;

/// The type of a function's result.
#[derive(Debug, Clone, Copy)]
pub enum Returns {
    Boolean,
    Integer,
    BigInt,
    Text,
    Json,
    Name,
    Oid,
    Timestamptz,
    NameArray,
    TextArray,
    IntegerArray,
    AclArray,
    Record,
    Regproc,
    Regprocedure,
    Regrole,
    Regclass,
    Regtype,
    Regnamespace,
    Inet,
    Void,
    /// As the first argument.
    First,
}

impl Returns {
    /// The type for these arguments.
    pub fn of(self, arguments: &[SqlType]) -> SqlType {
        match self {
            Returns::Boolean => SqlType::Boolean,
            Returns::Integer => SqlType::Integer,
            Returns::BigInt => SqlType::BigInt,
            Returns::Text => SqlType::Text,
            Returns::Json => SqlType::Json,
            Returns::Name => SqlType::Name,
            Returns::Oid => SqlType::Oid,
            Returns::Timestamptz => SqlType::Timestamptz,
            Returns::NameArray => SqlType::Array(Box::new(SqlType::Name)),
            Returns::TextArray => SqlType::Array(Box::new(SqlType::Text)),
            Returns::IntegerArray => SqlType::Array(Box::new(SqlType::Integer)),
            Returns::AclArray => SqlType::Array(Box::new(SqlType::AclItem)),
            Returns::Record => SqlType::Record,
            Returns::Regproc => SqlType::Regproc,
            Returns::Regprocedure => SqlType::Regprocedure,
            Returns::Regrole => SqlType::Regrole,
            Returns::Regclass => SqlType::Regclass,
            Returns::Regtype => SqlType::Regtype,
            Returns::Regnamespace => SqlType::Regnamespace,
            Returns::Inet => SqlType::Inet,
            Returns::Void => SqlType::Void,
            Returns::First => arguments
                .iter()
                .find(|one| **one != SqlType::Unknown)
                .cloned()
                .unwrap_or(SqlType::Text),
        }
    }
}

/// A function that is NULL for a NULL argument.
const fn strict(
    name: &'static str,
    arity: (usize, usize),
    returns: Returns,
    call: fn(&PgContext, &[Value]) -> SqlResult<Value>,
) -> Function {
    let batch = None;
    Function {
        name,
        arity,
        returns,
        strict: true,
        catalog_only: false,
        volatile: false,
        batch,
        call,
    }
}

/// A function that sees NULLs.
const fn lenient(
    name: &'static str,
    arity: (usize, usize),
    returns: Returns,
    call: fn(&PgContext, &[Value]) -> SqlResult<Value>,
) -> Function {
    Function { strict: false, ..strict(name, arity, returns, call) }
}

impl Function {
    /// DataFusion has one of this name.
    const fn catalog_only(mut self) -> Self {
        self.catalog_only = true;
        self
    }

    /// It gives another result each time, many at once by `batch`.
    const fn volatile(mut self, batch: Option<Batch>) -> Self {
        self.volatile = true;
        self.batch = batch;
        self
    }
}

static BY_NAME: LazyLock<HashMap<&'static str, Vec<&'static Function>>> = LazyLock::new(|| {
    let groups: [&'static [Function]; 9] = [
        &names::FUNCTIONS,
        &definitions::FUNCTIONS,
        &sizes::FUNCTIONS,
        &privileges::FUNCTIONS,
        &sequences::FUNCTIONS,
        &sessions::FUNCTIONS,
        &locks::FUNCTIONS,
        &text::FUNCTIONS,
        &arrays::FUNCTIONS,
    ];
    let mut by_name: HashMap<_, Vec<_>> = HashMap::new();
    for function in groups.into_iter().flatten() {
        by_name.entry(function.name).or_default().push(function);
    }
    by_name
});

/// All functions of a name.
pub fn functions_by_name(name: &str) -> &'static [&'static Function] {
    BY_NAME.get(name).map_or(&[], Vec::as_slice)
}

/// The names of all functions.
pub(super) fn function_names() -> impl Iterator<Item = &'static str> {
    let mut names: Vec<_> = BY_NAME.keys().copied().collect();
    names.sort_unstable();
    names.into_iter()
}

/// The function of this name that takes so many arguments.
pub fn function(name: &str, arity: usize) -> Option<&'static Function> {
    functions_by_name(name)
        .iter()
        .copied()
        .find(|function| (function.arity.0..=function.arity.1).contains(&arity))
}

/// 42883.
pub(super) fn undefined(name: &str, arity: usize) -> SqlError {
    let message = format!("function {name} with {arity} arguments does not exist");
    SqlError::new(code::UNDEFINED_FUNCTION, message)
        .hint("No function matches the given name and number of arguments.")
}

/// The argument at a position; an absent optional one is NULL.
fn argument(arguments: &[Value], position: usize) -> &Value {
    arguments.get(position).unwrap_or(&Value::Null)
}

/// The text of the argument at a position.
fn text_argument(context: &PgContext, arguments: &[Value], position: usize) -> String {
    argument(arguments, position).to_text(context)
}
