//! From DataFusion's optimized plan to the tree of incremental operators.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::SessionState;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Distinct, Expr, Filter, LogicalPlan, Projection, TableScan, Union};

use super::relation::object_of;
use super::scalar::{flowing_schema, in_view, physical};
use super::tree::{Tree, TreeKind};
use super::{aggregate, join, limit, recompute, unnest, volatile, window};
use crate::error::{SqlError, SqlResult};

/// Nodes of a plan below one another, at the most: each is a call on the stack.
const DEPTH_MAX: usize = 500;

/// Turns logical nodes into operators.
pub(super) struct Lowering<'a> {
    pub(super) state: &'a SessionState,
    depth: usize,
    /// Parts of the plan that are there more than once, and what they became.
    repeated: HashMap<LogicalPlan, Option<Tree>>,
}

impl<'a> Lowering<'a> {
    /// For the nodes of `plan`: those that are there more than once are made once.
    pub(super) fn new(state: &'a SessionState, plan: &LogicalPlan) -> SqlResult<Self> {
        let mut times: HashMap<&LogicalPlan, usize> = HashMap::new();
        plan.apply(|node| {
            if keeps_state(node) {
                *times.entry(node).or_default() += 1;
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        let repeated = times.into_iter().filter(|(_, times)| *times > 1);
        let repeated = repeated.map(|(node, _)| (node.clone(), None)).collect();
        Ok(Self { state, depth: 0, repeated })
    }

    /// The operators of `plan`. Their rows have its schema's columns, all nullable.
    pub(super) fn lower(&mut self, plan: &LogicalPlan) -> SqlResult<Tree> {
        if self.depth >= DEPTH_MAX {
            return Err(in_view("a query this deeply nested"));
        }
        let repeated = match self.repeated.get(plan) {
            Some(Some(tree)) => return Ok(tree.clone()),
            found => found.is_some(),
        };
        self.depth += 1;
        let tree = self.node(plan);
        self.depth -= 1;
        if !repeated {
            return tree;
        }
        let tree = tree?.shared();
        self.repeated.insert(plan.clone(), Some(tree.clone()));
        Ok(tree)
    }

    fn node(&mut self, plan: &LogicalPlan) -> SqlResult<Tree> {
        if recompute::is_constant(plan)? {
            return recompute::constant(self, plan);
        }
        if plan.expressions().iter().any(Expr::is_volatile) {
            return match plan {
                LogicalPlan::Projection(_) | LogicalPlan::Filter(_) => recompute::kept(self, plan),
                LogicalPlan::Join(join) => join::lower(self, join),
                _ => match volatile::below(plan)? {
                    Some(plan) => self.lower(&plan),
                    None => Err(in_view(&format!("a volatile function in {}", plan.display()))),
                },
            };
        }
        match plan {
            LogicalPlan::Projection(projection) => self.projection(projection),
            LogicalPlan::Filter(filter) => self.filter(filter),
            LogicalPlan::SubqueryAlias(alias) => self.lower(&alias.input),
            LogicalPlan::Subquery(_) => Err(in_view("a subquery in an expression")),
            LogicalPlan::TableScan(scan) => Self::scan(scan),
            LogicalPlan::Union(union) => self.union(union),
            LogicalPlan::Join(join) => join::lower(self, join),
            LogicalPlan::Aggregate(node) if aggregate::is_incremental(node) => {
                aggregate::lower(self, node)
            }
            LogicalPlan::Aggregate(node) => recompute::aggregate(self, node),
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let input = self.lower(input)?;
                Ok(aggregate::distinct(input))
            }
            LogicalPlan::Distinct(Distinct::On(distinct)) => limit::distinct_on(self, distinct),
            LogicalPlan::Sort(sort) => limit::sort(self, sort),
            LogicalPlan::Limit(node) => limit::limit(self, node),
            LogicalPlan::Repartition(repartition) => self.lower(&repartition.input),
            LogicalPlan::Window(node) => window::lower(self, node, None),
            LogicalPlan::Unnest(node) => unnest::lower(self, node),
            other => recompute::whole(self, other),
        }
    }

    fn projection(&mut self, projection: &Projection) -> SqlResult<Tree> {
        if let LogicalPlan::Filter(filter) = projection.input.as_ref()
            && let Some(input) = limit::numbered(self, filter, Some(projection))?
        {
            return self.project(projection, input);
        }
        let input = self.lower(&projection.input)?;
        self.project(projection, input)
    }

    /// `projection` over the operators of its input.
    pub(super) fn project(&self, projection: &Projection, input: Tree) -> SqlResult<Tree> {
        if projection.expr.is_empty() {
            // As in a scan: rows keep columns that nobody reads.
            return Ok(input);
        }
        let expressions = projection
            .expr
            .iter()
            .map(|expr| physical(self.state, expr, projection.input.schema()))
            .collect::<SqlResult<_>>()?;
        Ok(input.project(expressions, flowing_schema(&projection.schema)))
    }

    fn filter(&mut self, filter: &Filter) -> SqlResult<Tree> {
        if let Some(tree) = limit::numbered(self, filter, None)? {
            return Ok(tree);
        }
        let input = self.lower(&filter.input)?;
        let predicates = split_conjunction(&filter.predicate)
            .into_iter()
            .map(|predicate| physical(self.state, predicate, filter.input.schema()))
            .collect::<SqlResult<_>>()?;
        Ok(input.filter(predicates))
    }

    fn scan(scan: &TableScan) -> SqlResult<Tree> {
        if scan.fetch.is_some() {
            return Err(in_view("LIMIT"));
        }
        if !scan.filters.is_empty() {
            return Err(SqlError::internal("a filter was pushed into a job's relation"));
        }
        let object = object_of(&scan.source)?;
        let places = match &scan.projection {
            // Rows without columns would be hard to count: one that nobody reads comes along.
            Some(columns) if columns.is_empty() => vec![0],
            Some(columns) => columns.iter().map(|column| object.place(*column)).collect(),
            // A stored row may have more than it shows.
            None => object.places(),
        };
        Ok(Tree::scan(object).select(&places))
    }

    fn union(&mut self, union: &Union) -> SqlResult<Tree> {
        let schema = flowing_schema(&union.schema);
        let inputs = union
            .inputs
            .iter()
            .map(|input| Ok(self.lower(input)?.conform(&schema)))
            .collect::<SqlResult<Vec<_>>>()?;
        Ok(Tree {
            append_only: inputs.iter().all(|input| input.append_only),
            key: Vec::new(),
            schema: Arc::clone(&schema),
            kind: TreeKind::Union(inputs),
        })
    }
}

/// Whether a node becomes an operator that keeps rows: worth having only once.
fn keeps_state(node: &LogicalPlan) -> bool {
    !matches!(
        node,
        LogicalPlan::TableScan(_)
            | LogicalPlan::Filter(_)
            | LogicalPlan::Projection(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::EmptyRelation(_)
            | LogicalPlan::Values(_)
    )
}
