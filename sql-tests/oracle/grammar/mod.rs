//! Random queries. Types lead: a query is made for the types of its columns, an expression for
//! its type. What must hold: the rows are determined by the query (an order that matters is
//! total, sums are exact in any order), and no expression fails on any row.

mod aggregate;
mod condition;
mod query;
mod recursion;
mod relation;
mod spread;
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
}

impl<'a> Grammar<'a> {
    pub(super) fn new(random: &'a mut StdRng, tables: Vec<Table>) -> Self {
        Self { random, tables, with: 0, aliases: 0, relations: RELATIONS_MAX }
    }

    /// A query and the types of its columns, which are called `c0`, `c1`, ...
    pub(super) fn generate(&mut self) -> (Tree, Vec<Kind>) {
        let mut kinds: Vec<Kind> =
            (0..self.random.random_range(1..=4)).map(|_| self.kind()).collect();
        if self.chance(8) {
            let last = kinds.len() - 1;
            let seldom = [Kind::Rough, Kind::Rough, Kind::Ratio];
            kinds[last] = *seldom.choose(self.random).expect("not empty");
        }
        let depth = *[1, 2, 2, 3].choose(self.random).expect("not empty");
        (self.query(&[], &kinds, depth), kinds)
    }

    fn literal(&mut self, kind: Kind) -> String {
        kind.literal(self.random)
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

    fn one_kind(&mut self, of: &[Kind]) -> Kind {
        *of.choose(self.random).expect("not empty")
    }

    fn chance(&mut self, of: u32) -> bool {
        self.random.random_ratio(1, of)
    }

    fn below(&mut self, end: u32) -> u32 {
        self.random.random_range(0..end)
    }
}
