//! What stands in FROM: tables, joins of every kind, subqueries, LATERAL.

use rand::Rng;

use super::{Grammar, Name, Scope};
use crate::oracle::kind::Kind;
use crate::oracle::tree::{Tree, sequence};

impl Grammar<'_> {
    /// A relation and the names of its columns.
    pub(super) fn relation(&mut self, outer: &[Name], depth: u32) -> (Tree, Vec<Name>) {
        let form = if depth == 0 || self.relations <= 1 { 0 } else { self.below(20) };
        let (tree, names) = match form {
            0..5 => self.table(),
            5..10 => self.join(outer, depth),
            10 | 11 => self.using(),
            12 | 13 => self.lateral(outer, depth),
            14 | 15 => self.spread(outer, depth),
            16 => self.constants(outer),
            _ => self.subquery(outer, depth),
        };
        (Tree::relation(tree), names)
    }

    pub(super) fn table(&mut self) -> (Tree, Vec<Name>) {
        self.relations -= 1;
        let alias = self.alias();
        let first = if self.with > 0 && self.random.random_ratio(2, 3) {
            self.tables.len() - self.with
        } else {
            0
        };
        let place = self.random.random_range(first..self.tables.len());
        let table = &self.tables[place];
        let names = table
            .columns
            .iter()
            .map(|column| Name { sql: format!("{alias}.{}", column.name), kind: column.kind })
            .collect();
        (sequence![format!("{} {alias}", table.name)], names)
    }

    fn subquery(&mut self, outer: &[Name], depth: u32) -> (Tree, Vec<Name>) {
        // Not LATERAL: it sees what the whole query can see, not the relations beside it.
        self.relations -= 1;
        let kinds: Vec<Kind> = (0..self.random.random_range(1..=3)).map(|_| self.kind()).collect();
        let alias = self.alias();
        let query = self.query(outer, &kinds, depth - 1);
        (sequence!["(", query, format!(") {alias}")], columns_of(&alias, &kinds))
    }

    fn join(&mut self, outer: &[Name], depth: u32) -> (Tree, Vec<Name>) {
        let (left, mut names) = self.relation(outer, depth - 1);
        let (right, more) = self.relation(outer, depth - 1);
        let kind =
            self.one(&["JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"]);
        let (one, other) = (names.clone(), more.clone());
        names.extend(more);
        if kind == "CROSS JOIN" {
            return (sequence!["(", left, " CROSS JOIN ", right, ")"], names);
        }
        let scope = Scope::new(names.clone(), outer);
        let equality = self.equality(&one, &other);
        // Depth 1 is where subqueries begin.
        let depth = u32::from(kind != "FULL JOIN");
        let on = match (equality, self.below(8)) {
            (Some(equality), 0..4) => equality,
            (Some(equality), 4..7) => {
                let more = self.condition(&scope, depth);
                sequence![equality, Tree::optional(sequence![" AND ", more])]
            }
            // PostgreSQL has no FULL JOIN without an equality.
            (_, _) if kind == "FULL JOIN" => Tree::from("true"),
            (_, _) => self.condition(&scope, depth),
        };
        (sequence!["(", left, format!(" {kind} "), right, " ON ", on, ")"], names)
    }

    /// A condition that a join can look up.
    pub(super) fn equality(&mut self, left: &[Name], right: &[Name]) -> Option<Tree> {
        let pairs: Vec<(&Name, &Name)> = left
            .iter()
            .flat_map(|one| right.iter().map(move |other| (one, other)))
            .filter(|(one, other)| one.kind == other.kind && one.kind.is_exact())
            .collect();
        if pairs.is_empty() {
            return None;
        }
        let (one, other) = pairs[self.random.random_range(0..pairs.len())];
        let operator = self.one(&["=", "=", "=", "IS NOT DISTINCT FROM"]);
        Some(Tree::from(format!("{} {operator} {}", one.sql, other.sql)))
    }

    /// Two tables by columns of one name, merged, as a subquery.
    fn using(&mut self) -> (Tree, Vec<Name>) {
        let with_key: Vec<String> = self
            .tables
            .iter()
            .filter(|table| table.columns.iter().any(|column| column.name == "k"))
            .map(|table| table.name.clone())
            .collect();
        self.relations -= 2;
        let (one, other, alias) = (self.alias(), self.alias(), self.alias());
        let left = with_key[self.random.random_range(0..with_key.len())].clone();
        let right = with_key[self.random.random_range(0..with_key.len())].clone();
        let join = self.one(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
        let kind_of = |table: &str| {
            let table = self.tables.iter().find(|known| known.name == table);
            let columns = table.map(|table| table.columns.as_slice()).unwrap_or_default();
            columns[columns.len() - 1].clone()
        };
        let (a, b) = (kind_of(&left), kind_of(&right));
        let items = Tree::list(
            vec![
                Tree::from("k AS c0"),
                Tree::from(format!("{one}.{} AS c1", a.name)),
                Tree::from(format!("{other}.{} AS c2", b.name)),
            ],
            ", ",
        );
        let (natural, using) = match self.below(3) {
            0 => ("NATURAL ", ""),
            _ => ("", " USING (k)"),
        };
        let tree = sequence![
            "(SELECT ",
            items,
            format!(" FROM {left} {one} {natural}{join} {right} {other}{using}) {alias}"),
        ];
        (tree, columns_of(&alias, &[Kind::Int, a.kind, b.kind]))
    }

    /// VALUES, of literals and of what the queries around give.
    fn constants(&mut self, outer: &[Name]) -> (Tree, Vec<Name>) {
        let scope = Scope::new(Vec::new(), outer);
        let kinds: Vec<Kind> = (0..self.random.random_range(1..=2)).map(|_| self.kind()).collect();
        let rows = (0..self.random.random_range(1..=3))
            .map(|_| {
                let cells = kinds.iter().map(|kind| self.leaf(*kind, &scope)).collect();
                sequence!["(", Tree::list(cells, ", "), ")"]
            })
            .collect();
        let names: Vec<String> = (0..kinds.len()).map(|place| format!("c{place}")).collect();
        let alias = self.alias();
        let tree = sequence![
            "(VALUES ",
            Tree::list(rows, ", "),
            format!(") AS {alias}({})", names.join(", "))
        ];
        (tree, columns_of(&alias, &kinds))
    }

    fn lateral(&mut self, outer: &[Name], depth: u32) -> (Tree, Vec<Name>) {
        let (left, mut names) = self.relation(outer, depth - 1);
        let kinds: Vec<Kind> = (0..self.random.random_range(1..=2)).map(|_| self.kind()).collect();
        let around: Vec<Name> = names.iter().chain(outer).cloned().collect();
        let query = self.query(&around, &kinds, depth - 1);
        let alias = self.alias();
        let inner = columns_of(&alias, &kinds);
        let (join, on) = match self.below(4) {
            0 => (
                "JOIN",
                sequence![" ON ", {
                    let all = names.iter().chain(&inner).cloned().collect();
                    self.condition(&Scope::new(all, outer), 0)
                }],
            ),
            1 => ("CROSS JOIN", Tree::from("")),
            _ => ("LEFT JOIN", Tree::from(" ON true")),
        };
        names.extend(inner);
        let tree = sequence![
            "(",
            left,
            format!(" {join} LATERAL ("),
            query,
            format!(") {alias}"),
            on,
            ")"
        ];
        (tree, names)
    }
}

pub(super) fn columns_of(alias: &str, kinds: &[Kind]) -> Vec<Name> {
    let columns = kinds.iter().enumerate();
    columns.map(|(place, kind)| Name { sql: format!("{alias}.c{place}"), kind: *kind }).collect()
}
