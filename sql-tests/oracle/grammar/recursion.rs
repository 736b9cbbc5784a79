//! WITH RECURSIVE that ends on any data: a step counts how deep it is, or brings nothing that is
//! not in the table already.

use rand::Rng;
use rand::seq::IndexedRandom;

use super::{Grammar, Name, Scope};
use crate::oracle::kind::Kind;
use crate::oracle::schema::{Column, Table};
use crate::oracle::tree::{Tree, sequence};

impl Grammar<'_> {
    pub(super) fn recursive(&mut self, outer: &[Name], kinds: &[Kind], depth: u32) -> Tree {
        let name = format!("w{}", self.aliases);
        self.aliases += 1;
        let (definition, columns) =
            if self.chance(3) { self.closure(&name) } else { self.counted(&name, depth) };
        let columns: Vec<Column> = columns
            .iter()
            .enumerate()
            .map(|(place, kind)| Column::new(format!("c{place}"), *kind))
            .collect();
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        self.tables.push(Table { name: name.clone(), columns, keyed: false });
        self.with += 1;
        self.relations = self.relations.max(2);
        let body = self.query(outer, kinds, depth - 1);
        self.with -= 1;
        self.tables.pop();
        let head = format!("WITH RECURSIVE {name}({}) AS (", names.join(", "));
        sequence![head, definition, ") ", body]
    }

    /// The first column says how deep a row is. A recursion that reads an outer query is refused.
    fn counted(&mut self, name: &str, depth: u32) -> (Tree, Vec<Kind>) {
        let count = self.random.random_range(1..=2);
        let kinds: Vec<Kind> = (0..count).map(|_| self.kind()).collect();
        self.relations = self.relations.max(2);
        let (from, names) = self.relation(&[], 0);
        let scope = Scope::new(names, &[]);
        let filter = self.filter(" WHERE ", &scope, depth);
        let base = sequence!["SELECT 1", self.cast_items(&kinds, &scope), " FROM ", from, filter];

        let alias = self.alias();
        let (other, more) = self.table();
        let mut names = vec![Name { sql: format!("{alias}.c0"), kind: Kind::Int }];
        names.extend(
            kinds
                .iter()
                .enumerate()
                .map(|(place, kind)| Name { sql: format!("{alias}.c{}", place + 1), kind: *kind }),
        );
        let equality = self.equality(&names, &more).unwrap_or(Tree::from("true"));
        names.extend(more);
        let scope = Scope::new(names, &[]);
        let join = self.one(&["JOIN", "JOIN", "LEFT JOIN"]);
        let items = self.cast_items(&kinds, &scope);
        let end = self.random.random_range(2..=3);
        // Without subqueries: one that looks at all rows of the step is refused.
        let more = match self.below(2) {
            0 => Tree::from(""),
            _ => Tree::optional(sequence![" AND ", self.condition(&scope, 0)]),
        };
        let step = sequence![
            format!("SELECT {alias}.c0 + 1"),
            items,
            format!(" FROM {name} {alias} {join} "),
            other,
            " ON ",
            equality,
            Tree::fixed(format!(" WHERE {alias}.c0 < {end}")),
            more
        ];
        let union = self.one(&["UNION", "UNION ALL"]);
        let columns = std::iter::once(Kind::Int).chain(kinds).collect();
        (sequence![base, format!(" {union} "), step], columns)
    }

    /// Both parts have the same types, those of plain columns without modifiers.
    fn cast_items(&mut self, kinds: &[Kind], scope: &Scope) -> Tree {
        let items = kinds.iter().map(|kind| {
            let value = self.value(*kind, scope, 0);
            sequence![", (", value, format!(")::{}", kind.sql())]
        });
        Tree::Sequence(items.collect())
    }

    /// What can be reached from what: rows of two columns' values.
    fn closure(&mut self, name: &str) -> (Tree, Vec<Kind>) {
        let tables: Vec<Table> =
            self.tables.iter().filter(|table| !table.columns.is_empty()).cloned().collect();
        let table = tables.choose(self.random).expect("there are tables").clone();
        let from = table.columns.choose(self.random).expect("it has columns").clone();
        let alike: Vec<&Column> =
            table.columns.iter().filter(|other| other.kind == from.kind).collect();
        let to = (*alike.choose(self.random).expect("itself")).clone();
        self.relations -= 2;
        let (first, step, beside) = (self.alias(), self.alias(), self.alias());
        let cast = from.kind.sql();
        let (a, b) = (from.name, to.name);
        let tree = Tree::from(format!(
            "SELECT {first}.{a}::{cast}, {first}.{b}::{cast} FROM {table} {first} \
             UNION SELECT {step}.c0, {beside}.{b}::{cast} \
             FROM {name} {step} JOIN {table} {beside} ON {step}.c1 = {beside}.{a}",
            table = table.name
        ));
        (tree, vec![from.kind, from.kind])
    }
}
