//! Sequences: what their statements say, checked by PostgreSQL's rules and in its words, and the
//! arithmetic of the numbers they give.
//!
//! Nothing here knows where a sequence stands, or keeps it: that is `engine::sequences`.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{SqlError, SqlResult, code};
use crate::types::{ObjectId, SqlType};

/// A sequence: by which rules it gives numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    /// `smallint`, `integer` or `bigint`.
    pub sql_type: SqlType,
    pub start: i64,
    pub increment: i64,
    pub min: i64,
    pub max: i64,
    pub cache: i64,
    pub cycle: bool,
    /// The column with which it goes.
    pub owned_by: Option<OwnedBy>,
}

/// The column that a sequence belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnedBy {
    pub table: ObjectId,
    pub column: usize,
    /// Whether it is what numbers an identity column, rather than what was made OWNED BY one.
    pub identity: bool,
}

/// Where a sequence stands: the number it gave last, or, not `called`, the one it gives next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    pub last: i64,
    pub called: bool,
}

/// What CREATE SEQUENCE and ALTER SEQUENCE say of the numbers; `None` where they say nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SequenceOptions {
    pub sql_type: Option<SqlType>,
    pub increment: Option<i64>,
    /// `Some(None)` is NO MINVALUE.
    pub min: Option<Option<i64>>,
    pub max: Option<Option<i64>>,
    pub start: Option<i64>,
    /// `Some(None)` is RESTART without a number.
    pub restart: Option<Option<i64>>,
    pub cache: Option<i64>,
    pub cycle: Option<bool>,
}

/// How a stored expression writes a sequence: by its OID, so that it finds it under every name.
pub fn written(sequence: ObjectId) -> String {
    format!("'{}'::regclass", sequence.0)
}

/// A stored expression with the names of its sequences, as `name` has them, quoted where need be.
pub fn with_names(text: &str, name: impl Fn(ObjectId) -> Option<String>) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut from = 0;
    for (place, sequence) in sequences_in(text) {
        let Some(name) = name(sequence) else { continue };
        shown.push_str(&text[from..place.start]);
        shown.push_str(&format!("'{}'::regclass", name.replace('\'', "''")));
        from = place.end;
    }
    shown + &text[from..]
}

/// The sequences that a stored expression names, and where.
pub fn sequences_in(text: &str) -> Vec<(Range<usize>, ObjectId)> {
    const AFTER: &str = "'::regclass";
    let found = text.match_indices(AFTER).filter_map(|(end, _)| {
        let digits = text[..end].bytes().rev().take_while(u8::is_ascii_digit).count();
        let start = (end - digits).checked_sub(1)?;
        let id = text[start + 1..end].parse().ok()?;
        text[start..].starts_with('\'').then(|| (start..end + AFTER.len(), ObjectId(id)))
    });
    found.collect()
}

/// Least and greatest of a type that sequences can have.
fn bounds(sql_type: &SqlType) -> Option<(i64, i64)> {
    match sql_type {
        SqlType::SmallInt => Some((i64::from(i16::MIN), i64::from(i16::MAX))),
        SqlType::Integer => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
        SqlType::BigInt => Some((i64::MIN, i64::MAX)),
        _ => None,
    }
}

fn invalid(message: String) -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

impl Sequence {
    /// A new sequence. `what` is what is numbered: `sequence` or `identity column`.
    pub fn new(options: &SequenceOptions, what: &str) -> SqlResult<Self> {
        let blank = Self {
            sql_type: SqlType::BigInt,
            start: 1,
            increment: 1,
            min: 1,
            max: i64::MAX,
            cache: 1,
            cycle: false,
            owned_by: None,
        };
        // With nothing said all is as for a new one: the bounds and the start follow.
        let defaults = SequenceOptions {
            sql_type: Some(options.sql_type.clone().unwrap_or(SqlType::BigInt)),
            min: Some(options.min.flatten()),
            max: Some(options.max.flatten()),
            ..options.clone()
        };
        let mut new = blank.with_options(&defaults, what)?;
        if options.start.is_none() {
            new.start = if new.increment > 0 { new.min } else { new.max };
        }
        new.check_start()?;
        Ok(new)
    }

    /// As ALTER SEQUENCE makes it.
    pub fn altered(&self, options: &SequenceOptions, position: Position) -> SqlResult<Self> {
        let what = match self.owned_by {
            Some(OwnedBy { identity: true, .. }) => "identity column",
            _ => "sequence",
        };
        let new = self.with_options(options, what)?;
        new.check_start()?;
        let last = match options.restart {
            Some(to) => to.unwrap_or(new.start),
            None => position.last,
        };
        if last < new.min {
            let bound = new.min;
            let message = format!("RESTART value ({last}) cannot be less than MINVALUE ({bound})");
            return Err(invalid(message));
        }
        if last > new.max {
            let bound = new.max;
            let message =
                format!("RESTART value ({last}) cannot be greater than MAXVALUE ({bound})");
            return Err(invalid(message));
        }
        Ok(new)
    }

    fn with_options(&self, options: &SequenceOptions, what: &str) -> SqlResult<Self> {
        let mut new = self.clone();
        let (mut reset_min, mut reset_max) = (false, false);
        if let Some(sql_type) = &options.sql_type {
            if bounds(sql_type).is_none() {
                let message = format!("{what} type must be smallint, integer, or bigint");
                return Err(invalid(message));
            }
            // A bound that is the old type's gives way to the new type's.
            let (least, greatest) = bounds(&self.sql_type).unwrap_or((i64::MIN, i64::MAX));
            reset_min = self.min == least;
            reset_max = self.max == greatest;
            new.sql_type = sql_type.clone();
        }
        let (least, greatest) = bounds(&new.sql_type).unwrap_or((i64::MIN, i64::MAX));
        new.increment = options.increment.unwrap_or(new.increment);
        if new.increment == 0 {
            return Err(invalid("INCREMENT must not be zero".to_owned()));
        }
        new.cycle = options.cycle.unwrap_or(new.cycle);
        let ascending = new.increment > 0;
        match options.max {
            Some(Some(max)) => new.max = max,
            Some(None) => new.max = if ascending { greatest } else { -1 },
            None if reset_max => new.max = if ascending { greatest } else { -1 },
            None => {}
        }
        match options.min {
            Some(Some(min)) => new.min = min,
            Some(None) => new.min = if ascending { 1 } else { least },
            None if reset_min => new.min = if ascending { 1 } else { least },
            None => {}
        }
        for (bound, value) in [("MAXVALUE", new.max), ("MINVALUE", new.min)] {
            if !(least..=greatest).contains(&value) {
                let sql_type = &new.sql_type;
                return Err(invalid(format!(
                    "{bound} ({value}) is out of range for sequence data type {sql_type}"
                )));
            }
        }
        if new.min >= new.max {
            let (min, max) = (new.min, new.max);
            return Err(invalid(format!("MINVALUE ({min}) must be less than MAXVALUE ({max})")));
        }
        new.start = options.start.unwrap_or(new.start);
        new.cache = options.cache.unwrap_or(new.cache);
        if new.cache <= 0 {
            return Err(invalid(format!("CACHE ({}) must be greater than zero", new.cache)));
        }
        Ok(new)
    }

    fn check_start(&self) -> SqlResult<()> {
        let Self { start, min, max, .. } = *self;
        if start < min {
            let message = format!("START value ({start}) cannot be less than MINVALUE ({min})");
            return Err(invalid(message));
        }
        if start > max {
            let message = format!("START value ({start}) cannot be greater than MAXVALUE ({max})");
            return Err(invalid(message));
        }
        Ok(())
    }

    /// Where a new one stands.
    pub fn beginning(&self) -> Position {
        Position { last: self.start, called: false }
    }

    /// Where it goes on when it has come to its end, if it cycles.
    pub fn around(&self) -> Option<Position> {
        let last = if self.increment > 0 { self.min } else { self.max };
        self.cycle.then_some(Position { last, called: false })
    }

    /// Where it stands after `count` numbers more, or as many as there are before its end; and how
    /// many those are.
    pub fn after(&self, from: Position, count: u64) -> (Position, u64) {
        if count == 0 {
            return (from, 0);
        }
        let own = u64::from(!from.called);
        let bound = if self.increment > 0 { self.max } else { self.min };
        let room = (i128::from(bound) - i128::from(from.last)) / i128::from(self.increment);
        let room = u64::try_from(room.max(0)).unwrap_or(u64::MAX);
        let steps = (count - own).min(room);
        let last = i128::from(from.last) + i128::from(steps) * i128::from(self.increment);
        // Between two numbers of 64 bits.
        let last = i64::try_from(last).unwrap_or(bound);
        (Position { last, called: true }, own + steps)
    }

    /// The `count` numbers from `from` on, which are there, at the end of `numbers`.
    pub fn push_numbers(&self, from: Position, count: u64, numbers: &mut Vec<i64>) {
        let first = if from.called { from.last.wrapping_add(self.increment) } else { from.last };
        let steps = (0..count).scan(first, |next, _| {
            let number = *next;
            *next = next.wrapping_add(self.increment);
            Some(number)
        });
        numbers.extend(steps);
    }

    /// 2200H: there are no more numbers.
    pub fn exhausted(&self, name: &str) -> SqlError {
        let (which, bound) = match self.increment > 0 {
            true => ("maximum", self.max),
            false => ("minimum", self.min),
        };
        let message = format!("nextval: reached {which} value of sequence \"{name}\" ({bound})");
        SqlError::new(code::SEQUENCE_LIMIT_EXCEEDED, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(increment: i64, min: i64, max: i64) -> Sequence {
        let options = SequenceOptions {
            increment: Some(increment),
            min: Some(Some(min)),
            max: Some(Some(max)),
            ..SequenceOptions::default()
        };
        Sequence::new(&options, "sequence").unwrap()
    }

    #[test]
    fn numbers_go_on_to_the_end_and_no_further() {
        let up = sequence(3, 1, 10);
        let (position, given) = up.after(up.beginning(), 2);
        assert_eq!((position, given), (Position { last: 4, called: true }, 2));
        let (end, given) = up.after(position, 100);
        assert_eq!((end, given), (Position { last: 10, called: true }, 2));
        assert_eq!(up.after(end, 1).1, 0);
        let mut numbers = Vec::new();
        up.push_numbers(up.beginning(), 4, &mut numbers);
        assert_eq!(numbers, [1, 4, 7, 10]);
        let down = sequence(-4, -10, -1);
        assert_eq!(down.start, -1);
        let (end, given) = down.after(down.beginning(), u64::MAX);
        assert_eq!((end.last, given), (-9, 3));
    }

    #[test]
    fn the_widest_range_does_not_overflow() {
        let wide = sequence(i64::MAX, i64::MIN, i64::MAX);
        let (end, given) = wide.after(wide.beginning(), u64::MAX);
        assert_eq!((end.last, given), (i64::MAX - 1, 3));
        let ones = sequence(1, i64::MIN, i64::MAX);
        let (end, given) = ones.after(ones.beginning(), u64::MAX);
        assert_eq!((end.last, given), (i64::MAX - 1, u64::MAX));
    }

    #[test]
    fn an_expression_names_sequences_by_their_oids() {
        let one = format!("nextval({}) + 1", written(ObjectId(16390)));
        assert_eq!(sequences_in(&one), [(8..25, ObjectId(16390))]);
        assert_eq!(&one[8..25], "'16390'::regclass");
        assert_eq!(sequences_in("nextval('s'::regclass) || '7' || 12"), []);
    }

    #[test]
    fn bounds_of_another_type_follow_it() {
        let old = Sequence::new(&SequenceOptions::default(), "sequence").unwrap();
        let options =
            SequenceOptions { sql_type: Some(SqlType::SmallInt), ..SequenceOptions::default() };
        let new = old.altered(&options, old.beginning()).unwrap();
        assert_eq!((new.min, new.max), (1, 32767));
        let position = Position { last: 40000, called: true };
        let error = old.altered(&options, position).unwrap_err();
        assert_eq!(error.message, "RESTART value (40000) cannot be greater than MAXVALUE (32767)");
    }
}
