//! Random queries. Types lead: a query is made for the types of its columns, an expression for
//! its type. What must hold: the rows are determined by the query (an order that matters is
//! total, sums are exact in any order), and no expression fails on any row.

mod aggregate;
mod condition;
mod query;
mod relation;
mod value;
mod window;

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use super::kind::{Kind, STORED};
use super::schema::Table;
use super::tree::Tree;

/// Tables and expressions in one query: joins without a condition multiply.
const RELATIONS_MAX: i32 = 5;

/// Kinds of queries that are known to fail, and are left out unless `WEIR_ORACLE_KNOWN` names
/// them. `docs/status.md` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// Integers in VALUES in FROM and as arguments of aggregates are bigint, in PostgreSQL int.
    IntegerLiterals,
    /// A float8 column and a literal like `1.25` are compared as numerics.
    BareDecimals,
    /// The largest float8 of a SELECT's group is not NaN when NaN is there.
    LargestFloat,
    /// Aggregates ordered in different ways beside each other.
    SeveralOrders,
    /// NOT IN in the condition of an outer join.
    SubqueriesInOuterOn,
    /// A SELECT sorts the text of an integer as the integer.
    TextOfIntegers,
    /// Subqueries in HAVING where nothing is grouped by.
    SubqueriesInHavingOfAll,
    /// `percentile_disc` of what is not a number, `every`.
    MissingAggregates,
    /// Timestamps beyond the years 1677 to 2262 as literals in conditions.
    FarTimestamps,
}

/// All of them.
const KNOWN: &[Known] = &[
    Known::IntegerLiterals,
    Known::BareDecimals,
    Known::LargestFloat,
    Known::SeveralOrders,
    Known::SubqueriesInOuterOn,
    Known::TextOfIntegers,
    Known::SubqueriesInHavingOfAll,
    Known::MissingAggregates,
    Known::FarTimestamps,
];

/// Those that the environment asks for.
pub(super) fn known() -> Vec<Known> {
    let asked = std::env::var("WEIR_ORACLE_KNOWN").unwrap_or_default();
    let is_asked =
        |known: &Known| asked == "all" || asked.split(',').any(|name| name == format!("{known:?}"));
    KNOWN.iter().copied().filter(is_asked).collect()
}

/// A column as an expression can name it.
#[derive(Debug, Clone)]
struct Name {
    sql: String,
    kind: Kind,
}

/// What an expression can see.
#[derive(Debug, Clone, Default)]
struct Scope {
    here: Vec<Name>,
    /// Columns of the queries around this one.
    outer: Vec<Name>,
    /// In a grouped query, the rows that its aggregates read.
    below: Option<Box<Scope>>,
    /// Whether window functions may stand here.
    windows: bool,
    /// The window of all functions that ask which row is next. There is one for the query: rows
    /// that are alike in all columns may come in another order in another window.
    total: String,
}

impl Scope {
    fn new(here: Vec<Name>, outer: &[Name]) -> Self {
        Self { here, outer: outer.to_vec(), ..Self::default() }
    }

    /// What a subquery here can name: a grouped query's columns, not its expressions.
    fn around(&self) -> Vec<Name> {
        let plain = self.here.iter().filter(|name| !name.sql.contains('('));
        plain.chain(&self.outer).cloned().collect()
    }
}

pub(super) struct Grammar<'a> {
    random: &'a mut StdRng,
    /// Tables, views made before, and the WITH queries around.
    tables: Vec<Table>,
    /// How many of `tables` at the end are WITH queries.
    with: usize,
    aliases: usize,
    relations: i32,
    /// How many ordered aggregates the grouped query may still have.
    ordered: u32,
    known: &'a [Known],
}

impl<'a> Grammar<'a> {
    pub(super) fn new(random: &'a mut StdRng, tables: Vec<Table>, known: &'a [Known]) -> Self {
        Self { random, tables, with: 0, aliases: 0, relations: RELATIONS_MAX, ordered: 1, known }
    }

    /// A query and the types of its columns, which are called `c0`, `c1`, ...
    pub(super) fn generate(&mut self) -> (Tree, Vec<Kind>) {
        let mut kinds: Vec<Kind> =
            (0..self.random.random_range(1..=4)).map(|_| self.kind()).collect();
        if self.chance(12) {
            let last = kinds.len() - 1;
            let seldom = [Kind::IntArray, Kind::TextArray, Kind::Ratio];
            kinds[last] = *seldom.choose(self.random).expect("not empty");
        }
        let depth = *[1, 2, 2, 3].choose(self.random).expect("not empty");
        (self.query(&[], &kinds, depth), kinds)
    }

    /// Whether a construct of a kind that is known to fail may be made.
    fn may(&self, known: Known) -> bool {
        self.known.contains(&known)
    }

    fn literal(&mut self, kind: Kind) -> String {
        let far = self.may(Known::FarTimestamps);
        let text = kind.literal(self.random, far);
        let bare = kind == Kind::Int && !text.contains(':');
        if bare && !self.may(Known::IntegerLiterals) { format!("{text}::int") } else { text }
    }

    fn kind(&mut self) -> Kind {
        *STORED.choose(self.random).expect("not empty")
    }

    fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("x{}", self.aliases)
    }

    /// One of some, each as likely as it occurs.
    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of.choose(self.random).expect("not empty")
    }

    fn chance(&mut self, of: u32) -> bool {
        self.random.random_ratio(1, of)
    }

    fn below(&mut self, end: u32) -> u32 {
        self.random.random_range(0..end)
    }
}
