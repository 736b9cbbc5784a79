//! Casts that a query writes, told apart by name while it is planned.
//!
//! DataFusion knows the expressions of a node by their names, and a cast does not show in one: it
//! takes `max(a)` and `max(a::text)` for the same. So a cast of anything but a literal is planned
//! as a call of a function, and becomes a cast when all names are given.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::expr::{Cast, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility,
};
use sqlparser::ast::{self, VisitMut, VisitorMut};

use super::function_syntax::call;
use super::parse::type_named;
use crate::error::{SqlError, SqlResult};
use crate::types::SqlType;

/// Begins the names of the functions.
const MARK: &str = "::";

/// Writes the casts of a query as calls, those in its subqueries too.
pub(super) fn spell_casts(query: &mut ast::Query) -> SqlResult<()> {
    match query.visit(&mut Spelling) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Spelling;

impl VisitorMut for Spelling {
    type Break = SqlError;

    fn post_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<SqlError> {
        let ast::Expr::Cast {
            kind: ast::CastKind::Cast | ast::CastKind::DoubleColon,
            expr: value,
            data_type,
            format: None,
            ..
        } = expr
        else {
            return ControlFlow::Continue(());
        };
        // What is not a type is told where the cast is planned.
        let Ok(to) = type_named(&data_type.to_string()) else { return ControlFlow::Continue(()) };
        if is_literal(value) {
            return ControlFlow::Continue(());
        }
        let none = ast::Expr::Value(ast::Value::Null.with_empty_span());
        let value = std::mem::replace(value.as_mut(), none);
        match call(&format!("{MARK}{to}"), vec![value]) {
            Ok(call) => {
                *expr = call;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

/// Whether a value is written out, or a parameter, whose type its cast tells.
fn is_literal(expr: &ast::Expr) -> bool {
    match expr {
        ast::Expr::Value(_) | ast::Expr::TypedString(_) | ast::Expr::Interval(_) => true,
        ast::Expr::UnaryOp { expr, .. } | ast::Expr::Nested(expr) => is_literal(expr),
        _ => false,
    }
}

/// The function of this name.
pub(super) fn cast_function(name: &str) -> Option<ScalarUDF> {
    let to = SqlType::parse(name.strip_prefix(MARK)?)?;
    let signature = Signature::any(1, Volatility::Immutable);
    Some(ScalarUDF::from(ExplicitCast { name: name.to_owned(), to, signature }))
}

/// Makes casts of the calls.
pub(super) fn plan_casts(plan: LogicalPlan) -> Result<LogicalPlan> {
    let is_call = |expr: &Expr| Ok(cast_of(expr).is_some());
    let planned = plan.transform_up_with_subqueries(|node| {
        let mut found = false;
        node.apply_expressions(|expr| {
            found |= expr.exists(is_call)?;
            Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
        })?;
        if !found {
            return Ok(Transformed::no(node));
        }
        let names = NamePreserver::new(&node);
        node.map_expressions(|expr| {
            let name = names.save(&expr);
            let cast = expr.transform_up(|expr| {
                let Some(to) = cast_of(&expr) else { return Ok(Transformed::no(expr)) };
                let Expr::ScalarFunction(ScalarFunction { mut args, .. }) = expr else {
                    return internal_err!("a cast that is no call");
                };
                let field = Arc::new(to.field("", true));
                Ok(Transformed::yes(Expr::Cast(Cast::new_from_field(
                    Box::new(args.remove(0)),
                    field,
                ))))
            })?;
            Ok(cast.update_data(|expr| name.restore(expr)))
        })
    })?;
    Ok(planned.data)
}

fn cast_of(expr: &Expr) -> Option<SqlType> {
    let Expr::ScalarFunction(call) = expr else { return None };
    let function = call.func.inner().downcast_ref::<ExplicitCast>()?;
    Some(function.to.clone())
}

/// `"::type"(x)`.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ExplicitCast {
    name: String,
    to: SqlType,
    signature: Signature,
}

impl ScalarUDFImpl for ExplicitCast {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(self.to.to_arrow())
    }

    fn return_field_from_args(&self, _args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(self.to.field("", true)))
    }

    fn invoke_with_args(&self, _args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        internal_err!("a cast that was not planned")
    }
}
