//! Rows for TPC-DS's 24 tables: few, the same each time, and of values that the queries ask for.
//!
//! The specification's own generator has fixed dimensions of millions of rows, and at a size that
//! a test can bear nearly every query over it is empty. Here the dimensions are small and their
//! values, like the days of the sales, are mostly those of the queries' parameters; returns belong
//! to sales, foreign keys are sometimes NULL, and some sales are alike in all three channels.

use std::fmt::{self, Display};

use chrono::{Datelike, Days, NaiveDate};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use crate::harness;

use super::facts::Facts;
use super::words::{
    CATEGORIES, COLORS, DEMOGRAPHICS, EDUCATIONS, ITEMS_ASKED_FOR, MANAGERS, MANUFACTURERS, NAMES,
    PLACES, SIZES, STORES, UNITS, ZIPS,
};

/// One under which every query selects something.
const SEED: u64 = 1998;
const FIRST_DAY: NaiveDate = NaiveDate::from_ymd_opt(1998, 1, 1).expect("a date");
/// Days from the first on: that there are, and with sales.
pub(super) const DAYS: i64 = 1950;
pub(super) const DAYS_OF_SALES: i64 = 1826;
/// The specification's number of the first day.
const FIRST_DAY_KEY: i64 = 2_450_815;

pub(super) const ITEMS: usize = 48;
pub(super) const CUSTOMERS: usize = 120;
const ADDRESSES: usize = 64;
const HOUSEHOLDS: usize = 60;
pub(super) const WAREHOUSES: usize = 3;
pub(super) const PROMOTIONS: usize = 8;
pub(super) const REASONS: usize = 6;
pub(super) const SHIP_MODES: usize = 6;
pub(super) const PAGES: usize = 6;
pub(super) const SITES: usize = 4;

/// The tables in the order in which they are filled: dimensions first.
pub(super) fn generate() -> Vec<(&'static str, Vec<String>)> {
    let mut dimensions =
        Dimensions { random: harness::random_of(SEED, "tpcds"), homes: Vec::new() };
    let mut tables = dimensions.tables();
    let mut facts =
        Facts { random: harness::random_of(SEED, "tpcds facts"), homes: dimensions.homes };
    tables.extend(facts.tables());
    tables
}

/// A line of CSV; no value here needs quotes.
pub(super) fn line(fields: &[&dyn Display]) -> String {
    fields.iter().map(|field| field.to_string()).collect::<Vec<_>>().join(",")
}

/// A value or NULL.
pub(super) struct Maybe<T>(pub(super) Option<T>);

impl<T: Display> Display for Maybe<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |value| value.fmt(f))
    }
}

const NULL: Maybe<i64> = Maybe(None);

#[derive(Clone, Copy)]
pub(super) struct Cents(pub(super) i64);

impl Display for Cents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}.{:02}", self.0.abs() / 100, self.0.abs() % 100)
    }
}

/// A business key of 16 characters.
fn id(number: usize) -> String {
    format!("AAAAAAAA{number:08}")
}

pub(super) fn day_key(day: i64) -> i64 {
    FIRST_DAY_KEY + day
}

pub(super) fn date(day: i64) -> NaiveDate {
    FIRST_DAY + Days::new(day.unsigned_abs())
}

pub(super) fn day_of(date: (i32, u32, u32)) -> i64 {
    let date = NaiveDate::from_ymd_opt(date.0, date.1, date.2).expect("a date");
    (date - FIRST_DAY).num_days()
}

fn flag(is: bool) -> &'static str {
    if is { "Y" } else { "N" }
}

// --- Dimensions --------------------------------------------------------------------------------

/// What a customer's sales have from the customer.
#[derive(Clone, Copy)]
pub(super) struct Home {
    pub(super) demographics: usize,
    pub(super) household: usize,
    pub(super) address: usize,
}

struct Dimensions {
    random: StdRng,
    homes: Vec<Home>,
}

impl Dimensions {
    fn tables(&mut self) -> Vec<(&'static str, Vec<String>)> {
        vec![
            ("date_dim", (0..DAYS).map(Self::date).collect()),
            ("time_dim", (0..96).map(Self::time).collect()),
            ("item", (0..ITEMS).map(|at| self.item(at)).collect()),
            ("customer_address", (0..ADDRESSES).map(|at| self.address(at)).collect()),
            ("customer_demographics", Self::demographics()),
            ("income_band", (0..20).map(Self::income_band).collect()),
            ("household_demographics", (0..HOUSEHOLDS).map(|at| self.household(at)).collect()),
            ("customer", (0..CUSTOMERS).map(|at| self.customer(at)).collect()),
            ("store", (0..STORES.len()).map(|at| self.store(at)).collect()),
            ("warehouse", (0..WAREHOUSES).map(|at| self.warehouse(at)).collect()),
            ("call_center", (0..4).map(|at| self.call_center(at)).collect()),
            ("catalog_page", (0..PAGES).map(|at| self.catalog_page(at)).collect()),
            ("web_site", (0..SITES).map(|at| self.web_site(at)).collect()),
            ("web_page", (0..PAGES).map(|at| self.web_page(at)).collect()),
            ("promotion", (0..PROMOTIONS).map(|at| self.promotion(at)).collect()),
            ("reason", (0..REASONS).map(Self::reason).collect()),
            ("ship_mode", (0..SHIP_MODES).map(Self::ship_mode).collect()),
        ]
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        *from.choose(&mut self.random).expect("not empty")
    }

    fn date(day: i64) -> String {
        let at = date(day);
        let (year, month) = (at.year(), at.month());
        let quarter = (month - 1) / 3 + 1;
        let months = (year - 1900) * 12 + month.cast_signed() - 1;
        let quarters = (year - 1900) * 4 + quarter.cast_signed() - 1;
        let weeks = (day_key(day) - 2_415_021) / 7 + 1;
        let first = at.with_day(1).expect("every month has a first day");
        let last = first + chrono::Months::new(1) - Days::new(1);
        let key = |date: NaiveDate| day_key((date - FIRST_DAY).num_days());
        let weekend = flag(at.weekday().num_days_from_sunday().is_multiple_of(6));
        let holiday = flag(month == 12 && at.day() == 25);
        line(&[
            &day_key(day),
            &id(usize::try_from(day).expect("from 0")),
            &at,
            &months,
            &weeks,
            &quarters,
            &year,
            &at.weekday().num_days_from_sunday(),
            &month,
            &at.day(),
            &quarter,
            &year,
            &quarters,
            &weeks,
            &at.format("%A"),
            &format!("{year}Q{quarter}"),
            &holiday,
            &weekend,
            &"N",
            &key(first),
            &key(last),
            &(day_key(day) - 365),
            &(day_key(day) - 91),
            &"N",
            &"N",
            &"N",
            &"N",
            &"N",
        ])
    }

    /// A quarter of an hour.
    fn time(at: usize) -> String {
        let (seconds, hour, minute) = (at * 900, at / 4, at % 4 * 15);
        let meal = match hour {
            6..=8 => Some("breakfast"),
            11..=12 => Some("lunch"),
            17..=19 => Some("dinner"),
            _ => None,
        };
        let shift = ["third", "first", "second"][hour / 8];
        let half = if hour < 12 { "AM" } else { "PM" };
        let part = ["night", "morning", "afternoon", "evening"][hour / 6];
        line(&[&seconds, &id(at), &seconds, &hour, &minute, &0, &half, &shift, &part, &Maybe(meal)])
    }

    /// Two rows are two revisions of one item.
    fn item(&mut self, at: usize) -> String {
        let asked_for = ITEMS_ASKED_FOR.get(at).copied();
        let category = asked_for.map_or(at % CATEGORIES.len(), |asked| asked.category);
        let (name, classes, brands) = CATEGORIES[category];
        let class = (at / CATEGORIES.len()) % classes.len();
        let brand = (at / CATEGORIES.len()) % brands.len();
        let price = match asked_for {
            Some(asked) => asked.price,
            None if at.is_multiple_of(4) => self.random.random_range(99..=149),
            None => self.random.random_range(50..=9999),
        };
        let color = asked_for.map_or_else(|| self.pick(COLORS), |asked| asked.color);
        let manufacturer = MANUFACTURERS[(at / 2) % MANUFACTURERS.len()];
        let (units, size) = match asked_for {
            Some(asked) => (asked.units, asked.size),
            None => (self.pick(UNITS), self.pick(SIZES)),
        };
        line(&[
            &(at + 1),
            &id(at / 2),
            &"1997-10-27",
            &Maybe(at.is_multiple_of(2).then_some("2000-10-26")),
            &format!("Item {} of {} {name}", at / 2, classes[class]),
            &Cents(price),
            &Cents(price * 6 / 10),
            &((category + 1) * 1_000_000 + (class + 1) * 1000 + brand + 1),
            &brands[brand],
            &(class + 1),
            &classes[class],
            &(category + 1),
            &name,
            &manufacturer,
            &format!("manufacturer {manufacturer}"),
            &size,
            &format!("{:020}", at * 7919),
            &color,
            &units,
            &"Unknown",
            &MANAGERS[at / 3 % MANAGERS.len()],
            &format!("product {at}"),
        ])
    }

    /// Street, place and offset, as several tables have them.
    fn place(&mut self, place: usize) -> String {
        let (city, county, state, offset) = PLACES[place];
        let zip = self.pick(&ZIPS[place]);
        line(&[
            &self.random.random_range(1..1000),
            &format!("{} Street", self.pick(NAMES)),
            &self.pick(&["Ave", "Blvd", "Court"]),
            &format!("Suite {}", self.random.random_range(1..60)),
            &city,
            &county,
            &state,
            &zip,
            &"United States",
            &Cents(offset * 100),
        ])
    }

    fn address(&mut self, at: usize) -> String {
        let place = self.place(at % PLACES.len());
        let kind = self.pick(&["apartment", "condo", "single family"]);
        line(&[&(at + 1), &id(at), &place, &kind])
    }

    /// All combinations, and so the row of one can be computed.
    fn demographics() -> Vec<String> {
        let mut rows = Vec::new();
        for gender in ["M", "F"] {
            for marital in ["M", "S", "D", "W", "U"] {
                for education in EDUCATIONS {
                    let key = rows.len() + 1;
                    let rating = ["Good", "Low Risk", "High Risk", "Unknown"][key % 4];
                    rows.push(line(&[
                        &key,
                        &gender,
                        &marital,
                        education,
                        &(500 + key % 10 * 500),
                        &rating,
                        &(key % 7),
                        &(key % 5),
                        &(key % 3),
                    ]));
                }
            }
        }
        rows
    }

    fn income_band(at: usize) -> String {
        line(&[&(at + 1), &(at * 10_000 + usize::from(at > 0)), &((at + 1) * 10_000)])
    }

    fn household(&mut self, at: usize) -> String {
        let potential = [">10000", "Unknown", "1001-5000", "501-1000"][at % 4];
        let (dependants, vehicles) =
            (self.random.random_range(0..8), self.random.random_range(-1..5));
        line(&[&(at + 1), &(at % 20 + 1), &potential, &dependants, &vehicles])
    }

    fn customer(&mut self, at: usize) -> String {
        let demographics = if self.random.random_bool(0.8) {
            let (gender, marital, education) = self.pick(DEMOGRAPHICS);
            (gender * 5 + marital) * EDUCATIONS.len() + education + 1
        } else {
            self.random.random_range(1..=10 * EDUCATIONS.len())
        };
        let home = Home {
            demographics,
            household: self.random.random_range(1..=HOUSEHOLDS),
            address: self.random.random_range(1..=ADDRESSES),
        };
        self.homes.push(home);
        let first = self.random.random_range(0..800);
        let name = self.pick(NAMES);
        let country = self.pick(&["CANADA", "JAPAN", "UNITED STATES", "CHILE"]);
        line(&[
            &(at + 1),
            &id(at),
            &self.maybe(home.demographics),
            &self.maybe(home.household),
            &home.address,
            &day_key(first + 30),
            &day_key(first),
            &self.pick(&["Mr.", "Mrs.", "Dr.", "Sir"]),
            &name,
            &self.pick(NAMES),
            &self.maybe(flag(at.is_multiple_of(2))),
            &self.random.random_range(1..=28),
            &self.random.random_range(1..=12),
            &self.random.random_range(1930..=1990),
            &self.maybe(country),
            &NULL,
            &format!("{name}.{at}@example.com"),
            &day_key(first + 90),
        ])
    }

    fn maybe<T>(&mut self, value: T) -> Maybe<T> {
        Maybe((!self.random.random_bool(0.03)).then_some(value))
    }

    fn store(&mut self, at: usize) -> String {
        let (name, place) = STORES[at];
        let place = self.place(place);
        line(&[
            &(at + 1),
            &id(at / 2),
            &"1997-03-13",
            &NULL,
            &NULL,
            &name,
            &(200 + at * 15),
            &(5_000_000 + at * 100_000),
            &"8AM-8PM",
            &self.pick(NAMES),
            &[8, 5][at % 2],
            &"Unknown",
            &"a market",
            &self.pick(NAMES),
            &1,
            &"Unknown",
            &1,
            &"Unknown",
            &place,
            &Cents(3),
        ])
    }

    fn warehouse(&mut self, at: usize) -> String {
        let place = self.place(at * 3);
        let name = ["Conventional childr", "Important issues", "Doors canno"][at % 3];
        line(&[&(at + 1), &id(at), &name, &(50_000 + at * 12_345), &place])
    }

    fn call_center(&mut self, at: usize) -> String {
        let place = self.place(if at == 3 { 1 } else { 0 });
        line(&[
            &(at + 1),
            &id(at / 2),
            &"1998-01-01",
            &NULL,
            &NULL,
            &day_key(0),
            &["NY Metro", "Mid Atlantic", "North Midwest", "California"][at],
            &["large", "medium"][at % 2],
            &(100 * (at + 1)),
            &(10_000 * (at + 1)),
            &"8AM-4PM",
            &self.pick(NAMES),
            &(at % 3 + 1),
            &"a class",
            &"a market",
            &self.pick(NAMES),
            &1,
            &"able",
            &1,
            &"able",
            &place,
            &Cents(5),
        ])
    }

    fn catalog_page(&mut self, at: usize) -> String {
        let kind = self.pick(&["bi-annual", "quarterly", "monthly"]);
        let (start, end) = (day_key(0), day_key(DAYS - 1));
        line(&[&(at + 1), &id(at), &start, &end, &"DEPARTMENT", &1, &(at + 1), &"a page", &kind])
    }

    fn web_site(&mut self, at: usize) -> String {
        let place = self.place(at);
        line(&[
            &(at + 1),
            &id(at / 2),
            &"1997-08-16",
            &NULL,
            &format!("site_{}", at / 2),
            &day_key(0),
            &NULL,
            &"Unknown",
            &self.pick(NAMES),
            &(at % 3 + 1),
            &"a class",
            &"a market",
            &self.pick(NAMES),
            &(at % 2 + 1),
            &["pri", "able"][at % 2],
            &place,
            &Cents(4),
        ])
    }

    fn web_page(&mut self, at: usize) -> String {
        let customer = self.random.random_range(1..=CUSTOMERS);
        line(&[
            &(at + 1),
            &id(at / 2),
            &"1997-09-03",
            &NULL,
            &day_key(0),
            &day_key(100),
            &flag(at.is_multiple_of(2)),
            &self.maybe(customer),
            &"http://www.example.com",
            &["order", "welcome", "feedback"][at % 3],
            &[5050, 5150, 2400][at % 3],
            &(5 + at),
            &2,
            &1,
        ])
    }

    fn promotion(&mut self, at: usize) -> String {
        let yes = |random: &mut StdRng| flag(random.random_bool(0.5));
        let item = self.random.random_range(1..=ITEMS);
        let channels: Vec<&str> = (0..8).map(|_| yes(&mut self.random)).collect();
        line(&[
            &(at + 1),
            &id(at),
            &day_key(0),
            &day_key(DAYS - 1),
            &item,
            &"1000.00",
            &1,
            &["able", "ought", "ese"][at % 3],
            &channels.join(","),
            &"details",
            &"Unknown",
            &flag(at.is_multiple_of(2)),
        ])
    }

    fn reason(at: usize) -> String {
        line(&[&(at + 1), &id(at), &format!("reason {}", 25 + at)])
    }

    fn ship_mode(at: usize) -> String {
        let kind = ["EXPRESS", "OVERNIGHT", "REGULAR"][at % 3];
        let carrier = ["DHL", "BARIAN", "UPS", "FEDEX"][at % 4];
        line(&[&(at + 1), &id(at), &kind, &["AIR", "SEA"][at % 2], &carrier, &"x"])
    }
}
