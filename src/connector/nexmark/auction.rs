//! Events of the second kind: an auction opens.

use arrow::array::ArrayRef;

use super::column::{self, HOT};
use super::event::{FIRST_ID, Timeline, last_auction, last_person};
use crate::connector::draw::Draw;
use crate::types::SqlType;

pub(super) const COLUMNS: &[(&str, SqlType)] = &[
    ("id", SqlType::BigInt),
    ("item_name", SqlType::Varchar(None)),
    ("description", SqlType::Varchar(None)),
    ("initial_bid", SqlType::BigInt),
    ("reserve", SqlType::BigInt),
    ("date_time", SqlType::Timestamp),
    ("expires", SqlType::Timestamp),
    ("seller", SqlType::BigInt),
    ("category", SqlType::BigInt),
    ("extra", SqlType::Varchar(None)),
];

/// Bytes of an auction on average.
const SIZE: usize = 500;

const FIRST_CATEGORY: u64 = 10;
const CATEGORIES: u64 = 5;

/// All but one of so many auctions are a hot seller's.
const HOT_SELLER_RATIO: u64 = 4;

const ITEM: u64 = 11;
const DESCRIPTION: u64 = 12;
const INITIAL_BID: u64 = 13;
const RESERVE: u64 = 14;
const EXPIRES: u64 = 15;
const SELLER: u64 = 16;
const CATEGORY: u64 = 17;
const EXTRA: u64 = 18;

/// The column `name` of the auctions that `events` are.
pub(super) fn column(name: &str, events: &[u64], timeline: &Timeline) -> Option<ArrayRef> {
    Some(match name {
        "id" => column::int64(events, |event| FIRST_ID + last_auction(event)),
        "item_name" => column::text(events, item_name),
        "description" => column::text(events, description),
        "initial_bid" => column::int64(events, initial_bid),
        "reserve" => column::int64(events, |event| {
            initial_bid(event) + column::price(&mut Draw::new(event, RESERVE))
        }),
        "date_time" => column::timestamp(events, |event| timeline.micros(event)),
        "expires" => column::timestamp(events, |event| expires(event, timeline)),
        "seller" => column::int64(events, seller),
        "category" => column::int64(events, |event| {
            FIRST_CATEGORY + Draw::new(event, CATEGORY).below(CATEGORIES)
        }),
        "extra" => column::text(events, extra),
        _ => return None,
    })
}

fn item_name(event: u64, out: &mut String) {
    Draw::new(event, ITEM).words(20, ' ', out);
}

fn description(event: u64, out: &mut String) {
    Draw::new(event, DESCRIPTION).words(100, ' ', out);
}

fn initial_bid(event: u64) -> u64 {
    column::price(&mut Draw::new(event, INITIAL_BID))
}

fn expires(event: u64, timeline: &Timeline) -> i64 {
    let length_max = timeline.horizon_ms().saturating_mul(2).max(1);
    let milliseconds = 1 + Draw::new(event, EXPIRES).below(length_max);
    timeline.micros(event).saturating_add((milliseconds as i64).saturating_mul(1000))
}

fn seller(event: u64) -> u64 {
    let mut draw = Draw::new(event, SELLER);
    if draw.below(HOT_SELLER_RATIO) > 0 {
        FIRST_ID + last_person(event) / HOT * HOT
    } else {
        column::any_person(event, &mut draw)
    }
}

fn extra(event: u64, out: &mut String) {
    let mut others = String::with_capacity(SIZE);
    item_name(event, &mut others);
    description(event, &mut others);
    column::padding(6 * 8 + others.len(), SIZE, &mut Draw::new(event, EXTRA), out);
}
