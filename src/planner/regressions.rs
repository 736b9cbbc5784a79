//! The counts and averages of regressions, as those of the rows that have both values:
//!
//! ```text
//! regr_count(y, x)    count(CASE WHEN y IS NOT NULL THEN x END)
//! regr_avgx(y, x)     avg(CASE WHEN y IS NOT NULL THEN x::float8 END)
//! regr_avgy(y, x)     avg(CASE WHEN x IS NOT NULL THEN y::float8 END)
//! ```
//!
//! DataFusion's averages are NaN where a value is infinite. These are kept by what changed, too.

use sqlparser::ast::{self, Expr};

use super::function_syntax::cast;
use super::parse::parse_expression;
use crate::error::SqlResult;
use crate::types::SqlType;

/// Makes `function`, which is called `name`, one of the simpler ones, if it is a regression's.
pub(super) fn simplify(name: &str, function: &mut ast::Function) -> SqlResult<()> {
    let ast::FunctionArguments::List(list) = &mut function.args else { return Ok(()) };
    let distinct = list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct);
    let [y, x] = list.args.as_slice() else { return Ok(()) };
    let (simple, there, of) = match name {
        "regr_count" => ("count", y, x),
        "regr_avgx" => ("avg", y, x),
        "regr_avgy" => ("avg", x, y),
        _ => return Ok(()),
    };
    let (Some(there), Some(of), false) = (value(there), value(of), distinct) else { return Ok(()) };
    let of = match simple {
        "avg" => cast(of, &SqlType::Double)?,
        _ => of,
    };
    let mut both = (*parse_expression("CASE WHEN true THEN NULL END")?.tree).clone();
    if let Expr::Case { conditions, .. } = &mut both
        && let [when] = conditions.as_mut_slice()
    {
        (when.condition, when.result) = (Expr::IsNotNull(Box::new(there)), of);
    }
    list.args = vec![ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(both))];
    function.name = ast::ObjectName::from(vec![ast::Ident::new(simple)]);
    Ok(())
}

fn value(argument: &ast::FunctionArg) -> Option<Expr> {
    match argument {
        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(value)) => {
            Some(Expr::Nested(Box::new(value.clone())))
        }
        _ => None,
    }
}
