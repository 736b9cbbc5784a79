//! The order in which inner joins are made: clients list relations in any.
//!
//! A chain of inner joins starts with what a condition looks up, and goes on with what is joined to
//! it by an equality, so that each step finds few rows. Which rows come out does not depend on it.

use super::tree::{Comparison, Condition, From, JoinKind, Node, Select, SourceKind};

/// The tree with its chains of inner joins in a good order; `filter` is what WHERE asks.
pub(super) fn reorder(from: From, filter: &[Condition], select: &Select) -> From {
    match from {
        From::Source(_) => from,
        From::Join { kind: JoinKind::Inner, .. } => {
            let mut parts = Vec::new();
            let mut on = Vec::new();
            flatten(from, &mut parts, &mut on);
            let parts: Vec<From> =
                parts.into_iter().map(|part| reorder(part, filter, select)).collect();
            chain(parts, on, filter, select)
        }
        From::Join { left, right, kind, on } => From::Join {
            left: Box::new(reorder(*left, filter, select)),
            right: Box::new(reorder(*right, filter, select)),
            kind,
            on,
        },
    }
}

fn flatten(from: From, parts: &mut Vec<From>, conditions: &mut Vec<Condition>) {
    match from {
        From::Join { left, right, kind: JoinKind::Inner, on } => {
            flatten(*left, parts, conditions);
            flatten(*right, parts, conditions);
            conditions.extend(on);
        }
        other => parts.push(other),
    }
}

fn chain(
    mut parts: Vec<From>,
    mut on: Vec<Condition>,
    filter: &[Condition],
    select: &Select,
) -> From {
    let movable = parts.iter().all(|part| stands_alone(part, select));
    let mut first = 0;
    if movable {
        let looked_up = |part: &From| {
            let mut all = on.iter().chain(filter);
            all.any(|one| one.sources & !part.sources() == 0 && is_equality(one))
        };
        first = parts.iter().position(looked_up).unwrap_or(0);
    }
    let mut tree = parts.remove(first);
    while !parts.is_empty() {
        let joined = tree.sources();
        let is_near = |part: &From| {
            let both = joined | part.sources();
            on.iter().chain(filter).any(|one| {
                let reads = |sources: u64| one.sources & sources != 0;
                one.sources & !both == 0
                    && reads(joined)
                    && reads(part.sources())
                    && is_equality(one)
            })
        };
        let next = if movable { parts.iter().position(is_near).unwrap_or(0) } else { 0 };
        let right = parts.remove(next);
        let both = joined | right.sources();
        let (here, later): (Vec<_>, Vec<_>) =
            on.into_iter().partition(|one| one.sources & !both == 0 || parts.is_empty());
        on = later;
        let (left, right) = (Box::new(tree), Box::new(right));
        tree = From::Join { left, right, kind: JoinKind::Inner, on: here };
    }
    tree
}

fn is_equality(condition: &Condition) -> bool {
    let comparison = &condition.expression.node;
    matches!(comparison, Node::Compare { comparison: Comparison::Equal, .. })
}

/// Whether a part may read nothing of its neighbours.
fn stands_alone(part: &From, select: &Select) -> bool {
    match part {
        From::Join { left, right, .. } => stands_alone(left, select) && stands_alone(right, select),
        From::Source(source) => match &select.sources[*source].kind {
            SourceKind::Relation(_) | SourceKind::Cte(_) => true,
            SourceKind::Derived(query) => !query.lateral,
            SourceKind::Series { arguments, .. } => {
                arguments.iter().all(|one| one.node.sources() == 0)
            }
        },
    }
}
