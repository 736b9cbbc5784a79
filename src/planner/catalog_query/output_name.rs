//! The names of outputs.

use sqlparser::ast::{self, Expr};

use crate::catalog::pg::Reg;

use super::bind::function_name;
use super::expression::{folded, target, trim_name, type_name};

/// What PostgreSQL calls an output without an alias.
pub(super) fn output_name(expr: &Expr) -> String {
    name_of(expr).map_or_else(|| "?column?".to_owned(), Name::into_text)
}

/// A name for an output: a weak one yields to the name of a cast's type.
enum Name {
    Weak(String),
    Strong(String),
}

impl Name {
    fn into_text(self) -> String {
        match self {
            Name::Weak(text) | Name::Strong(text) => text,
        }
    }
}

fn name_of(expr: &Expr) -> Option<Name> {
    let strong = |name: &str| Some(Name::Strong(name.to_owned()));
    match expr {
        Expr::Identifier(identifier) => Some(Name::Strong(folded(identifier))),
        Expr::CompoundIdentifier(parts) => parts.last().map(|name| Name::Strong(folded(name))),
        Expr::CompoundFieldAccess { root, access_chain } => {
            let field = access_chain.iter().rev().find_map(|step| match step {
                ast::AccessExpr::Dot(Expr::Identifier(name)) => Some(Name::Strong(folded(name))),
                _ => None,
            });
            field.or_else(|| name_of(root))
        }
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => name_of(inner),
        Expr::Function(function) => function_name(&function.name).map(Name::Strong),
        Expr::Cast { expr, data_type, .. } => match name_of(expr) {
            Some(Name::Strong(name)) => Some(Name::Strong(name)),
            _ => {
                let name = type_name(data_type);
                let (_, sql_type) = target(&name)?;
                let alias = Reg::of_name(&name).is_some();
                Some(Name::Weak(if alias { name } else { sql_type.typname() }))
            }
        },
        Expr::Case { else_result, .. } => match else_result.as_deref().and_then(name_of) {
            Some(Name::Strong(name)) => Some(Name::Strong(name)),
            _ => Some(Name::Weak("case".to_owned())),
        },
        Expr::Exists { .. } => strong("exists"),
        Expr::Array(_) => strong("array"),
        Expr::Tuple(_) => strong("row"),
        Expr::Substring { .. } => strong("substring"),
        Expr::Trim { trim_where, .. } => strong(trim_name(trim_where.as_ref())),
        Expr::Position { .. } => strong("position"),
        Expr::Subquery(query) => match &*query.body {
            ast::SetExpr::Select(select) => match select.projection.first()? {
                ast::SelectItem::UnnamedExpr(expr) => {
                    name_of(expr).map(|name| Name::Strong(name.into_text()))
                }
                ast::SelectItem::ExprWithAlias { alias, .. } => Some(Name::Strong(folded(alias))),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}
