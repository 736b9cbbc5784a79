//! Queries: SELECT in its forms, set operations, VALUES, WITH.

use rand::Rng;
use rand::seq::SliceRandom;

use super::{Grammar, Name, Scope};
use crate::oracle::kind::Kind;
use crate::oracle::schema::{Column, Table};
use crate::oracle::tree::{Tree, sequence};

impl Grammar<'_> {
    /// A query whose columns `c0`, `c1`, ... have the types `kinds`.
    pub(super) fn query(&mut self, outer: &[Name], kinds: &[Kind], depth: u32) -> Tree {
        let form = if depth == 0 { self.below(11) } else { self.below(30) };
        let tree = match form {
            // What is rough does not decide about rows.
            _ if kinds.contains(&Kind::Rough) => match form % 3 {
                0 => self.windowed(outer, kinds, depth),
                _ => self.grouped(outer, kinds, depth),
            },
            10 | 26 => match self.spreading(outer, kinds, depth) {
                Some(tree) => tree,
                None => self.select(outer, kinds, depth),
            },
            27 | 28 => self.recursive(outer, kinds, depth),
            0..5 => self.select(outer, kinds, depth),
            5 => sequence!["SELECT ", Tree::optional("DISTINCT "), self.body(outer, kinds, depth)],
            6..13 => self.grouped(outer, kinds, depth),
            13..17 => self.windowed(outer, kinds, depth),
            17 => self.distinct_on(outer, kinds, depth),
            18..20 => self.top(outer, kinds, depth),
            20..23 => self.set_operation(outer, kinds, depth),
            23 => self.values(outer, kinds),
            _ => self.with(outer, kinds, depth),
        };
        Tree::query(tree)
    }

    fn select(&mut self, outer: &[Name], kinds: &[Kind], depth: u32) -> Tree {
        sequence!["SELECT ", self.body(outer, kinds, depth)]
    }

    /// What follows SELECT, without groups and windows.
    fn body(&mut self, outer: &[Name], kinds: &[Kind], depth: u32) -> Tree {
        let (from, scope) = self.from(outer, depth);
        let items = self.items(kinds, &scope, depth);
        let filter = self.filter(" WHERE ", &scope, depth);
        sequence![items, from, filter]
    }

    /// ` FROM ...` and what it gives to see.
    pub(super) fn from(&mut self, outer: &[Name], depth: u32) -> (Tree, Scope) {
        let (relation, mut names) = self.relation(outer, depth);
        let mut from = sequence![" FROM ", relation];
        if self.relations > 1 && self.chance(12) {
            let (other, more) = self.relation(outer, 0);
            names.extend(more);
            from = sequence![from, Tree::optional(sequence![", ", other])];
        }
        (from, Scope::new(names, outer))
    }

    fn items(&mut self, kinds: &[Kind], scope: &Scope, depth: u32) -> Tree {
        let items = kinds
            .iter()
            .enumerate()
            .map(|(place, kind)| {
                sequence![self.value(*kind, scope, depth), format!(" AS c{place}")]
            })
            .collect();
        Tree::list(items, ", ")
    }

    /// A condition, sometimes.
    pub(super) fn filter(&mut self, word: &str, scope: &Scope, depth: u32) -> Tree {
        if self.chance(2) {
            return Tree::from("");
        }
        Tree::optional(sequence![word, self.condition(scope, depth.max(1))])
    }

    fn grouped(&mut self, outer: &[Name], kinds: &[Kind], depth: u32) -> Tree {
        let (from, mut below) = self.from(outer, depth);
        let filter = self.filter(" WHERE ", &below, depth);
        let (group, mut here) = self.group(&below);
        // An aggregate of outer columns alone would belong to the outer query.
        below.outer.clear();
        here.dedup_by(|a, b| a.sql == b.sql);
        let mut scope = Scope::new(here, outer);
        scope.below = Some(Box::new(below));
        // Rows of several grouping sets may be alike in all keys: no order of them is total.
        let sets = group.as_ref().is_some_and(|group| group.to_string().contains(" ("));
        scope.windows = !sets && self.chance(8);
        scope.total = self.total_window(&scope);
        let mut items = self.items(kinds, &scope, depth);
        scope.windows = false;
        let having = match self.below(3) {
            0 => self.filter(" HAVING ", &scope, depth),
            _ => Tree::from(""),
        };
        if let (None, Some(below), Tree::List { items, .. }) = (&group, &scope.below, &mut items) {
            // Without keys it is an aggregate that makes one row of all.
            items[0] = sequence![self.aggregate(kinds[0], below), " AS c0"];
        }
        sequence!["SELECT ", items, from, filter, group.unwrap_or(Tree::from("")), having]
    }

    /// ` GROUP BY ...` and its keys; none for one group of all rows.
    fn group(&mut self, scope: &Scope) -> (Option<Tree>, Vec<Name>) {
        if scope.here.is_empty() || self.chance(5) {
            return (None, Vec::new());
        }
        let mut keys = scope.here.clone();
        keys.retain(|name| name.kind.is_exact());
        keys.shuffle(self.random);
        keys.truncate(self.random.random_range(1..=3));
        if keys.is_empty() {
            return (None, Vec::new());
        }
        let list = |keys: &[Name]| {
            Tree::list(keys.iter().map(|key| Tree::from(key.sql.clone())).collect(), ", ")
        };
        let form = self.below(9);
        let tree = match form {
            0 => sequence![" GROUP BY ROLLUP (", list(&keys), ")"],
            1 => sequence![" GROUP BY CUBE (", list(&keys), ")"],
            2 => {
                let (first, last) = (keys[..1].to_vec(), keys[keys.len() - 1..].to_vec());
                let sets = [
                    sequence!["(", list(&keys), ")"],
                    sequence!["(", list(&first), ")"],
                    sequence!["(", list(&last), ")"],
                    Tree::from("()"),
                ];
                let end = self.random.random_range(1..=4);
                sequence![" GROUP BY GROUPING SETS (", Tree::list(sets[..end].to_vec(), ", "), ")"]
            }
            3 | 4 => {
                for key in &mut keys {
                    if key.kind == Kind::Int {
                        key.sql = format!("({} % 3)", key.sql);
                    } else if key.kind == Kind::Text {
                        key.sql = format!("upper({})", key.sql);
                    }
                }
                sequence![" GROUP BY ", list(&keys)]
            }
            _ => sequence![" GROUP BY ", list(&keys)],
        };
        if form < 3 {
            let grouping =
                |key: &Name| Name { sql: format!("grouping({})", key.sql), kind: Kind::Int };
            let of = keys.iter().map(grouping).collect::<Vec<_>>();
            keys.extend(of);
        }
        (Some(tree), keys)
    }

    fn windowed(&mut self, outer: &[Name], kinds: &[Kind], depth: u32) -> Tree {
        let (from, mut scope) = self.from(outer, depth);
        scope.windows = true;
        scope.total = self.total_window(&scope);
        let items = self.items(kinds, &scope, depth);
        scope.windows = false;
        let filter = self.filter(" WHERE ", &scope, depth);
        sequence!["SELECT ", items, from, filter]
    }

    fn distinct_on(&mut self, outer: &[Name], kinds: &[Kind], depth: u32) -> Tree {
        let inner = self.query(outer, kinds, depth - 1);
        let alias = self.alias();
        let mut places: Vec<usize> = (0..kinds.len()).collect();
        places.shuffle(self.random);
        let on: Vec<String> = places[..self.random.random_range(1..=places.len())]
            .iter()
            .map(|place| format!("{alias}.c{place}"))
            .collect();
        let order: Vec<String> =
            places.iter().map(|place| format!("{alias}.c{place}{}", self.direction())).collect();
        sequence![
            format!("SELECT DISTINCT ON ({}) * FROM (", on.join(", ")),
            inner,
            format!(") {alias} ORDER BY {}", order.join(", ")),
        ]
    }

    /// ORDER BY all columns, with LIMIT and OFFSET.
    fn top(&mut self, outer: &[Name], kinds: &[Kind], depth: u32) -> Tree {
        let order = self.order_by_places(kinds.len());
        if self.chance(2) {
            return sequence![self.select(outer, kinds, depth), order];
        }
        let alias = self.alias();
        let inner = self.query(outer, kinds, depth - 1);
        sequence!["SELECT * FROM (", inner, format!(") {alias}"), order]
    }

    pub(super) fn order_by_places(&mut self, columns: usize) -> Tree {
        let mut places: Vec<usize> = (1..=columns).collect();
        places.shuffle(self.random);
        let mut order: Vec<String> =
            places.iter().map(|place| format!("{place}{}", self.direction())).collect();
        let limit = self.random.random_range(0..6);
        let offset = match self.random.random_range(0..3) {
            0 => format!(" OFFSET {}", self.random.random_range(0..3)),
            _ => String::new(),
        };
        let limit = match self.random.random_range(0..4) {
            0 if !offset.is_empty() => offset,
            1 => {
                order.truncate(self.random.random_range(1..=order.len()));
                format!(" FETCH FIRST {} ROWS WITH TIES", limit + 1)
            }
            _ => format!(" LIMIT {limit}{offset}"),
        };
        Tree::optional(format!(" ORDER BY {}{limit}", order.join(", ")))
    }

    pub(super) fn direction(&mut self) -> &'static str {
        self.one(&["", "", " DESC", " NULLS FIRST", " DESC NULLS LAST"])
    }

    fn set_operation(&mut self, outer: &[Name], kinds: &[Kind], depth: u32) -> Tree {
        let operator = self.one(&[
            "UNION ALL",
            "UNION ALL",
            "UNION",
            "INTERSECT",
            "INTERSECT ALL",
            "EXCEPT",
            "EXCEPT ALL",
        ]);
        let left = self.query(outer, kinds, depth - 1);
        let right = self.query(outer, kinds, depth - 1);
        let tree = sequence!["(", left, format!(") {operator} ("), right, ")"];
        if self.chance(5) { sequence![tree, self.order_by_places(kinds.len())] } else { tree }
    }

    fn values(&mut self, outer: &[Name], kinds: &[Kind]) -> Tree {
        let scope = Scope::new(Vec::new(), outer);
        let rows = (0..self.random.random_range(1..=3))
            .map(|_| {
                let cells = kinds.iter().map(|kind| self.leaf(*kind, &scope)).collect();
                sequence!["(", Tree::list(cells, ", "), ")"]
            })
            .collect();
        let names: Vec<String> = (0..kinds.len()).map(|place| format!("c{place}")).collect();
        let alias = self.alias();
        sequence![
            "SELECT * FROM (VALUES ",
            Tree::list(rows, ", "),
            format!(") {alias}({})", names.join(", "))
        ]
    }

    fn with(&mut self, outer: &[Name], kinds: &[Kind], depth: u32) -> Tree {
        let mut columns: Vec<Kind> = kinds.to_vec();
        columns.push(Kind::Int);
        columns.truncate(4);
        let name = format!("w{}", self.aliases);
        self.aliases += 1;
        let definition = self.query(outer, &columns, depth - 1);
        let columns = columns
            .iter()
            .enumerate()
            .map(|(place, kind)| Column::new(format!("c{place}"), *kind))
            .collect();
        self.tables.push(Table { name: name.clone(), columns, keyed: false });
        self.with += 1;
        self.relations = self.relations.max(2);
        let body = self.query(outer, kinds, depth - 1);
        self.with -= 1;
        self.tables.pop();
        let hint = self.one(&["", "", "", "MATERIALIZED ", "NOT MATERIALIZED "]);
        sequence![format!("WITH {name} AS {hint}("), definition, ") ", body]
    }
}
