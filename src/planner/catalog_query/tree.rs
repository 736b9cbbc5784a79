//! A bound query: names resolved, types known, ready to be evaluated.

use crate::catalog::pg::{Function, Reg, Relation, Value};
use crate::types::SqlType;

use super::series::Series;

/// An expression with its type.
#[derive(Debug)]
pub(super) struct Typed {
    pub(super) node: Node,
    pub(super) sql_type: SqlType,
}

impl Typed {
    pub(super) fn new(node: Node, sql_type: SqlType) -> Self {
        Self { node, sql_type }
    }
}

/// An expression.
#[derive(Debug)]
pub(super) enum Node {
    Constant(Value),
    /// `$1` is 0.
    Parameter(usize),
    /// A column of a source, `level` selects further out.
    Column {
        level: usize,
        source: usize,
        column: usize,
    },
    /// What the select computed for the row before its outputs: an aggregate, a row number, an
    /// element of a set.
    Slot(usize),
    Call {
        function: &'static Function,
        arguments: Vec<Typed>,
    },
    Cast {
        to: Target,
        value: Box<Typed>,
    },
    And(Box<Typed>, Box<Typed>),
    Or(Box<Typed>, Box<Typed>),
    Not(Box<Typed>),
    Compare {
        comparison: Comparison,
        left: Box<Typed>,
        right: Box<Typed>,
    },
    IsDistinct {
        left: Box<Typed>,
        right: Box<Typed>,
        negated: bool,
    },
    Arithmetic {
        operation: Operation,
        left: Box<Typed>,
        right: Box<Typed>,
    },
    Concatenate(Box<Typed>, Box<Typed>),
    Match {
        value: Box<Typed>,
        pattern: Box<Typed>,
        kind: Pattern,
        negated: bool,
    },
    IsNull {
        value: Box<Typed>,
        negated: bool,
    },
    IsTruth {
        value: Box<Typed>,
        truth: bool,
        negated: bool,
    },
    InList {
        value: Box<Typed>,
        list: Vec<Typed>,
    },
    /// `value op ANY (array)`, or ALL.
    Quantified {
        comparison: Comparison,
        all: bool,
        value: Box<Typed>,
        array: Box<Typed>,
    },
    Case {
        operand: Option<Box<Typed>>,
        branches: Vec<(Typed, Typed)>,
        otherwise: Option<Box<Typed>>,
    },
    Array(Vec<Typed>),
    Row(Vec<Typed>),
    /// `first` is the index of the first element: 0 in vectors.
    Subscript {
        value: Box<Typed>,
        index: Box<Typed>,
        first: i64,
    },
    /// `value[from:to]`, of an array whose first index is 1.
    Slice {
        value: Box<Typed>,
        from: Option<Box<Typed>>,
        to: Option<Box<Typed>>,
    },
    Field {
        value: Box<Typed>,
        position: usize,
    },
    Scalar(Box<Query>),
    Exists(Box<Query>),
    /// All rows of a query as an array; of records, if it has several columns.
    Rows(Box<Query>),
}

/// What a cast casts to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Target {
    Type(SqlType),
    Reg(Reg),
    RegArray(Reg),
}

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// Regular expressions match only under ANY and ALL here.
    Matches(Pattern),
}

/// An operator on numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    BitAnd,
    BitOr,
}

/// How a text is matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Pattern {
    Regex {
        ignore_case: bool,
    },
    /// `escape` makes the character after it plain.
    Like {
        ignore_case: bool,
        escape: Option<char>,
    },
}

/// A query with everything around its body.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) with: Vec<Cte>,
    pub(super) body: Body,
    /// By outputs of the body, hidden ones included.
    pub(super) order: Vec<Order>,
    pub(super) limit: Option<Typed>,
    pub(super) offset: Option<Typed>,
    /// It reads the sources before it.
    pub(super) lateral: bool,
    /// The outputs that are seen; the body may have more after them.
    pub(super) columns: Vec<OutputColumn>,
}

/// A column of a result.
#[derive(Debug, Clone)]
pub(super) struct OutputColumn {
    pub(super) name: String,
    pub(super) sql_type: SqlType,
}

/// One key of ORDER BY.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) output: usize,
    pub(super) descending: bool,
    pub(super) nulls_first: bool,
}

/// A query of WITH.
#[derive(Debug)]
pub(super) struct Cte {
    pub(super) id: usize,
    pub(super) query: CteQuery,
}

#[derive(Debug)]
pub(super) enum CteQuery {
    Plain(Box<Query>),
    Recursive(Box<Recursion>),
}

/// `start UNION [ALL] step`, the step reading the rows that the last one gave.
#[derive(Debug)]
pub(super) struct Recursion {
    pub(super) start: Query,
    pub(super) step: Query,
    pub(super) all: bool,
}

#[derive(Debug)]
pub(super) enum Body {
    Select(Box<Select>),
    Set { operator: SetOperator, all: bool, left: Box<Query>, right: Box<Query> },
    Values(Vec<Vec<Typed>>),
    Nested(Box<Query>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SetOperator {
    Union,
    Except,
    Intersect,
}

/// One SELECT.
#[derive(Debug)]
pub(super) struct Select {
    pub(super) sources: Vec<Source>,
    pub(super) from: Option<From>,
    pub(super) filter: Vec<Condition>,
    pub(super) grouped: bool,
    pub(super) group: Vec<Typed>,
    pub(super) having: Option<Typed>,
    pub(super) steps: Steps,
    pub(super) outputs: Vec<Typed>,
    pub(super) distinct: Distinct,
}

/// What a select computes into slots, in this order.
#[derive(Debug, Default)]
pub(super) struct Steps {
    pub(super) slots: usize,
    pub(super) aggregates: Vec<Aggregate>,
    pub(super) row_numbers: Vec<RowNumber>,
    pub(super) sets: Vec<SetCall>,
}

#[derive(Debug)]
pub(super) enum Distinct {
    No,
    Yes,
    /// By these outputs.
    On(Vec<usize>),
}

/// A call of an aggregate function.
#[derive(Debug)]
pub(super) struct Aggregate {
    pub(super) slot: usize,
    pub(super) kind: AggregateKind,
    pub(super) arguments: Vec<Typed>,
    pub(super) distinct: bool,
    pub(super) filter: Option<Typed>,
    pub(super) order: Vec<(Typed, bool)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AggregateKind {
    CountRows,
    Count,
    Min,
    Max,
    Sum,
    BoolAnd,
    BoolOr,
    StringAgg,
    ArrayAgg,
}

/// `row_number() OVER (PARTITION BY ... ORDER BY ...)`.
#[derive(Debug)]
pub(super) struct RowNumber {
    pub(super) slot: usize,
    pub(super) partition: Vec<Typed>,
    pub(super) order: Vec<(Typed, bool)>,
}

/// A set-returning function among the outputs.
#[derive(Debug)]
pub(super) struct SetCall {
    pub(super) slot: usize,
    pub(super) series: Series,
    pub(super) arguments: Vec<Typed>,
}

/// A condition, and the sources of its select that it reads (a bit each).
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) expression: Typed,
    pub(super) sources: u64,
}

/// Where rows come from.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) alias: String,
    /// The schema, where the user may name it before the alias.
    pub(super) schema: Option<&'static str>,
    pub(super) columns: Vec<OutputColumn>,
    /// Columns that a USING joined to one of an earlier source: not in `*`, not ambiguous.
    pub(super) merged: Vec<usize>,
    pub(super) kind: SourceKind,
}

#[derive(Debug)]
pub(super) enum SourceKind {
    Relation(&'static Relation),
    Cte(usize),
    Derived(Box<Query>),
    Series { series: Series, arguments: Vec<Typed>, ordinality: bool },
}

/// How the sources are joined.
#[derive(Debug)]
pub(super) enum From {
    Source(usize),
    Join { left: Box<From>, right: Box<From>, kind: JoinKind, on: Vec<Condition> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JoinKind {
    Inner,
    Left,
    Right,
    Full,
}

impl From {
    /// The sources under it, a bit each.
    pub(super) fn sources(&self) -> u64 {
        match self {
            From::Source(source) => bit(*source),
            From::Join { left, right, .. } => left.sources() | right.sources(),
        }
    }
}

/// The bit of a source. A select has at most 64.
pub(super) fn bit(source: usize) -> u64 {
    1u64.checked_shl(u32::try_from(source).unwrap_or(u32::MAX)).unwrap_or(0)
}

impl Node {
    /// The sources of this select that the expression reads; all of them where a subquery might.
    pub(super) fn sources(&self) -> u64 {
        let mut sources = 0;
        self.visit(&mut |node| match node {
            Node::Column { level: 0, source, .. } => sources |= bit(*source),
            Node::Scalar(_) | Node::Exists(_) | Node::Rows(_) => sources = u64::MAX,
            _ => {}
        });
        sources
    }

    /// Calls `see` for this node and all below it, subqueries not entered.
    fn visit(&self, see: &mut dyn FnMut(&Node)) {
        see(self);
        let mut all = |nodes: &[Typed]| nodes.iter().for_each(|one| one.node.visit(see));
        match self {
            Node::Call { arguments, .. } | Node::Array(arguments) | Node::Row(arguments) => {
                all(arguments);
            }
            Node::InList { value, list } => {
                all(std::slice::from_ref(value));
                all(list);
            }
            Node::Case { operand, branches, otherwise } => {
                for one in operand.iter().chain(otherwise) {
                    all(std::slice::from_ref(one));
                }
                for (condition, result) in branches {
                    all(std::slice::from_ref(condition));
                    all(std::slice::from_ref(result));
                }
            }
            Node::Slice { value, from, to } => {
                for one in [value].into_iter().chain(from).chain(to) {
                    all(std::slice::from_ref(one));
                }
            }
            Node::Cast { value, .. }
            | Node::Not(value)
            | Node::IsNull { value, .. }
            | Node::IsTruth { value, .. }
            | Node::Field { value, .. } => all(std::slice::from_ref(value)),
            Node::And(left, right)
            | Node::Or(left, right)
            | Node::Compare { left, right, .. }
            | Node::IsDistinct { left, right, .. }
            | Node::Arithmetic { left, right, .. }
            | Node::Concatenate(left, right)
            | Node::Match { value: left, pattern: right, .. }
            | Node::Quantified { value: left, array: right, .. }
            | Node::Subscript { value: left, index: right, .. } => {
                all(std::slice::from_ref(left));
                all(std::slice::from_ref(right));
            }
            Node::Constant(_)
            | Node::Parameter(_)
            | Node::Column { .. }
            | Node::Slot(_)
            | Node::Scalar(_)
            | Node::Exists(_)
            | Node::Rows(_) => {}
        }
    }
}
