//! `EXPLAIN CREATE MATERIALIZED VIEW`: the job as text, the view at the top.

use std::fmt::Write;

use arrow::datatypes::SchemaRef;

use crate::catalog::Catalog;
use crate::graph::{
    Aggregate, AggregateCall, AggregateFunction, Distribution, Exchange, Fragment, Input, Job,
    JoinKind, Map, Materialize, Node, NodeKind, Order, TopN, Upstream, Window,
};

/// What is known of node `.1` of fragment `.0` while it runs.
pub type NodeFacts<'a> = dyn Fn(usize, usize) -> Option<String> + 'a;

/// A line a node, under a line a fragment.
pub fn explain(job: &Job, catalog: &Catalog) -> Vec<String> {
    explain_running(job, catalog, &|_, _| None)
}

/// The same, with what is known of each node.
pub fn explain_running(job: &Job, catalog: &Catalog, facts: &NodeFacts<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, fragment) in job.fragments.iter().enumerate().rev() {
        let actors = match fragment.distribution {
            Distribution::Hash if job.parallelism > 1 => format!("{} actors", job.parallelism),
            Distribution::Hash | Distribution::Single => "1 actor".to_owned(),
        };
        lines.push(format!("Fragment {index}: {actors}"));
        let facts = |node| facts(index, node);
        let mut nodes = Nodes { lines: &mut lines, fragment, catalog, facts: &facts };
        nodes.explain(fragment.nodes.len() - 1, 1);
    }
    lines
}

/// A fragment's nodes being written.
struct Nodes<'a> {
    lines: &'a mut Vec<String>,
    fragment: &'a Fragment,
    catalog: &'a Catalog,
    facts: &'a dyn Fn(usize) -> Option<String>,
}

impl Nodes<'_> {
    fn explain(&mut self, index: usize, depth: usize) {
        let node = &self.fragment.nodes[index];
        let mut content = format!("{} #{}", what(node, self.fragment, self.catalog), node.id);
        if node.append_only {
            content.push_str(", append-only");
        }
        if let Some(state) = state(&node.kind) {
            let _ = write!(content, "; state: {state}");
        }
        let indent = depth * 2;
        self.lines.push(format!("{:indent$}{content}", ""));
        if let Some(facts) = (self.facts)(index) {
            self.lines.push(format!("{:indent$}  ({facts})", ""));
        }
        for &input in &node.inputs {
            self.explain(input, depth + 1);
        }
    }
}

fn what(node: &Node, fragment: &Fragment, catalog: &Catalog) -> String {
    let input_schema = |port: usize| &fragment.nodes[node.inputs[port]].schema;
    match &node.kind {
        NodeKind::Input(port) => input(&fragment.inputs[*port], catalog),
        NodeKind::Map(map) => explain_map(map, &node.schema),
        NodeKind::Union => "Union".to_owned(),
        NodeKind::Join(join) => {
            let equal = if join.null_equal { "is not distinct from" } else { "=" };
            let keys = join.left_key.iter().zip(&join.right_key).map(|(&left, &right)| {
                format!(
                    "{} {equal} {}",
                    input_schema(0).field(left).name(),
                    input_schema(1).field(right).name()
                )
            });
            let name = match join.kind {
                JoinKind::Inner => "Join",
                JoinKind::Left => "Left join",
                JoinKind::Right => "Right join",
                JoinKind::Full => "Full join",
                JoinKind::LeftSemi => "Semi join",
                JoinKind::LeftAnti => "Anti join",
            };
            let mut text = match join.left_key.is_empty() {
                true => format!("{name} of all rows"),
                false => format!("{name} on {}", keys.collect::<Vec<_>>().join(", ")),
            };
            if let Some(filter) = &join.filter {
                let _ = write!(text, ", where {filter}");
            }
            text
        }
        NodeKind::Aggregate(aggregate) => explain_aggregate(aggregate, input_schema(0)),
        NodeKind::Expand(_) => "Unnest".to_owned(),
        NodeKind::TopN(top) => explain_top(top, &node.schema),
        NodeKind::Window(window) => explain_window(window, &node.schema),
        NodeKind::Recompute(recompute) => {
            let what = match recompute.output_partition.as_slice() {
                [] => "all rows".to_owned(),
                columns => format!("changed {}", names(&node.schema, columns)),
            };
            format!("Recompute {what}: {}", recompute.name)
        }
        NodeKind::Constant(constant) => format!("Constant: {} rows", constant.rows.num_rows()),
        NodeKind::Materialize(materialize) => explain_materialize(materialize, &node.schema),
    }
}

fn input(input: &Input, catalog: &Catalog) -> String {
    let from = match input.from {
        Upstream::Fragment(index) => format!("fragment {index}"),
        Upstream::Object(id) => catalog.object(id).map_or_else(
            || format!("object {}", id.0),
            |object| format!("{} {}", object.kind_name(), object.name.name),
        ),
    };
    match &input.exchange {
        Exchange::Single => format!("Input from {from}, all to one"),
        Exchange::Hash(columns) => {
            format!("Input from {from}, by hash of {}", names(&input.schema, columns))
        }
        Exchange::Spread => format!("Input from {from}, spread"),
    }
}

fn explain_map(map: &Map, schema: &SchemaRef) -> String {
    let mut parts = Vec::new();
    if let Some(expressions) = &map.expressions {
        let columns = expressions.iter().zip(schema.fields()).map(|(expression, field)| {
            let expression = expression.to_string();
            let plain = expression.split('@').next() == Some(field.name());
            if plain { field.name().clone() } else { format!("{expression} as {}", field.name()) }
        });
        parts.push(format!("Map {}", columns.collect::<Vec<_>>().join(", ")));
    }
    if !map.predicates.is_empty() {
        let predicates: Vec<_> = map.predicates.iter().map(ToString::to_string).collect();
        let word = if parts.is_empty() { "Filter" } else { "where" };
        parts.push(format!("{word} {}", predicates.join(" AND ")));
    }
    parts.join(" ")
}

fn explain_aggregate(aggregate: &Aggregate, input: &SchemaRef) -> String {
    let calls: Vec<_> = aggregate.calls.iter().map(|call| explain_call(call, input)).collect();
    let mut text = match aggregate.group.as_slice() {
        [] => "Aggregate".to_owned(),
        group => format!("Aggregate by {}", names(input, group)),
    };
    if !calls.is_empty() {
        let _ = write!(text, ": {}", calls.join(", "));
    }
    text
}

fn explain_call(call: &AggregateCall, input: &SchemaRef) -> String {
    let function = match call.function {
        AggregateFunction::Count => "count",
        AggregateFunction::Sum => "sum",
        AggregateFunction::Avg => "avg",
        AggregateFunction::Min => "min",
        AggregateFunction::Max => "max",
        AggregateFunction::VarSamp => "var_samp",
        AggregateFunction::VarPop => "var_pop",
        AggregateFunction::StddevSamp => "stddev_samp",
        AggregateFunction::StddevPop => "stddev_pop",
    };
    let distinct = if call.distinct { "distinct " } else { "" };
    let argument = call.argument.map_or("*", |column| input.field(column).name().as_str());
    let filter = call
        .filter
        .map(|column| format!(" filter (where {})", input.field(column).name()))
        .unwrap_or_default();
    format!("{function}({distinct}{argument}){filter}")
}

fn explain_materialize(materialize: &Materialize, schema: &SchemaRef) -> String {
    let key = match materialize.key.as_slice() {
        [] => "no key".to_owned(),
        key => format!("key {}", names(schema, key)),
    };
    let distribution = match materialize.distribution.as_slice() {
        [] => "in one place".to_owned(),
        columns => format!("by hash of {}", names(schema, columns)),
    };
    format!("Materialize, {key}, {distribution}")
}

fn explain_top(top: &TopN, schema: &SchemaRef) -> String {
    let mut text = "Top".to_owned();
    if let Some(limit) = top.limit {
        let _ = write!(text, " {limit}");
    }
    if top.with_ties {
        text.push_str(" with ties");
    }
    if top.offset > 0 {
        let _ = write!(text, " after {}", top.offset);
    }
    if !top.group.is_empty() {
        let _ = write!(text, " of each {}", names(schema, &top.group));
    }
    text.push_str(&explain_order(&top.order, schema));
    text
}

fn explain_window(window: &Window, schema: &SchemaRef) -> String {
    let mut text = format!("Window {}", window.name);
    if !window.partition.is_empty() {
        let _ = write!(text, " of each {}", names(schema, &window.partition));
    }
    text.push_str(&explain_order(&window.order, schema));
    text
}

fn explain_order(order: &[Order], schema: &SchemaRef) -> String {
    let order = order.iter().map(|order| {
        let direction = if order.descending { " desc" } else { "" };
        // As SQL has it: NULLs come last, but first where the order descends.
        let nulls = match (order.nulls_first, order.descending) {
            (true, false) => " nulls first",
            (false, true) => " nulls last",
            _ => "",
        };
        format!("{}{direction}{nulls}", schema.field(order.column).name())
    });
    let order = order.collect::<Vec<_>>().join(", ");
    if order.is_empty() { order } else { format!(" by {order}") }
}

/// The tables in which a node keeps what it must remember.
fn state(kind: &NodeKind) -> Option<&'static str> {
    match kind {
        NodeKind::Join(_) => Some("left rows, right rows"),
        NodeKind::Aggregate(aggregate) => {
            let keeps_values = aggregate.calls.iter().any(|call| {
                let extreme =
                    matches!(call.function, AggregateFunction::Min | AggregateFunction::Max);
                call.distinct || (extreme && !aggregate.append_only_input)
            });
            Some(if keeps_values { "groups, values" } else { "groups" })
        }
        NodeKind::Materialize(_) => Some("rows"),
        NodeKind::TopN(_) => Some("ordered rows"),
        NodeKind::Window(_) => Some("ordered rows with results, failures"),
        NodeKind::Recompute(_) => Some("rows, result, failures"),
        NodeKind::Constant(_) => Some("whether it was given"),
        NodeKind::Input(_) | NodeKind::Map(_) | NodeKind::Union | NodeKind::Expand(_) => None,
    }
}

fn names(schema: &SchemaRef, columns: &[usize]) -> String {
    let names: Vec<_> =
        columns.iter().map(|&column| schema.field(column).name().as_str()).collect();
    format!("({})", names.join(", "))
}
