//! From syntax to bound expressions, with PostgreSQL's types.

use sqlparser::ast::{self, BinaryOperator, Expr, UnaryOperator};

use crate::catalog::pg::{self, Reg, Value};
use crate::error::{SqlError, code};
use crate::types::SqlType;

use super::bind::{BindError, Binder, Bound, Context};
use super::function::bind_function;
use super::tree::{Comparison, Node, Operation, Pattern, Query, Target, Typed};

/// An identifier as it is looked up: in lower case unless it was quoted.
pub(super) fn folded(identifier: &ast::Ident) -> String {
    match identifier.quote_style {
        Some(_) => identifier.value.clone(),
        None => identifier.value.to_lowercase(),
    }
}

pub(super) fn bind_all(
    binder: &Binder<'_>,
    context: &Context<'_>,
    expressions: &[Expr],
) -> Bound<Vec<Typed>> {
    expressions.iter().map(|one| bind(binder, context, one)).collect()
}

/// Binds where the type is known, so that a parameter gets it.
pub(super) fn bind_as(
    binder: &Binder<'_>,
    context: &Context<'_>,
    expr: &Expr,
    sql_type: &SqlType,
) -> Bound<Typed> {
    let bound = bind(binder, context, expr)?;
    Ok(with_type(binder, bound, sql_type))
}

/// Binds an expression.
pub(super) fn bind(binder: &Binder<'_>, context: &Context<'_>, expr: &Expr) -> Bound<Typed> {
    let one = |expr: &Expr| bind(binder, context, expr);
    match expr {
        Expr::Nested(inner) => one(inner),
        Expr::Collate { expr, .. } => one(expr),
        Expr::Value(value) => literal(binder, &value.value),
        Expr::TypedString(typed) => {
            let text = typed.value.value.clone().into_string().ok_or(BindError::NotHere)?;
            let value = Typed::new(Node::Constant(Value::text(text)), SqlType::Unknown);
            cast(binder, value, &typed.data_type)
        }
        Expr::Identifier(identifier) => {
            let name = folded(identifier);
            match context.scope.column(None, None, &name) {
                // A whole row.
                Err(_) if context.scope.is_source(&name) => Err(BindError::NotHere),
                found => found,
            }
        }
        Expr::CompoundIdentifier(parts) => {
            let parts: Vec<String> = parts.iter().map(folded).collect();
            match parts.as_slice() {
                [source, name] => context.scope.column(None, Some(source), name),
                [schema, source, name] => context.scope.column(Some(schema), Some(source), name),
                _ => Err(BindError::NotHere),
            }
        }
        Expr::CompoundFieldAccess { root, access_chain } => {
            access(binder, context, root, access_chain)
        }
        Expr::Cast {
            kind: ast::CastKind::Cast | ast::CastKind::DoubleColon,
            expr,
            data_type,
            ..
        } => cast(binder, one(expr)?, data_type),
        Expr::BinaryOp { left, op, right } => binary(binder, one(left)?, op, one(right)?),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => Ok(negate_if(one(expr)?, true)),
        Expr::UnaryOp { op: UnaryOperator::Plus, expr } => one(expr),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
            let zero = Typed::new(Node::Constant(Value::Int(0)), SqlType::Integer);
            Ok(arithmetic(Operation::Subtract, zero, one(expr)?))
        }
        Expr::Case { operand, conditions, else_result, .. } => {
            case(binder, context, operand.as_deref(), conditions, else_result.as_deref())
        }
        Expr::Exists { subquery, negated } => {
            let query = binder.query(subquery, Some(context.scope))?;
            let found = Typed::new(Node::Exists(Box::new(query)), SqlType::Boolean);
            Ok(negate_if(found, *negated))
        }
        Expr::Subquery(query) => {
            let query = binder.query(query, Some(context.scope))?;
            let [column] = query.columns.as_slice() else {
                let message = "subquery must return only one column";
                return Err(SqlError::new(code::SYNTAX_ERROR, message).into());
            };
            let sql_type = column.sql_type.clone();
            Ok(Typed::new(Node::Scalar(Box::new(query)), sql_type))
        }
        Expr::Array(array) => {
            let elements = bind_all(binder, context, &array.elem)?;
            let element =
                elements.iter().fold(SqlType::Unknown, |known, one| common(&known, &one.sql_type));
            let element = if element == SqlType::Unknown { SqlType::Text } else { element };
            Ok(Typed::new(Node::Array(elements), SqlType::Array(Box::new(element))))
        }
        Expr::Tuple(fields) => {
            Ok(Typed::new(Node::Row(bind_all(binder, context, fields)?), SqlType::Record))
        }
        Expr::Substring { expr, substring_from, substring_for, .. } => {
            let from = match substring_from {
                Some(from) => one(from)?,
                None => Typed::new(Node::Constant(Value::Int(1)), SqlType::Integer),
            };
            let mut arguments = vec![one(expr)?, from];
            if let Some(length) = substring_for {
                arguments.push(one(length)?);
            }
            call("substring", arguments)
        }
        Expr::Trim { trim_where, trim_what, expr, trim_characters: None } => {
            let mut arguments = vec![one(expr)?];
            if let Some(what) = trim_what {
                arguments.push(one(what)?);
            }
            call(trim_name(trim_where.as_ref()), arguments)
        }
        Expr::Position { expr, r#in } => call("strpos", vec![one(r#in)?, one(expr)?]),
        Expr::Function(function) => bind_function(binder, context, function),
        other => bind_predicate(binder, context, other),
    }
}

/// Binds what is true, false or unknown.
fn bind_predicate(binder: &Binder<'_>, context: &Context<'_>, expr: &Expr) -> Bound<Typed> {
    let one = |expr: &Expr| bind(binder, context, expr);
    let boxed = |expr: &Expr| bind(binder, context, expr).map(Box::new);
    let boolean = |node: Node| Ok(Typed::new(node, SqlType::Boolean));
    match expr {
        Expr::IsNull(value) => boolean(Node::IsNull { value: boxed(value)?, negated: false }),
        Expr::IsNotNull(value) => boolean(Node::IsNull { value: boxed(value)?, negated: true }),
        Expr::IsUnknown(value) => boolean(Node::IsNull { value: boxed(value)?, negated: false }),
        Expr::IsNotUnknown(value) => boolean(Node::IsNull { value: boxed(value)?, negated: true }),
        Expr::IsTrue(value) => boolean(truth(boxed(value)?, true, false)),
        Expr::IsNotTrue(value) => boolean(truth(boxed(value)?, true, true)),
        Expr::IsFalse(value) => boolean(truth(boxed(value)?, false, false)),
        Expr::IsNotFalse(value) => boolean(truth(boxed(value)?, false, true)),
        Expr::IsDistinctFrom(left, right) => {
            let (left, right) = pair(binder, one(left)?, one(right)?);
            boolean(Node::IsDistinct { left, right, negated: false })
        }
        Expr::IsNotDistinctFrom(left, right) => {
            let (left, right) = pair(binder, one(left)?, one(right)?);
            boolean(Node::IsDistinct { left, right, negated: true })
        }
        Expr::Between { expr, negated, low, high } => {
            let at_least = compare(binder, Comparison::GreaterOrEqual, one(expr)?, one(low)?);
            let at_most = compare(binder, Comparison::LessOrEqual, one(expr)?, one(high)?);
            let both =
                Typed::new(Node::And(Box::new(at_least), Box::new(at_most)), SqlType::Boolean);
            Ok(negate_if(both, *negated))
        }
        Expr::InList { expr, list, negated } => {
            let value = one(expr)?;
            let list: Bound<Vec<Typed>> = list
                .iter()
                .map(|item| Ok(with_type(binder, one(item)?, &value.sql_type)))
                .collect();
            let node = Node::InList { value: Box::new(value), list: list? };
            Ok(negate_if(Typed::new(node, SqlType::Boolean), *negated))
        }
        Expr::InSubquery { expr, subquery, negated } => {
            let query = binder.query(subquery, Some(context.scope))?;
            let found = quantified(binder, Comparison::Equal, false, one(expr)?, rows(query));
            Ok(negate_if(found, *negated))
        }
        Expr::InUnnest { expr, array_expr, negated } => {
            let array = one(array_expr)?;
            let found = quantified(binder, Comparison::Equal, false, one(expr)?, array);
            Ok(negate_if(found, *negated))
        }
        Expr::AnyOp { left, compare_op, right, .. } => {
            let array = quantified_side(binder, context, right)?;
            Ok(quantified(binder, comparison(compare_op)?, false, one(left)?, array))
        }
        Expr::AllOp { left, compare_op, right } => {
            let array = quantified_side(binder, context, right)?;
            Ok(quantified(binder, comparison(compare_op)?, true, one(left)?, array))
        }
        Expr::Like { negated, any: false, expr, pattern, escape_char } => {
            let escape = escape_of(escape_char.as_ref())?;
            let kind = Pattern::Like { ignore_case: false, escape };
            Ok(matched(binder, one(expr)?, one(pattern)?, kind, *negated))
        }
        Expr::ILike { negated, any: false, expr, pattern, escape_char } => {
            let escape = escape_of(escape_char.as_ref())?;
            let kind = Pattern::Like { ignore_case: true, escape };
            Ok(matched(binder, one(expr)?, one(pattern)?, kind, *negated))
        }
        _ => Err(BindError::NotHere),
    }
}

fn literal(binder: &Binder<'_>, value: &ast::Value) -> Bound<Typed> {
    let (value, sql_type) = match value {
        ast::Value::Null => (Value::Null, SqlType::Unknown),
        ast::Value::Boolean(value) => (Value::Bool(*value), SqlType::Boolean),
        ast::Value::Number(text, _) => match text.parse::<i64>() {
            Ok(number) if i32::try_from(number).is_ok() => (Value::Int(number), SqlType::Integer),
            Ok(number) => (Value::Int(number), SqlType::BigInt),
            Err(_) => {
                let number = text.parse().map_err(|_| BindError::NotHere)?;
                (Value::Float(number), SqlType::Double)
            }
        },
        ast::Value::SingleQuotedString(text) | ast::Value::EscapedStringLiteral(text) => {
            (Value::text(text), SqlType::Unknown)
        }
        ast::Value::DollarQuotedString(text) => (Value::text(&text.value), SqlType::Unknown),
        ast::Value::Placeholder(name) => {
            let number: usize =
                name.trim_start_matches('$').parse().map_err(|_| BindError::NotHere)?;
            let index = number.checked_sub(1).ok_or(BindError::NotHere)?;
            let mut parameters = binder.parameters.borrow_mut();
            if parameters.len() <= index {
                parameters.resize(index + 1, None);
            }
            let sql_type = parameters[index].clone().unwrap_or(SqlType::Unknown);
            return Ok(Typed::new(Node::Parameter(index), sql_type));
        }
        _ => return Err(BindError::NotHere),
    };
    Ok(Typed::new(Node::Constant(value), sql_type))
}

/// A parameter or a literal without a type takes this one.
pub(super) fn with_type(binder: &Binder<'_>, mut value: Typed, sql_type: &SqlType) -> Typed {
    if value.sql_type == SqlType::Unknown && *sql_type != SqlType::Unknown {
        if let Node::Parameter(index) = value.node
            && let Some(slot) = binder.parameters.borrow_mut().get_mut(index)
        {
            slot.get_or_insert_with(|| sql_type.clone());
        }
        value.sql_type = sql_type.clone();
    }
    value
}

fn pair(binder: &Binder<'_>, left: Typed, right: Typed) -> (Box<Typed>, Box<Typed>) {
    let right = with_type(binder, right, &left.sql_type);
    let left = with_type(binder, left, &right.sql_type);
    (Box::new(left), Box::new(right))
}

fn compare(binder: &Binder<'_>, comparison: Comparison, left: Typed, right: Typed) -> Typed {
    let (left, right) = pair(binder, left, right);
    Typed::new(Node::Compare { comparison, left, right }, SqlType::Boolean)
}

/// `left = right`.
pub(super) fn equal(left: Typed, right: Typed) -> Typed {
    let (left, right) = (Box::new(left), Box::new(right));
    Typed::new(Node::Compare { comparison: Comparison::Equal, left, right }, SqlType::Boolean)
}

fn negate_if(value: Typed, negated: bool) -> Typed {
    if negated { Typed::new(Node::Not(Box::new(value)), SqlType::Boolean) } else { value }
}

fn truth(value: Box<Typed>, truth: bool, negated: bool) -> Node {
    Node::IsTruth { value, truth, negated }
}

pub(super) fn rows(query: Query) -> Typed {
    let element = match query.columns.as_slice() {
        [column] => column.sql_type.clone(),
        _ => SqlType::Record,
    };
    Typed::new(Node::Rows(Box::new(query)), SqlType::Array(Box::new(element)))
}

/// What follows ANY or ALL: an array, or a query.
fn quantified_side(binder: &Binder<'_>, context: &Context<'_>, expr: &Expr) -> Bound<Typed> {
    match expr {
        Expr::Subquery(query) => Ok(rows(binder.query(query, Some(context.scope))?)),
        Expr::Nested(inner) => quantified_side(binder, context, inner),
        other => bind(binder, context, other),
    }
}

fn quantified(
    binder: &Binder<'_>,
    comparison: Comparison,
    all: bool,
    value: Typed,
    array: Typed,
) -> Typed {
    let wanted = SqlType::Array(Box::new(match &value.sql_type {
        SqlType::Unknown => SqlType::Text,
        known => known.clone(),
    }));
    let array = with_type(binder, array, &wanted);
    let value = match &array.sql_type {
        SqlType::Array(element) => with_type(binder, value, element),
        _ => value,
    };
    let node = Node::Quantified { comparison, all, value: Box::new(value), array: Box::new(array) };
    Typed::new(node, SqlType::Boolean)
}

/// The character of ESCAPE: `\` if none is named, and none if it is empty.
fn escape_of(escape: Option<&ast::ValueWithSpan>) -> Bound<Option<char>> {
    let Some(escape) = escape else { return Ok(Some('\\')) };
    let text = escape.value.clone().into_string().ok_or(BindError::NotHere)?;
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (first, None) => Ok(first),
        _ => Err(SqlError::new("22025", "invalid escape string")
            .hint("Escape string must be empty or one character.")
            .into()),
    }
}

fn matched(
    binder: &Binder<'_>,
    value: Typed,
    pattern: Typed,
    kind: Pattern,
    negated: bool,
) -> Typed {
    let value = Box::new(with_type(binder, value, &SqlType::Text));
    let pattern = Box::new(with_type(binder, pattern, &SqlType::Text));
    Typed::new(Node::Match { value, pattern, kind, negated }, SqlType::Boolean)
}

/// An operator's own name: `OPERATOR(pg_catalog.~)` is `~`.
fn plain(operator: &BinaryOperator) -> BinaryOperator {
    let BinaryOperator::PGCustomBinaryOperator(parts) = operator else { return operator.clone() };
    match parts.last().map(String::as_str) {
        Some("~") => BinaryOperator::PGRegexMatch,
        Some("~*") => BinaryOperator::PGRegexIMatch,
        Some("!~") => BinaryOperator::PGRegexNotMatch,
        Some("!~*") => BinaryOperator::PGRegexNotIMatch,
        Some("~~") => BinaryOperator::PGLikeMatch,
        Some("~~*") => BinaryOperator::PGILikeMatch,
        Some("!~~") => BinaryOperator::PGNotLikeMatch,
        Some("!~~*") => BinaryOperator::PGNotILikeMatch,
        Some("=") => BinaryOperator::Eq,
        Some("<>" | "!=") => BinaryOperator::NotEq,
        Some("<") => BinaryOperator::Lt,
        Some("<=") => BinaryOperator::LtEq,
        Some(">") => BinaryOperator::Gt,
        Some(">=") => BinaryOperator::GtEq,
        Some("+") => BinaryOperator::Plus,
        Some("-") => BinaryOperator::Minus,
        Some("*") => BinaryOperator::Multiply,
        Some("/") => BinaryOperator::Divide,
        Some("||") => BinaryOperator::StringConcat,
        _ => operator.clone(),
    }
}

fn comparison(operator: &BinaryOperator) -> Bound<Comparison> {
    Ok(match plain(operator) {
        BinaryOperator::Eq => Comparison::Equal,
        BinaryOperator::NotEq => Comparison::NotEqual,
        BinaryOperator::Lt => Comparison::Less,
        BinaryOperator::LtEq => Comparison::LessOrEqual,
        BinaryOperator::Gt => Comparison::Greater,
        BinaryOperator::GtEq => Comparison::GreaterOrEqual,
        other => match pattern(&other) {
            Some((kind, false)) => Comparison::Matches(kind),
            _ => return Err(BindError::NotHere),
        },
    })
}

/// How an operator matches, and whether it is negated.
fn pattern(operator: &BinaryOperator) -> Option<(Pattern, bool)> {
    Some(match operator {
        BinaryOperator::PGRegexMatch => (Pattern::Regex { ignore_case: false }, false),
        BinaryOperator::PGRegexIMatch => (Pattern::Regex { ignore_case: true }, false),
        BinaryOperator::PGRegexNotMatch => (Pattern::Regex { ignore_case: false }, true),
        BinaryOperator::PGRegexNotIMatch => (Pattern::Regex { ignore_case: true }, true),
        BinaryOperator::PGLikeMatch => {
            (Pattern::Like { ignore_case: false, escape: Some('\\') }, false)
        }
        BinaryOperator::PGILikeMatch => {
            (Pattern::Like { ignore_case: true, escape: Some('\\') }, false)
        }
        BinaryOperator::PGNotLikeMatch => {
            (Pattern::Like { ignore_case: false, escape: Some('\\') }, true)
        }
        BinaryOperator::PGNotILikeMatch => {
            (Pattern::Like { ignore_case: true, escape: Some('\\') }, true)
        }
        _ => return None,
    })
}

fn binary(
    binder: &Binder<'_>,
    left: Typed,
    operator: &BinaryOperator,
    right: Typed,
) -> Bound<Typed> {
    let operator = plain(operator);
    if let Some((kind, negated)) = pattern(&operator) {
        return Ok(matched(binder, left, right, kind, negated));
    }
    let operation = match operator {
        BinaryOperator::And | BinaryOperator::Or => {
            let left = Box::new(with_type(binder, left, &SqlType::Boolean));
            let right = Box::new(with_type(binder, right, &SqlType::Boolean));
            let node = match operator {
                BinaryOperator::And => Node::And(left, right),
                _ => Node::Or(left, right),
            };
            return Ok(Typed::new(node, SqlType::Boolean));
        }
        BinaryOperator::StringConcat => return Ok(concatenate(left, right)),
        BinaryOperator::Plus => Operation::Add,
        BinaryOperator::Minus => Operation::Subtract,
        BinaryOperator::Multiply => Operation::Multiply,
        BinaryOperator::Divide => Operation::Divide,
        BinaryOperator::Modulo => Operation::Modulo,
        BinaryOperator::BitwiseAnd => Operation::BitAnd,
        BinaryOperator::BitwiseOr => Operation::BitOr,
        other => return Ok(compare(binder, comparison(&other)?, left, right)),
    };
    let (left, right) = pair(binder, left, right);
    if [&left, &right].into_iter().any(|side| !computes(&side.sql_type)) {
        return Err(BindError::NotHere);
    }
    Ok(arithmetic(operation, *left, *right))
}

/// Is there arithmetic on values of a type here? That of times is DataFusion's.
fn computes(sql_type: &SqlType) -> bool {
    matches!(
        sql_type,
        SqlType::Unknown
            | SqlType::Boolean
            | SqlType::SmallInt
            | SqlType::Integer
            | SqlType::BigInt
            | SqlType::Oid
            | SqlType::Real
            | SqlType::Double
            | SqlType::Numeric(_)
    ) || Reg::of_type(sql_type).is_some()
}

fn arithmetic(operation: Operation, left: Typed, right: Typed) -> Typed {
    let sql_type = common(&left.sql_type, &right.sql_type);
    let (left, right) = (Box::new(left), Box::new(right));
    Typed::new(Node::Arithmetic { operation, left, right }, sql_type)
}

fn concatenate(left: Typed, right: Typed) -> Typed {
    let sql_type = match (&left.sql_type, &right.sql_type) {
        (array @ SqlType::Array(_), _) | (_, array @ SqlType::Array(_)) => array.clone(),
        _ => SqlType::Text,
    };
    Typed::new(Node::Concatenate(Box::new(left), Box::new(right)), sql_type)
}

/// The type that both fit in, as far as catalog queries need it.
pub(super) fn common(left: &SqlType, right: &SqlType) -> SqlType {
    fn rank(sql_type: &SqlType) -> Option<u8> {
        Some(match sql_type {
            SqlType::SmallInt => 1,
            SqlType::Integer => 2,
            SqlType::BigInt => 3,
            SqlType::Oid => 4,
            SqlType::Numeric(_) | SqlType::Real | SqlType::Double => 5,
            _ => return None,
        })
    }
    match (left, right) {
        (SqlType::Unknown, known) | (known, SqlType::Unknown) => known.clone(),
        (left, right) => match (rank(left), rank(right)) {
            (Some(a), Some(b)) if a < b => right.clone(),
            (Some(_), Some(_)) => left.clone(),
            _ => left.clone(),
        },
    }
}

fn case(
    binder: &Binder<'_>,
    context: &Context<'_>,
    operand: Option<&Expr>,
    conditions: &[ast::CaseWhen],
    otherwise: Option<&Expr>,
) -> Bound<Typed> {
    let operand = operand.map(|one| bind(binder, context, one)).transpose()?;
    let otherwise = otherwise.map(|one| bind(binder, context, one)).transpose()?;
    let mut branches = Vec::new();
    // PostgreSQL looks at ELSE first.
    let mut sql_type = otherwise.as_ref().map_or(SqlType::Unknown, |one| one.sql_type.clone());
    for branch in conditions {
        let condition = bind(binder, context, &branch.condition)?;
        let condition = match &operand {
            Some(operand) => with_type(binder, condition, &operand.sql_type),
            None => with_type(binder, condition, &SqlType::Boolean),
        };
        let result = bind(binder, context, &branch.result)?;
        sql_type = common(&sql_type, &result.sql_type);
        branches.push((condition, result));
    }
    if sql_type == SqlType::Unknown {
        sql_type = SqlType::Text;
    }
    let (operand, otherwise) = (operand.map(Box::new), otherwise.map(Box::new));
    Ok(Typed::new(Node::Case { operand, branches, otherwise }, sql_type))
}

/// `value::type`.
fn cast(binder: &Binder<'_>, value: Typed, data_type: &ast::DataType) -> Bound<Typed> {
    let (target, sql_type) = target(&type_name(data_type)).ok_or(BindError::NotHere)?;
    let wanted = match target {
        // A name is what one passes for these.
        Target::Reg(_) | Target::RegArray(_) => SqlType::Text,
        Target::Type(_) => sql_type.clone(),
    };
    let vector = matches!(value.sql_type, SqlType::Int2Vector | SqlType::OidVector);
    let value = Box::new(match value.node {
        Node::Parameter(_) => with_type(binder, value, &wanted),
        // A vector is written otherwise than an array.
        _ if vector && matches!(wanted, SqlType::Text | SqlType::Varchar(_) | SqlType::Char(_)) => {
            let blank = Typed::new(Node::Constant(Value::text(" ")), SqlType::Text);
            call("array_to_string", vec![value, blank])?
        }
        _ => value,
    });
    Ok(Typed::new(Node::Cast { to: target, value }, sql_type))
}

pub(super) fn type_name(data_type: &ast::DataType) -> String {
    let name = data_type.to_string().to_lowercase();
    name.replace("pg_catalog.", "").replace("\"pg_catalog\".", "")
}

/// Whether it is an OID alias type (`regclass`), or an array of one.
pub(super) fn is_alias_type(data_type: &ast::DataType) -> bool {
    Reg::of_name(type_name(data_type).trim_end_matches("[]")).is_some()
}

pub(super) fn target(name: &str) -> Option<(Target, SqlType)> {
    let (bare, array) = match name.strip_suffix("[]") {
        Some(element) => (element, true),
        None => (name, false),
    };
    if let Some(kind) = Reg::of_name(bare.trim_matches('"')) {
        let sql_type = kind.sql_type();
        return Some(if array {
            (Target::RegArray(kind), SqlType::Array(Box::new(sql_type)))
        } else {
            (Target::Reg(kind), sql_type)
        });
    }
    let sql_type = match bare {
        "cstring" => SqlType::Text,
        other => SqlType::parse_any(other)?,
    };
    let sql_type = if array { SqlType::Array(Box::new(sql_type)) } else { sql_type };
    Some((Target::Type(sql_type.clone()), sql_type))
}

/// `value[i]`, `(record).field`.
fn access(
    binder: &Binder<'_>,
    context: &Context<'_>,
    root: &Expr,
    chain: &[ast::AccessExpr],
) -> Bound<Typed> {
    // `t.a[1]` comes as the root `t` with the fields `a` and `[1]`.
    let (mut value, rest) = match (root, chain) {
        (Expr::Identifier(source), [ast::AccessExpr::Dot(Expr::Identifier(name)), rest @ ..])
            if context.scope.is_source(&folded(source)) =>
        {
            (context.scope.column(None, Some(&folded(source)), &folded(name))?, rest)
        }
        _ => (bind(binder, context, root)?, chain),
    };
    for step in rest {
        value = match step {
            ast::AccessExpr::Subscript(ast::Subscript::Index { index }) => {
                let (element, first) = match &value.sql_type {
                    SqlType::Array(element) => (SqlType::clone(element), 1),
                    SqlType::Int2Vector => (SqlType::SmallInt, 0),
                    SqlType::OidVector => (SqlType::Oid, 0),
                    _ => return Err(BindError::NotHere),
                };
                let index = Box::new(bind(binder, context, index)?);
                Typed::new(Node::Subscript { value: Box::new(value), index, first }, element)
            }
            ast::AccessExpr::Subscript(ast::Subscript::Slice {
                lower_bound,
                upper_bound,
                stride: None,
            }) if matches!(value.sql_type, SqlType::Array(_)) => {
                let bound = |expr: &Option<Expr>| -> Bound<Option<Box<Typed>>> {
                    expr.as_ref().map(|expr| bind(binder, context, expr).map(Box::new)).transpose()
                };
                let (from, to) = (bound(lower_bound)?, bound(upper_bound)?);
                let sql_type = value.sql_type.clone();
                Typed::new(Node::Slice { value: Box::new(value), from, to }, sql_type)
            }
            ast::AccessExpr::Dot(Expr::Identifier(field)) if value.sql_type == SqlType::Record => {
                // The only records with names are those of _pg_expandarray and of aclexplode.
                let (position, sql_type) = match folded(field).as_str() {
                    "x" => (0, SqlType::Integer),
                    "n" => (1, SqlType::Integer),
                    "grantor" => (0, SqlType::Oid),
                    "grantee" => (1, SqlType::Oid),
                    "privilege_type" => (2, SqlType::Text),
                    "is_grantable" => (3, SqlType::Boolean),
                    _ => return Err(BindError::NotHere),
                };
                Typed::new(Node::Field { value: Box::new(value), position }, sql_type)
            }
            _ => return Err(BindError::NotHere),
        };
    }
    Ok(value)
}

/// The function behind TRIM.
pub(super) fn trim_name(side: Option<&ast::TrimWhereField>) -> &'static str {
    match side {
        None | Some(ast::TrimWhereField::Both) => "btrim",
        Some(ast::TrimWhereField::Leading) => "ltrim",
        Some(ast::TrimWhereField::Trailing) => "rtrim",
    }
}

pub(super) fn call(name: &str, arguments: Vec<Typed>) -> Bound<Typed> {
    let function = pg::function(name, arguments.len()).ok_or(BindError::NotHere)?;
    let types: Vec<SqlType> = arguments.iter().map(|one| one.sql_type.clone()).collect();
    let sql_type = function.returns.of(&types);
    Ok(Typed::new(Node::Call { function, arguments }, sql_type))
}
