//! Functions in SQL: each call becomes the function's body, with the arguments in the place of its
//! parameters.
//!
//! ```text
//! f(a)      =  body[x := a]                               where the body reads no relation
//! f(a)      =  (SELECT ... FROM (SELECT a) x, body[x])    else: a scalar subquery
//! FROM f(a) =  (SELECT a) x CROSS JOIN LATERAL body[x]
//! ```
//!
//! The arguments have the parameters' types, the result has the one that is declared. A body's
//! names mean what they meant where the function was made; its parameters are columns of a query
//! around it, so that names of its own relations come first. A function that calls itself does not
//! exist: the catalog's dependencies have no circle, and there is a limit besides.

mod arrange;
mod call;
mod choose;
mod describe;
mod from;
mod inline;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::logical_expr::ScalarUDF;
use parking_lot::Mutex;
use sqlparser::ast;

use super::names::Relations;
use super::parse::{fold_ident, parse, parse_query};
use super::source::Source;
use super::statement::StatementKind;
use super::syntax::Query;
use crate::catalog::function::{Body, ReturnedColumn, Returns};
use crate::catalog::{Catalog, Function};
use crate::error::{SqlError, SqlResult, code};
use crate::types::{ObjectId, SqlType};

pub(super) use arrange::arrange_calls;
pub use describe::{DescribedFunction, describe_function};
pub(super) use from::FunctionRelations;
pub(super) use inline::{inline, type_arguments};

use call::{Call, Part};

/// Bodies that one statement may become, at the most.
const EXPANSIONS_MAX: usize = 10_000;

/// The schema under which a body sees its parameters: no relation is in it.
pub(super) const PARAMETERS: &str = "\u{1f}";

/// A function whose body can be planned.
pub(super) struct Known {
    pub(super) function: Arc<Function>,
    query: Query,
    /// What the body's names of relations mean.
    relations: Relations,
    types: Vec<SqlType>,
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Known").field(&self.function).finish()
    }
}

impl Known {
    pub(super) fn relations(&self) -> &Relations {
        &self.relations
    }

    pub(super) fn tree(&self) -> &ast::Query {
        &self.query.tree
    }

    pub(super) fn source(&self) -> &Source {
        &self.query.source
    }

    /// The columns that it has in FROM.
    fn columns(&self) -> Vec<ReturnedColumn> {
        match &self.function.returns {
            Returns::Value(sql_type) | Returns::Set(sql_type) => {
                let name = self.function.name.name.clone();
                vec![ReturnedColumn { name, sql_type: sql_type.clone() }]
            }
            Returns::Table(columns) | Returns::Rows(_, columns) => columns.clone(),
        }
    }
}

/// A function that a query may call, directly or through others, and its body.
pub(super) struct Reached {
    pub(super) function: Arc<Function>,
    pub(super) query: Query,
}

/// The functions that a query and the bodies of those that it calls may name.
#[derive(Debug, Clone)]
pub(super) struct Functions {
    /// `None`: there are none.
    shared: Option<Arc<Shared>>,
    search_path: Vec<String>,
}

#[derive(Debug)]
struct Shared {
    catalog: Arc<Catalog>,
    known: HashMap<ObjectId, Arc<Known>>,
    /// What the query itself calls.
    used: Mutex<BTreeSet<ObjectId>>,
    expansions: Mutex<usize>,
}

impl Functions {
    pub(super) fn none() -> Self {
        Self { shared: None, search_path: Vec::new() }
    }

    /// `reached` are those that [`reach`] found, with what their bodies' names mean.
    pub(super) fn new(
        catalog: &Arc<Catalog>,
        search_path: &[String],
        reached: Vec<(Reached, Relations)>,
    ) -> Self {
        let known = reached.into_iter().map(|(Reached { function, query }, relations)| {
            let types = function.types();
            (function.id, Arc::new(Known { function, query, relations, types }))
        });
        let known: HashMap<_, _> = known.collect();
        if known.is_empty() {
            return Self::none();
        }
        let shared = Shared {
            catalog: Arc::clone(catalog),
            known,
            used: Mutex::default(),
            expansions: Mutex::new(0),
        };
        Self { shared: Some(Arc::new(shared)), search_path: search_path.to_vec() }
    }

    pub(super) fn are_none(&self) -> bool {
        self.shared.is_none()
    }

    /// The functions that the planned query calls itself.
    pub(super) fn used(&self) -> Vec<ObjectId> {
        self.shared.iter().flat_map(|shared| shared.used.lock().clone()).collect()
    }

    /// A call of `name`: `f`, or `schema.f` as it is written.
    pub(super) fn call(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        let mut candidates = self.named(None, name);
        if candidates.is_empty() {
            let parts = parts_of(name);
            let (schema, last) = match parts.as_slice() {
                [schema, last] | [_, schema, last] => (schema, last),
                _ => return None,
            };
            candidates = self.named(Some(schema), last);
        }
        if candidates.is_empty() {
            return None;
        }
        Some(Call::new(name, candidates, Part::Value).into())
    }

    fn named(&self, schema: Option<&str>, name: &str) -> Vec<Arc<Known>> {
        let Some(shared) = &self.shared else { return Vec::new() };
        let found = shared.catalog.functions_named(&self.search_path, schema, name);
        found.into_iter().filter_map(|f| shared.known.get(&f.id)).map(Arc::clone).collect()
    }

    pub(super) fn named_by(&self, name: &ast::ObjectName) -> Vec<Arc<Known>> {
        match object_parts(name).as_slice() {
            [name] => self.named(None, name),
            [schema, name] | [_, schema, name] => self.named(Some(schema), name),
            _ => Vec::new(),
        }
    }

    /// The same, with names as a function's body means them.
    fn within(&self, known: &Known) -> Self {
        Self { search_path: known.function.search_path.clone(), ..self.clone() }
    }

    fn use_by_query(&self, known: &Known) {
        if let Some(shared) = &self.shared {
            shared.used.lock().insert(known.function.id);
        }
    }

    fn count_expansion(&self) -> SqlResult<()> {
        let Some(shared) = &self.shared else { return Ok(()) };
        let mut expansions = shared.expansions.lock();
        *expansions += 1;
        if *expansions > EXPANSIONS_MAX {
            return Err(SqlError::new(code::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded")
                .detail(format!("Functions call functions more than {EXPANSIONS_MAX} times.")));
        }
        Ok(())
    }
}

/// The functions that a query may mean, and those that their bodies may.
pub(super) fn reach(
    catalog: &Catalog,
    search_path: &[String],
    tree: &ast::Query,
) -> SqlResult<Vec<Reached>> {
    let mut reached: Vec<Reached> = Vec::new();
    if catalog.functions().next().is_none() {
        return Ok(reached);
    }
    let mut seen = BTreeSet::new();
    let mut open: Vec<(Vec<String>, Arc<ast::Query>)> =
        vec![(search_path.to_vec(), Arc::new(tree.clone()))];
    while let Some((path, tree)) = open.pop() {
        for parts in called(&tree) {
            let found = match parts.as_slice() {
                [name] => catalog.functions_named(&path, None, name),
                [schema, name] | [_, schema, name] => {
                    catalog.functions_named(&path, Some(schema), name)
                }
                _ => Vec::new(),
            };
            for function in found {
                if !seen.insert(function.id) {
                    continue;
                }
                let query = body_query(&function.body)?;
                open.push((function.search_path.clone(), Arc::clone(&query.tree)));
                for default in function.parameters.iter().filter_map(|p| p.default.as_ref()) {
                    let default = parse_query(&format!("SELECT {default}"))?;
                    open.push((function.search_path.clone(), default.tree));
                }
                reached.push(Reached { function: Arc::clone(function), query });
            }
        }
    }
    Ok(reached)
}

/// The query that a body is.
pub(super) fn body_query(body: &Body) -> SqlResult<Query> {
    let mut statements = parse(&body.query())?;
    let last = statements.pop();
    if !statements.is_empty() {
        return Err(SqlError::unsupported("a function of several statements")
            .hint("WITH makes one query of several."));
    }
    match last.map(|statement| statement.kind) {
        Some(StatementKind::Query(query)) => Ok(query),
        Some(_) => Err(SqlError::unsupported("a function of a statement other than SELECT")),
        None => Err(SqlError::new(code::INVALID_FUNCTION_DEFINITION, "the function has no body")),
    }
}

/// Gives every call of a function in SQL the function's schema, and the functions that are called.
pub(super) fn qualify_calls(
    catalog: &Catalog,
    search_path: &[String],
    tree: &mut ast::Expr,
) -> Vec<ObjectId> {
    let mut used = Vec::new();
    let _ = ast::visit_expressions_mut(tree, |expr| {
        let ast::Expr::Function(call) = expr else { return ControlFlow::<()>::Continue(()) };
        let parts = object_parts(&call.name);
        let found = match parts.as_slice() {
            [name] => catalog.functions_named(search_path, None, name),
            [schema, name] | [_, schema, name] => {
                catalog.functions_named(search_path, Some(schema), name)
            }
            _ => Vec::new(),
        };
        if let Some(first) = found.first() {
            // Those of one schema: which of them is meant depends on types that others may have.
            let name = &first.name;
            let same = found.iter().filter(|function| function.name == *name);
            used.extend(same.map(|function| function.id));
            let parts = [&name.schema, &name.name].map(|part| ast::Ident::with_quote('"', part));
            call.name = ast::ObjectName::from(parts.to_vec());
        }
        ControlFlow::Continue(())
    });
    used
}

/// The names of all functions in a query.
pub(super) fn called(tree: &ast::Query) -> BTreeSet<Vec<String>> {
    #[derive(Default)]
    struct Called(BTreeSet<Vec<String>>);
    impl ast::Visitor for Called {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &ast::Expr) -> ControlFlow<()> {
            if let ast::Expr::Function(function) = expr {
                self.0.insert(object_parts(&function.name));
            }
            ControlFlow::Continue(())
        }

        fn pre_visit_table_factor(&mut self, factor: &ast::TableFactor) -> ControlFlow<()> {
            if let ast::TableFactor::Table { name, args: Some(_), .. }
            | ast::TableFactor::Function { name, .. } = factor
            {
                self.0.insert(object_parts(name));
            }
            ControlFlow::Continue(())
        }
    }
    let mut called = Called::default();
    let _ = ast::Visit::visit(tree, &mut called);
    called.0
}

fn object_parts(name: &ast::ObjectName) -> Vec<String> {
    name.0.iter().filter_map(|part| part.as_ident()).map(fold_ident).collect()
}

/// The parts of a name with dots, as it is written.
fn parts_of(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for character in name.chars() {
        let part = parts.last_mut().expect("there is always a part");
        match character {
            '"' => quoted = !quoted,
            '.' if !quoted => parts.push(String::new()),
            _ if quoted => part.push(character),
            _ => part.extend(character.to_lowercase()),
        }
    }
    parts
}
