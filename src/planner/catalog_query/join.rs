//! FROM: joins, by hash where an equality allows it, and the conditions that WHERE sends into them.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::catalog::pg::{self, Row, Value};
use crate::error::SqlResult;
use crate::types::SqlType;

use super::evaluate::{Frame, Machine, Tuple};
use super::run::Key;
use super::tree::{Comparison, Condition, From, JoinKind, Node, Select, SourceKind, Typed, bit};

impl Machine<'_> {
    pub(super) fn filter(
        &self,
        mut tuples: Vec<Tuple>,
        conditions: &[&Condition],
        outer: Option<&Frame<'_>>,
    ) -> SqlResult<Vec<Tuple>> {
        for condition in conditions {
            let mut kept = Vec::with_capacity(tuples.len());
            for tuple in tuples {
                let frame = Frame { tuple: &tuple, slots: &[], outer };
                if self.holds(&condition.expression, &frame)? {
                    kept.push(tuple);
                }
            }
            tuples = kept;
        }
        Ok(tuples)
    }

    /// The joined rows of a tree that meet `conditions`, which read no other sources. `beside` is
    /// the row so far, which lateral sources read.
    pub(super) fn tuples(
        &self,
        select: &Select,
        from: &From,
        conditions: &[&Condition],
        beside: Option<&[Option<Row>]>,
        outer: Option<&Frame<'_>>,
    ) -> SqlResult<Vec<Tuple>> {
        match from {
            From::Source(source) => {
                let rows = self.source_rows(select, *source, beside, outer)?;
                self.charge(rows.len())?;
                let blank: Tuple = match beside {
                    Some(beside) => beside.to_vec(),
                    None => vec![None; select.sources.len()],
                };
                let tuples = rows
                    .iter()
                    .map(|row| {
                        let mut tuple = blank.clone();
                        tuple[*source] = Some(Arc::clone(row));
                        tuple
                    })
                    .collect();
                self.filter(tuples, conditions, outer)
            }
            From::Join { left, right, kind, on } => {
                let join = Join { left, right, kind: *kind, on };
                self.join(select, &join, conditions, beside, outer)
            }
        }
    }

    fn source_rows(
        &self,
        select: &Select,
        source: usize,
        beside: Option<&[Option<Row>]>,
        outer: Option<&Frame<'_>>,
    ) -> SqlResult<Rc<Vec<Row>>> {
        let frame = Frame { tuple: beside.unwrap_or(&[]), slots: &[], outer };
        match &select.sources[source].kind {
            SourceKind::Relation(relation) => {
                if let Some(rows) = self.relations.borrow().get(&relation.oid) {
                    return Ok(Rc::clone(rows));
                }
                let rows = Rc::new(pg::rows(relation, self.context)?);
                self.relations.borrow_mut().insert(relation.oid, Rc::clone(&rows));
                Ok(rows)
            }
            SourceKind::Cte(id) => Ok(self.ctes.borrow().get(id).cloned().unwrap_or_default()),
            SourceKind::Derived(query) => Ok(Rc::new(self.run(query, Some(&frame))?)),
            SourceKind::Series { series, arguments, ordinality } => {
                let arguments = self.evaluate_all(arguments, &frame)?;
                let mut rows = series.rows(self.context, &arguments)?;
                if *ordinality {
                    for (number, row) in (1..).zip(&mut rows) {
                        *row = row.iter().cloned().chain([Value::Int(number)]).collect();
                    }
                }
                Ok(Rc::new(rows))
            }
        }
    }

    fn join(
        &self,
        select: &Select,
        join: &Join<'_>,
        conditions: &[&Condition],
        beside: Option<&[Option<Row>]>,
        outer: Option<&Frame<'_>>,
    ) -> SqlResult<Vec<Tuple>> {
        let (left_sources, right_sources) = (join.left.sources(), join.right.sources());
        let of_left = |one: &Condition| one.sources & !left_sources == 0;
        let of_right = |one: &Condition| one.sources & !right_sources == 0;
        let mut left_conditions = Vec::new();
        let mut right_conditions = Vec::new();
        let mut matching = Vec::new();
        let mut after = Vec::new();
        for condition in conditions.iter().copied() {
            // A condition may go below only where no row that it drops could come back as NULLs.
            match join.kind {
                JoinKind::Inner | JoinKind::Left if of_left(condition) => {
                    left_conditions.push(condition);
                }
                JoinKind::Inner | JoinKind::Right if of_right(condition) => {
                    right_conditions.push(condition);
                }
                JoinKind::Inner => matching.push(condition),
                _ => after.push(condition),
            }
        }
        for condition in join.on {
            match join.kind {
                JoinKind::Inner if of_left(condition) => left_conditions.push(condition),
                JoinKind::Inner | JoinKind::Left if of_right(condition) => {
                    right_conditions.push(condition);
                }
                _ => matching.push(condition),
            }
        }
        let left = self.tuples(select, join.left, &left_conditions, beside, outer)?;
        let joined = if is_lateral(select, join.right) {
            let mut joined = Vec::new();
            for tuple in left {
                let right =
                    self.tuples(select, join.right, &right_conditions, Some(&tuple), outer)?;
                let right = self.filter(right, &matching, outer)?;
                if right.is_empty() && join.kind == JoinKind::Left {
                    joined.push(tuple);
                }
                joined.extend(right);
            }
            joined
        } else {
            let right = self.tuples(select, join.right, &right_conditions, beside, outer)?;
            self.match_sides(join, left, right, &matching, outer)?
        };
        self.filter(joined, &after, outer)
    }

    /// Each pair that meets the conditions, and what an outer join keeps without a partner.
    fn match_sides(
        &self,
        join: &Join<'_>,
        left: Vec<Tuple>,
        right: Vec<Tuple>,
        matching: &[&Condition],
        outer: Option<&Frame<'_>>,
    ) -> SqlResult<Vec<Tuple>> {
        let right_sources = join.right.sources();
        let hash = HashSide::find(matching, join.left.sources(), right_sources);
        let mut by_key: HashMap<Key, Vec<usize>> = HashMap::new();
        if let Some(hash) = &hash {
            for (position, tuple) in right.iter().enumerate() {
                let frame = Frame { tuple, slots: &[], outer };
                let value = self.evaluate(hash.right, &frame)?;
                if !value.is_null() {
                    by_key.entry(self.key(&value)).or_default().push(position);
                }
            }
        }
        let everything: Vec<usize> =
            if hash.is_none() { (0..right.len()).collect() } else { vec![] };
        let mut partnered = vec![false; right.len()];
        let mut joined = Vec::new();
        for tuple in left {
            let candidates = match &hash {
                None => &everything,
                Some(hash) => {
                    let frame = Frame { tuple: &tuple, slots: &[], outer };
                    let value = self.evaluate(hash.left, &frame)?;
                    match by_key.get(&self.key(&value)).filter(|_| !value.is_null()) {
                        Some(found) => found,
                        None => &Vec::new(),
                    }
                }
            };
            self.charge(candidates.len())?;
            let mut met = false;
            for position in candidates {
                let merged = merge(&tuple, &right[*position], right_sources);
                let frame = Frame { tuple: &merged, slots: &[], outer };
                let mut holds = true;
                for condition in matching {
                    holds = holds && self.holds(&condition.expression, &frame)?;
                }
                if holds {
                    met = true;
                    partnered[*position] = true;
                    joined.push(merged);
                }
            }
            if !met && matches!(join.kind, JoinKind::Left | JoinKind::Full) {
                joined.push(tuple);
            }
        }
        if matches!(join.kind, JoinKind::Right | JoinKind::Full) {
            let alone = right.into_iter().zip(partnered).filter(|(_, partnered)| !partnered);
            joined.extend(alone.map(|(tuple, _)| tuple));
        }
        Ok(joined)
    }
}

/// A join in a FROM.
struct Join<'t> {
    left: &'t From,
    right: &'t From,
    kind: JoinKind,
    on: &'t [Condition],
}

/// An equality by which the right side is looked up.
struct HashSide<'t> {
    left: &'t Typed,
    right: &'t Typed,
}

impl<'t> HashSide<'t> {
    fn find(conditions: &[&'t Condition], left: u64, right: u64) -> Option<Self> {
        conditions.iter().find_map(|condition| {
            let Node::Compare { comparison: Comparison::Equal, left: a, right: b } =
                &condition.expression.node
            else {
                return None;
            };
            if kind_of_key(&a.sql_type)? != kind_of_key(&b.sql_type)? {
                return None;
            }
            let (of_a, of_b) = (a.node.sources(), b.node.sources());
            let only = |sources: u64, side: u64| sources != 0 && sources & !side == 0;
            if only(of_a, left) && only(of_b, right) {
                Some(HashSide { left: a, right: b })
            } else if only(of_b, left) && only(of_a, right) {
                Some(HashSide { left: b, right: a })
            } else {
                None
            }
        })
    }
}

/// Types whose equal values have equal keys.
fn kind_of_key(sql_type: &SqlType) -> Option<u8> {
    Some(match sql_type {
        SqlType::SmallInt
        | SqlType::Integer
        | SqlType::BigInt
        | SqlType::Oid
        | SqlType::Regclass
        | SqlType::Regtype
        | SqlType::Regproc => 1,
        SqlType::Text | SqlType::Name | SqlType::Varchar(_) | SqlType::InternalChar => 2,
        _ => return None,
    })
}

fn merge(left: &[Option<Row>], right: &[Option<Row>], right_sources: u64) -> Tuple {
    left.iter()
        .zip(right)
        .enumerate()
        .map(
            |(source, (left, right))| {
                if right_sources & bit(source) != 0 { right.clone() } else { left.clone() }
            },
        )
        .collect()
}

/// Whether a tree's rows depend on the sources before it.
fn is_lateral(select: &Select, from: &From) -> bool {
    match from {
        From::Join { left, right, .. } => is_lateral(select, left) || is_lateral(select, right),
        From::Source(source) => match &select.sources[*source].kind {
            SourceKind::Series { arguments, .. } => {
                arguments.iter().any(|one| one.node.sources() != 0)
            }
            SourceKind::Derived(query) => query.lateral,
            SourceKind::Relation(_) | SourceKind::Cte(_) => false,
        },
    }
}
