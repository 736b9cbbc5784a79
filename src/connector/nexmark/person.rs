//! Events of the first kind: a person registers.

use arrow::array::ArrayRef;

use super::column;
use super::event::{FIRST_ID, Timeline, last_person};
use crate::connector::draw::Draw;
use crate::types::SqlType;

pub(super) const COLUMNS: &[(&str, SqlType)] = &[
    ("id", SqlType::BigInt),
    ("name", SqlType::Varchar(None)),
    ("email_address", SqlType::Varchar(None)),
    ("credit_card", SqlType::Varchar(None)),
    ("city", SqlType::Varchar(None)),
    ("state", SqlType::Varchar(None)),
    ("date_time", SqlType::Timestamp),
    ("extra", SqlType::Varchar(None)),
];

/// Bytes of a person on average.
const SIZE: usize = 200;

const FIRST_NAMES: &[&str] =
    &["Ada", "Ben", "Clara", "David", "Emma", "Felix", "Grace", "Hugo", "Ida", "Jonas", "Maria"];
const LAST_NAMES: &[&str] =
    &["Baker", "Clark", "Fischer", "Garcia", "Jansen", "Miller", "Rossi", "Smith", "Young"];
const CITIES: &[&str] = &[
    "Bend",
    "Boise",
    "Cheyenne",
    "Kent",
    "Los Angeles",
    "Phoenix",
    "Portland",
    "Redmond",
    "San Francisco",
    "Seattle",
];
const STATES: &[&str] = &["AZ", "CA", "ID", "OR", "WA", "WY"];

/// Fields that draw random numbers, of all three kinds: 1 and on here, 11 at auctions, 21 at bids.
const NAME: u64 = 1;
const EMAIL: u64 = 2;
const CARD: u64 = 3;
const CITY: u64 = 4;
const STATE: u64 = 5;
const EXTRA: u64 = 6;

/// The column `name` of the persons that `events` are.
pub(super) fn column(name: &str, events: &[u64], timeline: &Timeline) -> Option<ArrayRef> {
    Some(match name {
        "id" => column::int64(events, |event| FIRST_ID + last_person(event)),
        "name" => column::text(events, full_name),
        "email_address" => column::text(events, email),
        "credit_card" => column::text(events, card),
        "city" => column::text(events, city),
        "state" => column::text(events, state),
        "date_time" => column::timestamp(events, |event| timeline.micros(event)),
        "extra" => column::text(events, extra),
        _ => return None,
    })
}

fn full_name(event: u64, out: &mut String) {
    let mut draw = Draw::new(event, NAME);
    out.push_str(draw.one_of(FIRST_NAMES));
    out.push(' ');
    out.push_str(draw.one_of(LAST_NAMES));
}

fn email(event: u64, out: &mut String) {
    let mut draw = Draw::new(event, EMAIL);
    draw.words(7, '_', out);
    out.push('@');
    draw.words(5, '_', out);
    out.push_str(".com");
}

fn card(event: u64, out: &mut String) {
    let mut draw = Draw::new(event, CARD);
    for group in 0..4 {
        if group > 0 {
            out.push(' ');
        }
        let mut digits = draw.below(10_000);
        for place in [1000, 100, 10, 1] {
            out.push(char::from(b'0' + (digits / place) as u8));
            digits %= place;
        }
    }
}

fn city(event: u64, out: &mut String) {
    out.push_str(Draw::new(event, CITY).one_of(CITIES));
}

fn state(event: u64, out: &mut String) {
    out.push_str(Draw::new(event, STATE).one_of(STATES));
}

fn extra(event: u64, out: &mut String) {
    let mut others = String::with_capacity(SIZE);
    for write in [full_name, email, card, city, state] {
        write(event, &mut others);
    }
    column::padding(8 + others.len(), SIZE, &mut Draw::new(event, EXTRA), out);
}
