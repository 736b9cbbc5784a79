//! The incremental plan as plain data: what the planner decides and the dataflow runs.
//!
//! A [`Job`] is the graph behind one materialized view. It is cut into [`Fragment`]s at exchanges;
//! a fragment runs as one actor for each share of the keys, and an actor runs the fragment's whole
//! tree of nodes. Nothing here knows SQL, names or operators' code: only facts already decided
//! (keys, marks, table ids), so that nobody below decides them again.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::ScalarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::{ExecutionPlan, displayable};

use crate::types::ObjectId;

/// The graph behind one materialized object.
#[derive(Debug, Clone)]
pub struct Job {
    pub object: ObjectId,
    /// In topological order: a fragment reads only from earlier ones. The last one materializes.
    pub fragments: Vec<Fragment>,
    /// Actors of each hash-distributed fragment.
    pub parallelism: usize,
    /// Whether a failing row makes reading the view fail, rather than giving NULL.
    pub fail_on_error: bool,
}

/// What runs in one actor, once for each share of the keys.
#[derive(Debug, Clone)]
pub struct Fragment {
    /// Whence its rows come, by port.
    pub inputs: Vec<Input>,
    /// A tree, children before parents; the last is the root, whose output leaves the fragment.
    pub nodes: Vec<Node>,
    pub distribution: Distribution,
}

/// How a fragment's work is shared between actors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distribution {
    /// One actor has all keys (a global aggregate).
    Single,
    /// The job's parallelism, by vnode of the exchanges' columns.
    Hash,
}

/// One port of a fragment.
#[derive(Debug, Clone)]
pub struct Input {
    pub from: Upstream,
    /// How the rows are spread over the fragment's actors.
    pub exchange: Exchange,
    /// Schema of the rows that arrive.
    pub schema: SchemaRef,
}

/// Who sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upstream {
    /// An earlier fragment of the same job, by index.
    Fragment(usize),
    /// A table, source or materialized view: its stored rows (`Object::stored_schema`).
    Object(ObjectId),
}

/// To which actor a row goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exchange {
    /// All rows to the only actor.
    Single,
    /// By vnode of these columns of the row.
    Hash(Vec<usize>),
    /// Anywhere, evenly: for stateless work.
    Spread,
}

/// A node of a fragment.
#[derive(Debug, Clone)]
pub struct Node {
    /// Number within the job, from 1; names its state tables for ever. See `types::TableId`.
    pub id: u16,
    pub kind: NodeKind,
    /// Indexes, in `Fragment::nodes`, of the nodes that feed it, by its ports.
    pub inputs: Vec<usize>,
    /// Schema of the rows it gives.
    pub schema: SchemaRef,
    /// Rows are never taken away.
    pub append_only: bool,
}

/// What a node does.
#[derive(Debug, Clone)]
pub enum NodeKind {
    /// Passes on what arrives at the fragment's port.
    Input(usize),
    /// Keeps the rows where all of `predicates` are true, then computes `expressions`.
    Map(Map),
    /// All rows of all inputs.
    Union,
    Join(Join),
    Aggregate(Aggregate),
    /// The rows that each row stands for (`unnest`), by a stateless plan over one port. Its rows,
    /// and its output's, end with a column of weights.
    Expand(BatchPlan),
    TopN(TopN),
    Window(Window),
    Recompute(Recompute),
    /// Rows that are always there, whatever comes in.
    Constant(Constant),
    Materialize(Materialize),
}

/// Filter and projection: linear, stateless.
#[derive(Debug, Clone)]
pub struct Map {
    pub predicates: Vec<Arc<dyn PhysicalExpr>>,
    /// One for each output column; `None` passes the input on.
    pub expressions: Option<Vec<Arc<dyn PhysicalExpr>>>,
}

/// Join on equal keys. Output columns: left's, then right's; a semi or anti join's: left's.
#[derive(Debug, Clone)]
pub struct Join {
    pub kind: JoinKind,
    /// Column indexes of the key in each input (same length, same Arrow types). Empty: every row
    /// meets every row of the other side.
    pub left_key: Vec<usize>,
    pub right_key: Vec<usize>,
    /// Whether NULL equals NULL (`IS NOT DISTINCT FROM`).
    pub null_equal: bool,
    /// Over the joined row; inner joins only: whether a row has a match is decided by its key.
    pub filter: Option<Arc<dyn PhysicalExpr>>,
}

/// Which rows a join gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// Pairs.
    Inner,
    /// Pairs, and the left rows without a match, padded with NULLs.
    Left,
    /// Pairs, and the right rows without a match.
    Right,
    /// Pairs, and the rows of both sides without a match.
    Full,
    /// The left rows that have a match.
    LeftSemi,
    /// The left rows that have none.
    LeftAnti,
}

impl JoinKind {
    /// Whether pairs of rows are given.
    pub fn gives_pairs(self) -> bool {
        !matches!(self, JoinKind::LeftSemi | JoinKind::LeftAnti)
    }

    /// For each side, whether its rows are given by themselves as well: with a match if that is
    /// `Some(true)`, without if it is `Some(false)`.
    pub fn gives_rows(self) -> [Option<bool>; 2] {
        match self {
            JoinKind::Inner => [None, None],
            JoinKind::Left | JoinKind::LeftAnti => [Some(false), None],
            JoinKind::Right => [None, Some(false)],
            JoinKind::Full => [Some(false), Some(false)],
            JoinKind::LeftSemi => [Some(true), None],
        }
    }
}

/// GROUP BY. Output columns: the group's, then one for each call.
#[derive(Debug, Clone)]
pub struct Aggregate {
    /// Input columns of the group; empty: one global group that always exists.
    pub group: Vec<usize>,
    pub calls: Vec<AggregateCall>,
    /// The input never takes rows away: min and max need no history.
    pub append_only_input: bool,
}

/// One aggregate function over one input column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AggregateCall {
    pub function: AggregateFunction,
    /// Input column; `None` only for `count(*)`.
    pub argument: Option<usize>,
    pub distinct: bool,
    /// A boolean input column: only rows where it is true count.
    pub filter: Option<usize>,
}

/// The aggregates with an incremental rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregateFunction {
    Count,
    Sum,
    Avg,
    Min,
    Max,
    VarSamp,
    VarPop,
    StddevSamp,
    StddevPop,
}

/// The first rows of each group, in an order. Output columns: the input's.
#[derive(Debug, Clone)]
pub struct TopN {
    /// Input columns of the group; empty: all rows are one group.
    pub group: Vec<usize>,
    /// Rows that are equal by this order come in the order of their other columns.
    pub order: Vec<Order>,
    /// Rows left out at the beginning.
    pub offset: u64,
    /// Rows given after those, at the most; `None`: all.
    pub limit: Option<u64>,
    /// Whether rows that are equal, by the order, to the last one given are given as well.
    pub with_ties: bool,
}

/// A column to order by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    pub column: usize,
    pub descending: bool,
    pub nulls_first: bool,
}

/// Window functions whose results are decided by rows near a row, or go on from the row before.
/// Output columns: the input's, then the results.
#[derive(Debug, Clone)]
pub struct Window {
    /// The functions, as a user would call them.
    pub name: String,
    /// Input columns of the partition; empty: all rows are one partition.
    pub partition: Vec<usize>,
    /// Rows that are equal by this order come in the order of their other columns.
    pub order: Vec<Order>,
    /// How many rows before a row, and after it, its results look at.
    pub before: usize,
    pub after: usize,
    /// How far from a row, in the values of the one column that orders rows, its results look.
    pub distances: Option<Distances>,
    /// Where some results go on from those of the row before: how. An expression a result, over
    /// rows as `expr::relation::going_on` has them.
    pub running: Option<Vec<Arc<dyn PhysicalExpr>>>,
    /// Results go on from those of the rows before that are no peers; peers are looked at together.
    pub peers: bool,
    /// The results for rows as `expr::relation::sliced` has them, in their order: each slice by
    /// itself.
    pub plan: BatchPlan,
}

/// Distances in the values of a column; `None`: rows with the same value.
#[derive(Debug, Clone)]
pub struct Distances {
    pub before: Option<ScalarValue>,
    pub after: Option<ScalarValue>,
}

/// The general rule: where a partition changed, the whole of it is computed anew.
///
/// `plan` over some partitions' rows gives these partitions' results, one after the other or
/// mixed: it does not matter which other partitions are computed with them.
#[derive(Debug, Clone)]
pub struct Recompute {
    /// What is recomputed, as a user would call it.
    pub name: String,
    /// For each port, the columns of the partition; empty everywhere: all rows are one partition,
    /// which exists without rows too.
    pub partition: Vec<Vec<usize>>,
    /// Where the partition's columns are in the output.
    pub output_partition: Vec<usize>,
    pub plan: BatchPlan,
}

/// A query over rows in memory (`expr::relation`).
#[derive(Clone)]
pub struct BatchPlan(pub Arc<dyn ExecutionPlan>);

/// What it does, without what it is: two plans of one text do the same.
impl fmt::Debug for BatchPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", displayable(&*self.0).indent(false))
    }
}

/// Constant rows.
#[derive(Clone)]
pub struct Constant {
    pub rows: RecordBatch,
    /// They come of a function that gives others each time (`random()`): those that were given once
    /// are kept.
    pub drawn: bool,
}

/// What it gives. Drawn rows are others in each plan of the same query.
impl fmt::Debug for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.drawn {
            true => write!(f, "drawn"),
            false => f.debug_list().entries(self.rows.columns()).finish(),
        }
    }
}

/// Keeps the rows as the object's contents, and passes their net change on.
#[derive(Debug, Clone)]
pub struct Materialize {
    /// Columns that identify a row; empty: rows are a multiset, keyed by themselves.
    pub key: Vec<usize>,
    /// Columns whose hash is the row's vnode; empty: vnode 0.
    pub distribution: Vec<usize>,
}

impl Fragment {
    /// The node whose output leaves the fragment.
    ///
    /// # Panics
    /// If the fragment is empty, which a planner never makes.
    pub fn root(&self) -> &Node {
        self.nodes.last().expect("a fragment has nodes")
    }
}

impl Job {
    /// Objects whose rows it reads, each once, in order of first use.
    pub fn upstream_objects(&self) -> Vec<ObjectId> {
        let mut objects = Vec::new();
        for input in self.fragments.iter().flat_map(|fragment| &fragment.inputs) {
            if let Upstream::Object(object) = input.from
                && !objects.contains(&object)
            {
                objects.push(object);
            }
        }
        objects
    }
}
