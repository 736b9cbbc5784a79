//! FROM: joins, by hash where an equality allows it, and the conditions that WHERE sends into them.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::catalog::pg::{self, Row, Value};
use crate::error::SqlResult;
use crate::types::SqlType;

use super::evaluate::{Frame, Machine, Places, Tuple};
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
                let rows = match self.looked_up(select, *source, &rows, conditions, outer)? {
                    Some(found) => Rc::new(found),
                    None => rows,
                };
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

    /// The rows of a relation that a condition finds by one of its columns, if one does.
    fn looked_up(
        &self,
        select: &Select,
        source: usize,
        rows: &[Row],
        conditions: &[&Condition],
        outer: Option<&Frame<'_>>,
    ) -> SqlResult<Option<Vec<Row>>> {
        let SourceKind::Relation(relation) = &select.sources[source].kind else { return Ok(None) };
        for condition in conditions {
            let Some((column, wanted)) = Lookup::find(condition, source) else { continue };
            let frame = Frame { tuple: &[], slots: &[], outer };
            let value = self.evaluate(wanted, &frame)?;
            let is_number = kind_of_key(&relation.columns[column].sql_type) == Some(NUMBER);
            let value = match value {
                Value::Null => return Ok(Some(Vec::new())),
                Value::Text(text) if is_number => match text.trim().parse() {
                    Ok(number) => Value::Int(number),
                    Err(_) => continue,
                },
                Value::Int(_) | Value::Reg(..) if is_number => value,
                Value::Text(_) => value,
                _ => continue,
            };
            let places = self.places(relation.oid, column, rows);
            let found = places.get(&self.key(&value)).into_iter().flatten();
            return Ok(Some(found.map(|place| Arc::clone(&rows[*place])).collect()));
        }
        Ok(None)
    }

    /// Where each value of a relation's column is among its rows.
    fn places(&self, relation: u32, column: usize, rows: &[Row]) -> Rc<Places> {
        if let Some(places) = self.indexes.borrow().get(&(relation, column)) {
            return Rc::clone(places);
        }
        let mut places = Places::new();
        for (place, row) in rows.iter().enumerate() {
            if !row[column].is_null() {
                places.entry(self.key(&row[column])).or_default().push(place);
            }
        }
        let places = Rc::new(places);
        self.indexes.borrow_mut().insert((relation, column), Rc::clone(&places));
        places
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
        } else if let Some(probe) = Probe::find(select, join, &matching) {
            self.probe(select, join, &probe, left, [&right_conditions, &matching], outer)?
        } else {
            let right = self.tuples(select, join.right, &right_conditions, beside, outer)?;
            self.match_sides(join, left, right, &matching, outer)?
        };
        self.filter(joined, &after, outer)
    }

    /// As [`Machine::match_sides`], where the right side is a relation that a column looks up.
    fn probe(
        &self,
        select: &Select,
        join: &Join<'_>,
        probe: &Probe<'_>,
        left: Vec<Tuple>,
        conditions: [&[&Condition]; 2],
        outer: Option<&Frame<'_>>,
    ) -> SqlResult<Vec<Tuple>> {
        let rows = self.source_rows(select, probe.source, None, outer)?;
        let places = self.places(probe.relation, probe.column, &rows);
        let mut joined = Vec::new();
        for tuple in left {
            let frame = Frame { tuple: &tuple, slots: &[], outer };
            let value = self.evaluate(probe.left, &frame)?;
            let found = places.get(&self.key(&value)).filter(|_| !value.is_null());
            let mut met = false;
            for place in found.into_iter().flatten() {
                self.charge(1)?;
                let mut merged = tuple.clone();
                merged[probe.source] = Some(Arc::clone(&rows[*place]));
                let frame = Frame { tuple: &merged, slots: &[], outer };
                let mut holds = true;
                for condition in conditions.into_iter().flatten() {
                    holds = holds && self.holds(&condition.expression, &frame)?;
                }
                if holds {
                    met = true;
                    joined.push(merged);
                }
            }
            if !met && join.kind == JoinKind::Left {
                joined.push(tuple);
            }
        }
        Ok(joined)
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

/// A condition by which a relation's rows are found.
struct Lookup;

impl Lookup {
    /// The column of `source`, and what it must equal, which reads no row of this select.
    fn find<'t>(condition: &'t Condition, source: usize) -> Option<(usize, &'t Typed)> {
        let Node::Compare { comparison: Comparison::Equal, left, right } =
            &condition.expression.node
        else {
            return None;
        };
        let side = |column: &Typed, wanted: &'t Typed| {
            let Node::Column { level: 0, source: own, column: place } = &column.node else {
                return None;
            };
            let kind = kind_of_key(&column.sql_type)?;
            let fits = *own == source
                && wanted.node.sources() == 0
                && kind_of_key(&wanted.sql_type) == Some(kind);
            fits.then_some((*place, wanted))
        };
        side(left, right).or_else(|| side(right, left))
    }
}

/// A relation on the right of a join that is looked up by a column.
struct Probe<'t> {
    relation: u32,
    source: usize,
    column: usize,
    left: &'t Typed,
}

impl<'t> Probe<'t> {
    fn find(select: &Select, join: &Join<'_>, matching: &[&'t Condition]) -> Option<Self> {
        let From::Source(source) = join.right else { return None };
        let SourceKind::Relation(relation) = &select.sources[*source].kind else { return None };
        if !matches!(join.kind, JoinKind::Inner | JoinKind::Left) {
            return None;
        }
        let hash = HashSide::find(matching, join.left.sources(), join.right.sources())?;
        let Node::Column { level: 0, column, .. } = hash.right.node else { return None };
        Some(Self { relation: relation.oid, source: *source, column, left: hash.left })
    }
}

/// What numbers are to [`kind_of_key`].
const NUMBER: u8 = 1;

/// Types whose equal values have equal keys.
fn kind_of_key(sql_type: &SqlType) -> Option<u8> {
    Some(match sql_type {
        SqlType::SmallInt
        | SqlType::Integer
        | SqlType::BigInt
        | SqlType::Oid
        | SqlType::Xid
        | SqlType::Cid => NUMBER,
        alias if alias.is_oid_alias() => NUMBER,
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
