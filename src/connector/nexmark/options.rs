//! The options of `connector = 'nexmark'`.

use arrow::compute::kernels::cast_utils::string_to_datetime;
use chrono::Utc;

use super::event::{EVENTS_MAX, Kind, SHUFFLE, Timeline};
use crate::connector::option::{OptionReader, invalid};
use crate::connector::registry::Options;
use crate::error::{SqlError, SqlResult};

/// When the first event comes, in event time, unless `base_time` says otherwise.
const BASE_TIME: &str = "2015-07-15 00:00:00";

/// Event time between two events without a rate: 10 000 events a second.
const GAP_NS: u64 = 100_000;

/// Groups of shuffled events are no larger.
const OUT_OF_ORDER_MAX: u64 = 1_000_000;

const SPLITS_MAX: u64 = 256;

/// What the stream is to be like.
#[derive(Debug, Clone)]
pub struct NexmarkOptions {
    pub(super) kind: Kind,
    /// Events a second, of all kinds.
    pub(super) rate: Option<u64>,
    pub(super) splits: u64,
    pub(super) timeline: Timeline,
    pub(super) compat: Compat,
}

/// Whose generator to agree with where they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compat {
    /// Bidders are people.
    Beam,
    /// Flink adds the first id twice: most bidders are nobody.
    Flink,
}

impl Compat {
    pub(super) fn bidder_offset(self) -> u64 {
        match self {
            Compat::Beam => 0,
            Compat::Flink => super::event::FIRST_ID,
        }
    }
}

impl NexmarkOptions {
    /// Reads and checks the options.
    pub fn read(options: &Options) -> SqlResult<Self> {
        let mut reader = OptionReader::new("connector \"nexmark\"", &options.options);
        let kind = kind(&mut reader)?;
        let rate = reader.parsed(&["rate"], "a number of events a second")?;
        let rate = rate.filter(|rate| *rate > 0);
        let events = number(&mut reader, &["events", "nexmark.event.num"], 0, EVENTS_MAX)?;
        let splits = number(&mut reader, &["splits", "nexmark.split.num"], 1, SPLITS_MAX)?;
        let timeline = timeline(&mut reader, rate, events)?;
        let compat = compat(&mut reader)?;
        reader.finish()?;
        options.no_format()?;
        Ok(Self { kind, rate, splits: splits.unwrap_or(1), timeline, compat })
    }
}

fn kind(reader: &mut OptionReader<'_>) -> SqlResult<Kind> {
    const EXPECTED: &str = "\"person\", \"auction\" or \"bid\"";
    let Some(value) = reader.text(&["event_type", "nexmark.table.type"])? else {
        return Err(SqlError::unsupported("a Nexmark source of all kinds of events")
            .hint(format!("Set the option \"event_type\" to {EXPECTED}.")));
    };
    match value.trim().to_ascii_lowercase().as_str() {
        "person" => Ok(Kind::Person),
        "auction" => Ok(Kind::Auction),
        "bid" => Ok(Kind::Bid),
        _ => Err(invalid("event_type", value, EXPECTED)),
    }
}

fn number(
    reader: &mut OptionReader<'_>,
    names: &[&str],
    min: u64,
    max: u64,
) -> SqlResult<Option<u64>> {
    let expected = format!("a whole number from {min} to {max}");
    let value = reader.parsed::<u64>(names, &expected)?;
    match value {
        Some(value) if value < min || value > max => {
            Err(invalid(names[0], &value.to_string(), &expected))
        }
        value => Ok(value),
    }
}

fn timeline(
    reader: &mut OptionReader<'_>,
    rate: Option<u64>,
    events: Option<u64>,
) -> SqlResult<Timeline> {
    let base_time = reader.text(&["base_time"])?.unwrap_or(BASE_TIME);
    let base_us = string_to_datetime(&Utc, base_time)
        .map_err(|_| invalid("base_time", base_time, "a timestamp"))?
        .timestamp_micros();
    let gap_ns = number(reader, &["gap_ns", "nexmark.min.event.gap.in.ns"], 0, 1 << 40)?;
    // Without a gap, event time passes as fast as real time does at the rate that is asked for.
    let gap_ns = gap_ns.or_else(|| rate.map(|rate| 1_000_000_000 / rate)).unwrap_or(GAP_NS);
    let out_of_order = number(reader, &["out_of_order"], 1, OUT_OF_ORDER_MAX)?.unwrap_or(1);
    if out_of_order.is_multiple_of(SHUFFLE) {
        // Such a group would hold one event many times.
        let expected = format!("no multiple of {SHUFFLE}");
        return Err(invalid("out_of_order", &out_of_order.to_string(), &expected));
    }
    Ok(Timeline { base_us, gap_ns, out_of_order, events: events.unwrap_or(EVENTS_MAX) })
}

fn compat(reader: &mut OptionReader<'_>) -> SqlResult<Compat> {
    match reader.text(&["compat"])? {
        None => Ok(Compat::Beam),
        Some(value) => match value.trim().to_ascii_lowercase().as_str() {
            "beam" => Ok(Compat::Beam),
            "flink" => Ok(Compat::Flink),
            _ => Err(invalid("compat", value, "\"beam\" or \"flink\"")),
        },
    }
}
