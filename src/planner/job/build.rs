//! Each node of the logical plan becomes operators; what has no incremental rule is refused.

use std::sync::Arc;

use arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::common::{DFSchema, DFSchemaRef, NullEquality};
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::AggregateFunction as Call;
use datafusion::logical_expr::utils::grouping_set_to_exprlist;
use datafusion::logical_expr::{self as logical, Expr, ExprSchemable, JoinType, LogicalPlan};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column as PhysicalColumn;

use super::relations::Relation;
use super::stream::{Fragments, Spread, Stream};
use crate::catalog::{Column, ObjectKind};
use crate::error::{SqlError, SqlResult, code};
use crate::graph::{
    Aggregate, AggregateCall, AggregateFunction, Exchange, Fragment, Join, Map, Materialize,
    NodeKind, Upstream,
};

/// A finished graph, and what is known of the view's rows.
pub(super) struct Built {
    pub(super) fragments: Vec<Fragment>,
    pub(super) key: Vec<usize>,
    pub(super) distribution: Vec<usize>,
    pub(super) append_only: bool,
}

/// Builds the graph of one query.
pub(super) struct Builder<'a> {
    state: &'a SessionState,
    fragments: Fragments,
}

impl<'a> Builder<'a> {
    pub(super) fn new(state: &'a SessionState) -> Self {
        Self { state, fragments: Fragments::default() }
    }

    /// The rows of `plan`.
    pub(super) fn build(&mut self, plan: &LogicalPlan) -> SqlResult<Stream> {
        match plan {
            LogicalPlan::TableScan(scan) => self.scan(scan),
            LogicalPlan::Projection(projection) => {
                let input = self.build(&projection.input)?;
                let schema = arrow_schema(&projection.schema);
                self.project(input, &projection.expr, projection.input.schema(), schema)
            }
            LogicalPlan::Filter(filter) => {
                let input = self.build(&filter.input)?;
                self.filter(input, &filter.predicate, filter.input.schema())
            }
            LogicalPlan::SubqueryAlias(alias) => self.build(&alias.input),
            LogicalPlan::Union(union) => self.union(union),
            LogicalPlan::Join(join) => self.join(join),
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Distinct(logical::Distinct::All(input)) => self.distinct(input),
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => self.build(&sort.input),
            LogicalPlan::Repartition(repartition) => self.build(&repartition.input),
            other => Err(refused(construct(other))),
        }
    }

    /// The view's contents: the last fragment, with the rows of one key in one actor.
    pub(super) fn finish(mut self, stream: Stream, columns: &[Column]) -> SqlResult<Built> {
        let whole: Vec<usize> = (0..columns.len()).collect();
        let key = match &stream.key {
            Some(key) if !key.is_empty() => key.clone(),
            _ => Vec::new(),
        };
        let identity = if key.is_empty() { &whole } else { &key };
        let distribution = match &stream.spread {
            Spread::Single => Vec::new(),
            Spread::Hash(spread) if spread.iter().all(|column| identity.contains(column)) => {
                spread.clone()
            }
            _ => identity.clone(),
        };
        let mut stream = self.fragments.hashed(stream, &distribution);
        let fields: Vec<_> = columns
            .iter()
            .map(|column| column.sql_type.field(&column.name, !column.not_null))
            .collect();
        for (field, found) in fields.iter().zip(stream.schema().fields()) {
            if field.data_type() != found.data_type() {
                return Err(SqlError::internal(format!(
                    "column {} was planned as {} and became {}",
                    field.name(),
                    field.data_type(),
                    found.data_type()
                )));
            }
        }
        let append_only = stream.append_only();
        let schema = Arc::new(Schema::new(fields));
        if stream.schema() != &schema {
            self.rename(&mut stream, &schema)?;
        }
        let materialize = Materialize { key: key.clone(), distribution: distribution.clone() };
        let id = self.fragments.id();
        stream.push(id, NodeKind::Materialize(materialize), schema, append_only);
        self.fragments.close(stream);
        Ok(Built { fragments: self.fragments.done, key, distribution, append_only })
    }

    fn scan(&mut self, scan: &logical::TableScan) -> SqlResult<Stream> {
        let relation = Relation::of(&scan.source)
            .ok_or_else(|| refused(format!("the relation \"{}\"", scan.table_name)))?;
        if scan.fetch.is_some() {
            return Err(refused("LIMIT"));
        }
        let object = &relation.object;
        let stored = object.stored_schema();
        let key = match object.key() {
            key if key.is_empty() => None,
            key => Some(key),
        };
        let from = Upstream::Object(object.id);
        let append_only = object.append_only();
        let mut stream = self.fragments.input(
            from,
            Exchange::Spread,
            Arc::clone(&stored),
            append_only,
            key,
        );
        if matches!(object.kind, ObjectKind::Source(_)) {
            stream.key = None;
        }
        let wanted: Vec<usize> = match &scan.projection {
            Some(columns) => columns.clone(),
            None => (0..object.columns.len()).collect(),
        };
        if wanted.len() != stored.fields().len() {
            let schema = arrow_schema(&scan.projected_schema);
            let expressions = wanted.iter().map(|column| passed_on(&stored, *column)).collect();
            self.map(&mut stream, Vec::new(), Some(expressions), schema);
        }
        for filter in &scan.filters {
            stream = self.filter(stream, filter, &scan.projected_schema)?;
        }
        Ok(stream)
    }

    fn filter(
        &mut self,
        mut stream: Stream,
        predicate: &Expr,
        schema: &DFSchema,
    ) -> SqlResult<Stream> {
        let predicate = self.physical(predicate, schema)?;
        let output = Arc::clone(stream.schema());
        self.map(&mut stream, vec![predicate], None, output);
        Ok(stream)
    }

    fn project(
        &mut self,
        mut stream: Stream,
        expressions: &[Expr],
        input: &DFSchema,
        schema: SchemaRef,
    ) -> SqlResult<Stream> {
        let expressions = expressions
            .iter()
            .map(|expression| self.physical(expression, input))
            .collect::<SqlResult<Vec<_>>>()?;
        self.map(&mut stream, Vec::new(), Some(expressions), schema);
        Ok(stream)
    }

    /// Names change, columns do not.
    fn rename(&mut self, stream: &mut Stream, schema: &SchemaRef) -> SqlResult<()> {
        let before = Arc::clone(stream.schema());
        let columns = 0..before.fields().len();
        let expressions = columns.map(|column| passed_on(&before, column)).collect();
        self.map(stream, Vec::new(), Some(expressions), Arc::clone(schema));
        Ok(())
    }

    /// A map over `stream`; one with the map already there, where that is a mere filter.
    fn map(
        &mut self,
        stream: &mut Stream,
        predicates: Vec<Arc<dyn PhysicalExpr>>,
        expressions: Option<Vec<Arc<dyn PhysicalExpr>>>,
        schema: SchemaRef,
    ) {
        let sources: Vec<Option<usize>> = match &expressions {
            None => (0..schema.fields().len()).map(Some).collect(),
            Some(expressions) => expressions.iter().map(|e| column_of(e)).collect(),
        };
        let origin = stream.origin();
        let append_only = stream.append_only();
        let root = stream.nodes.last_mut().expect("a stream begins with a node");
        match &mut root.kind {
            NodeKind::Map(map) if map.expressions.is_none() => {
                map.predicates.extend(predicates);
                map.expressions = expressions;
                root.schema = schema;
            }
            _ => {
                let id = self.fragments.id();
                let map = NodeKind::Map(Map { predicates, expressions });
                stream.push(id, map, schema, append_only);
            }
        }
        stream.remap(origin, &sources);
    }

    fn union(&mut self, union: &logical::Union) -> SqlResult<Stream> {
        let schema = arrow_schema(&union.schema);
        let mut streams = Vec::new();
        for input in &union.inputs {
            let stream = self.build(input)?;
            streams.push(match stream.spread {
                // A single actor's rows and many actors' rows meet in many.
                Spread::Single => self.fragments.spread(stream, Spread::Any),
                _ => stream,
            });
        }
        let append_only = streams.iter().all(Stream::append_only);
        let first = &streams[0].spread;
        let spread = match streams.iter().all(|stream| stream.spread == *first) {
            true => first.clone(),
            false => Spread::Any,
        };
        Ok(self.fragments.merge(streams, NodeKind::Union, schema, append_only, spread, None))
    }

    fn join(&mut self, join: &logical::Join) -> SqlResult<Stream> {
        if join.join_type != JoinType::Inner {
            return Err(refused(join_name(join.join_type)));
        }
        if join.on.is_empty() {
            return Err(refused("a join without an equality"));
        }
        let (left, right) = (self.build(&join.left)?, self.build(&join.right)?);
        let (left_on, right_on): (Vec<Expr>, Vec<Expr>) = join.on.iter().cloned().unzip();
        let (left, left_key) = self.with_columns(left, &left_on, join.left.schema())?;
        let (right, right_key) = self.with_columns(right, &right_on, join.right.schema())?;
        for (l, r) in left_key.iter().zip(&right_key) {
            let types = [left.schema().field(*l), right.schema().field(*r)];
            if types[0].data_type() != types[1].data_type() {
                return Err(refused(format!(
                    "a join of {} with {}",
                    types[0].data_type(),
                    types[1].data_type()
                )));
            }
        }
        let left = self.fragments.hashed(left, &left_key);
        let right = self.fragments.hashed(right, &right_key);
        let left_columns = left.schema().fields().len();
        let key = joined_key(&left, &right, &right_key);
        let append_only = left.append_only() && right.append_only();
        let fields: Vec<_> =
            left.schema().fields().iter().chain(right.schema().fields()).cloned().collect();
        let node = NodeKind::Join(Join {
            left_key: left_key.clone(),
            right_key,
            null_equal: join.null_equality == NullEquality::NullEqualsNull,
            filter: None,
        });
        let schema = Arc::new(Schema::new(fields));
        let spread = Spread::Hash(left_key);
        let streams = vec![left, right];
        let mut joined =
            self.fragments.merge(streams, node, Arc::clone(&schema), append_only, spread, key);
        let output = arrow_schema(&join.schema);
        if schema.fields().len() != output.fields().len() {
            // Columns that were computed for the key only go.
            let left_wanted = 0..join.left.schema().fields().len();
            let right_wanted = (0..join.right.schema().fields().len()).map(|c| c + left_columns);
            let wanted = left_wanted.chain(right_wanted);
            let expressions = wanted.map(|column| passed_on(&schema, column)).collect();
            self.map(&mut joined, Vec::new(), Some(expressions), output);
        }
        match &join.filter {
            None => Ok(joined),
            Some(filter) => self.filter(joined, filter, &join.schema),
        }
    }

    fn distinct(&mut self, input: &LogicalPlan) -> SqlResult<Stream> {
        let stream = self.build(input)?;
        let group: Vec<usize> = (0..stream.schema().fields().len()).collect();
        let schema = Arc::clone(stream.schema());
        Ok(self.grouped(stream, group, Vec::new(), schema))
    }

    fn aggregate(&mut self, aggregate: &logical::Aggregate) -> SqlResult<Stream> {
        let input_schema = aggregate.input.schema();
        let input = self.build(&aggregate.input)?;
        if grouping_set_to_exprlist(&aggregate.group_expr)?.len() != aggregate.group_expr.len()
            || aggregate.group_expr.iter().any(|e| matches!(e, Expr::GroupingSet(_)))
        {
            return Err(refused("GROUPING SETS, ROLLUP or CUBE"));
        }
        let calls: Vec<&Call> =
            aggregate.aggr_expr.iter().map(aggregate_call).collect::<SqlResult<_>>()?;
        // The group's columns, then each call's argument and filter, are computed below.
        let mut computed: Vec<Expr> = aggregate.group_expr.clone();
        let mut planned = Vec::new();
        for call in calls {
            planned.push(plan_call(call, input_schema, &mut computed)?);
        }
        let group: Vec<usize> = (0..aggregate.group_expr.len()).collect();
        let fields = computed
            .iter()
            .map(|expression| Ok(expression.to_field(input_schema.as_ref())?.1))
            .collect::<SqlResult<Vec<_>>>()?;
        let schema = Arc::new(Schema::new(fields));
        let stream = self.project(input, &computed, input_schema, schema)?;
        Ok(self.grouped(stream, group, planned, arrow_schema(&aggregate.schema)))
    }

    fn grouped(
        &mut self,
        stream: Stream,
        group: Vec<usize>,
        calls: Vec<AggregateCall>,
        schema: SchemaRef,
    ) -> Stream {
        let columns = if group.is_empty() { Vec::new() } else { group.clone() };
        let mut stream = self.fragments.hashed(stream, &columns);
        let append_only_input = stream.append_only();
        let append_only = append_only_input && calls.is_empty() && !group.is_empty();
        let key: Vec<usize> = (0..group.len()).collect();
        let id = self.fragments.id();
        let node = NodeKind::Aggregate(Aggregate { group, calls, append_only_input });
        stream.push(id, node, schema, append_only);
        stream.spread = match key.as_slice() {
            [] => Spread::Single,
            key => Spread::Hash(key.to_vec()),
        };
        stream.key = Some(key);
        stream
    }

    /// `stream` with the values of `expressions` among its columns, and which columns those are.
    fn with_columns(
        &mut self,
        mut stream: Stream,
        expressions: &[Expr],
        schema: &DFSchemaRef,
    ) -> SqlResult<(Stream, Vec<usize>)> {
        let before = Arc::clone(stream.schema());
        let mut output: Vec<Arc<dyn PhysicalExpr>> =
            (0..before.fields().len()).map(|column| passed_on(&before, column)).collect();
        let mut fields: Vec<_> = before.fields().iter().cloned().collect();
        let mut columns = Vec::new();
        for expression in expressions {
            let physical = self.physical(expression, schema)?;
            columns.push(match column_of(&physical) {
                Some(column) => column,
                None => {
                    fields.push(expression.to_field(schema.as_ref())?.1);
                    output.push(physical);
                    output.len() - 1
                }
            });
        }
        if output.len() > before.fields().len() {
            let schema = Arc::new(Schema::new(fields));
            self.map(&mut stream, Vec::new(), Some(output), schema);
        }
        Ok((stream, columns))
    }

    fn physical(&self, expression: &Expr, schema: &DFSchema) -> SqlResult<Arc<dyn PhysicalExpr>> {
        if let Some(what) = subquery(expression) {
            return Err(refused(what));
        }
        Ok(self.state.create_physical_expr_on(expression, schema)?)
    }
}

/// DataFusion's own way to a physical expression optimises again; the plan is optimised already.
trait CreatePhysical {
    fn create_physical_expr_on(
        &self,
        expression: &Expr,
        schema: &DFSchema,
    ) -> datafusion::error::Result<Arc<dyn PhysicalExpr>>;
}

impl CreatePhysical for SessionState {
    fn create_physical_expr_on(
        &self,
        expression: &Expr,
        schema: &DFSchema,
    ) -> datafusion::error::Result<Arc<dyn PhysicalExpr>> {
        datafusion::physical_expr::create_physical_expr(
            expression,
            schema,
            self.execution_props(),
            &Default::default(),
        )
    }
}

fn passed_on(schema: &SchemaRef, column: usize) -> Arc<dyn PhysicalExpr> {
    Arc::new(PhysicalColumn::new(schema.field(column).name(), column))
}

fn column_of(expression: &Arc<dyn PhysicalExpr>) -> Option<usize> {
    expression.downcast_ref::<PhysicalColumn>().map(PhysicalColumn::index)
}

fn arrow_schema(schema: &DFSchema) -> SchemaRef {
    Arc::clone(schema.inner())
}

/// A key of the joined rows, if both sides have one. Where the right side's is among its columns of
/// the condition, a left row has one partner at the most, and its own key is enough.
fn joined_key(left: &Stream, right: &Stream, right_on: &[usize]) -> Option<Vec<usize>> {
    let (left_key, right_key) = (left.key.as_ref()?, right.key.as_ref()?);
    if right_key.iter().all(|column| right_on.contains(column)) {
        return Some(left_key.clone());
    }
    let offset = left.schema().fields().len();
    Some(left_key.iter().copied().chain(right_key.iter().map(|c| c + offset)).collect())
}

fn aggregate_call(expression: &Expr) -> SqlResult<&Call> {
    match expression {
        Expr::Alias(alias) => aggregate_call(&alias.expr),
        Expr::AggregateFunction(call) => Ok(call),
        other => Err(SqlError::internal(format!("{other} is no aggregate"))),
    }
}

fn plan_call(
    call: &Call,
    schema: &DFSchemaRef,
    computed: &mut Vec<Expr>,
) -> SqlResult<AggregateCall> {
    let name = call.func.name();
    let function = match name {
        "count" => AggregateFunction::Count,
        "sum" => AggregateFunction::Sum,
        "avg" => AggregateFunction::Avg,
        "min" => AggregateFunction::Min,
        "max" => AggregateFunction::Max,
        _ => return Err(refused(format!("the aggregate function {name}()"))),
    };
    let params = &call.params;
    let [argument] = params.args.as_slice() else {
        return Err(refused(format!("{name}() of {} arguments", params.args.len())));
    };
    // count(*) is count(1) by now: whatever is never NULL is counted by rows.
    let counts_rows = function == AggregateFunction::Count
        && !params.distinct
        && matches!(argument, Expr::Literal(value, _) if !value.is_null());
    if matches!(argument.get_type(schema.as_ref())?, DataType::Null) {
        return Err(refused(format!("{name}(NULL)")));
    }
    let mut place = |expression: &Expr| {
        computed.push(expression.clone());
        computed.len() - 1
    };
    Ok(AggregateCall {
        function,
        argument: (!counts_rows).then(|| place(argument)),
        distinct: params.distinct
            && !matches!(function, AggregateFunction::Min | AggregateFunction::Max),
        filter: params.filter.as_deref().map(place),
    })
}

fn refused(what: impl std::fmt::Display) -> SqlError {
    SqlError::new(
        code::FEATURE_NOT_SUPPORTED,
        format!("{what} is not supported in a materialized view yet"),
    )
}

fn join_name(join: JoinType) -> &'static str {
    match join {
        JoinType::Inner => "INNER JOIN",
        JoinType::Left => "LEFT JOIN",
        JoinType::Right => "RIGHT JOIN",
        JoinType::Full => "FULL JOIN",
        JoinType::LeftSemi | JoinType::RightSemi => "IN or EXISTS with a subquery",
        JoinType::LeftAnti | JoinType::RightAnti => "NOT IN or NOT EXISTS with a subquery",
        JoinType::LeftMark | JoinType::RightMark => "a subquery in an expression",
    }
}

fn construct(plan: &LogicalPlan) -> String {
    match plan {
        LogicalPlan::Window(_) => "a window function".to_owned(),
        LogicalPlan::Limit(_) | LogicalPlan::Sort(_) => "LIMIT".to_owned(),
        LogicalPlan::Distinct(_) => "DISTINCT ON".to_owned(),
        LogicalPlan::RecursiveQuery(_) => "WITH RECURSIVE".to_owned(),
        LogicalPlan::Unnest(_) => "unnest()".to_owned(),
        LogicalPlan::Values(_) => "VALUES".to_owned(),
        LogicalPlan::EmptyRelation(_) => "a query that reads no relation".to_owned(),
        LogicalPlan::Subquery(_) => "LATERAL".to_owned(),
        other => format!("{}", other.display()),
    }
}

/// What the optimizer could not turn into a join.
fn subquery(expression: &Expr) -> Option<&'static str> {
    use datafusion::common::tree_node::TreeNode;
    let found = expression.exists(|e| {
        Ok(matches!(
            e,
            Expr::ScalarSubquery(_) | Expr::InSubquery(_) | Expr::Exists(_) | Expr::SetComparison(_)
        ))
    });
    found.unwrap_or(false).then_some("a subquery in an expression")
}
