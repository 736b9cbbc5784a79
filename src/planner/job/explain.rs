//! `EXPLAIN CREATE MATERIALIZED VIEW`: the graph as text, the last fragment first.
//!
//! ```text
//! Fragment 1 (hash, 2 actors)
//!   Materialize #5: key=[0], vnodes=[0]
//!     Aggregate #4: group=[0], count(*), append-only input; state 4.0
//!       Input 0 from fragment 0: hash [0]
//! ```

use std::fmt::Write;

use crate::catalog::Catalog;
use crate::graph::{
    Aggregate, AggregateCall, AggregateFunction, Distribution, Exchange, Fragment, Job, Node,
    NodeKind, Upstream,
};

/// The graph, a line a string.
pub fn explain(job: &Job, catalog: &Catalog) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, fragment) in job.fragments.iter().enumerate().rev() {
        let actors = match fragment.distribution {
            Distribution::Single => "1 actor".to_owned(),
            Distribution::Hash => format!("{} actors", job.parallelism),
        };
        lines.push(format!("Fragment {number} ({actors})"));
        node_lines(fragment, fragment.nodes.len() - 1, 1, catalog, &mut lines);
    }
    lines
}

fn node_lines(
    fragment: &Fragment,
    index: usize,
    depth: usize,
    catalog: &Catalog,
    lines: &mut Vec<String>,
) {
    let node = &fragment.nodes[index];
    let mut line = format!("{}{}", "  ".repeat(depth), describe(fragment, node, catalog));
    if node.append_only {
        line.push_str(", append-only");
    }
    lines.push(line);
    for input in &node.inputs {
        node_lines(fragment, *input, depth + 1, catalog, lines);
    }
}

fn describe(fragment: &Fragment, node: &Node, catalog: &Catalog) -> String {
    let id = node.id;
    match &node.kind {
        NodeKind::Input(port) => {
            let input = &fragment.inputs[*port];
            let from = match input.from {
                Upstream::Fragment(number) => format!("fragment {number}"),
                Upstream::Object(object) => match catalog.object(object) {
                    Some(found) => format!("{} {}", found.kind_name(), found.name.name),
                    None => format!("object {}", object.0),
                },
            };
            let exchange = match &input.exchange {
                Exchange::Single => "single".to_owned(),
                Exchange::Spread => "spread".to_owned(),
                Exchange::Hash(columns) => format!("hash {columns:?}"),
            };
            format!("Input #{id} from {from}: {exchange}")
        }
        NodeKind::Map(map) => {
            let mut text = format!("Map #{id}");
            let join = |expressions: &[_]| {
                let texts: Vec<String> =
                    expressions.iter().map(std::string::ToString::to_string).collect();
                texts.join(", ")
            };
            if let Some(expressions) = &map.expressions {
                // Writing to a string does not fail.
                write!(text, ": [{}]", join(expressions)).ok();
            }
            if !map.predicates.is_empty() {
                write!(text, " where {}", join(&map.predicates)).ok();
            }
            text
        }
        NodeKind::Union => format!("Union #{id}"),
        NodeKind::Join(join) => format!(
            "Join #{id}: {:?} = {:?}{}; state {id}.0, {id}.1",
            join.left_key,
            join.right_key,
            if join.null_equal { ", NULL equals NULL" } else { "" }
        ),
        NodeKind::Aggregate(aggregate) => describe_aggregate(id, aggregate),
        NodeKind::Materialize(materialize) => format!(
            "Materialize #{id}: {}, vnodes by {:?}; state 0.0",
            match materialize.key.as_slice() {
                [] => "multiset".to_owned(),
                key => format!("key {key:?}"),
            },
            materialize.distribution
        ),
    }
}

fn describe_aggregate(id: u16, aggregate: &Aggregate) -> String {
    let calls: Vec<String> = aggregate.calls.iter().map(describe_call).collect();
    let mut text = format!("Aggregate #{id}: group {:?}", aggregate.group);
    if !calls.is_empty() {
        text.push_str(&format!(", {}", calls.join(", ")));
    }
    text.push_str(&format!("; state {id}.*"));
    text
}

fn describe_call(call: &AggregateCall) -> String {
    let name = match call.function {
        AggregateFunction::Count => "count",
        AggregateFunction::Sum => "sum",
        AggregateFunction::Avg => "avg",
        AggregateFunction::Min => "min",
        AggregateFunction::Max => "max",
    };
    let distinct = if call.distinct { "distinct " } else { "" };
    let argument = call.argument.map_or("*".to_owned(), |column| column.to_string());
    let filter = call.filter.map_or(String::new(), |column| format!(" filter {column}"));
    format!("{name}({distinct}{argument}){filter}")
}
