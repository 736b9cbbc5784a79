//! Conditions, with every kind of subquery that can be one.

use rand::seq::IndexedRandom;

use super::{Grammar, Name, Scope};
use crate::oracle::kind::Kind;
use crate::oracle::tree::{Tree, sequence};

impl Grammar<'_> {
    pub(super) fn condition(&mut self, scope: &Scope, depth: u32) -> Tree {
        let form = if depth == 0 { self.below(11) } else { self.below(20) };
        let tree = match form {
            0..5 => self.comparison(scope, depth),
            5 => {
                let kind = self.kind_seen(scope);
                let test = self.one(&[" IS NULL", " IS NOT NULL"]);
                sequence!["(", self.value(kind, scope, depth.saturating_sub(1)), format!("{test})")]
            }
            6 => {
                let kind = self.kind_seen(scope);
                let (one, low, high) =
                    (self.leaf(kind, scope), self.leaf(kind, scope), self.leaf(kind, scope));
                sequence!["(", one, " BETWEEN ", low, " AND ", high, ")"]
            }
            7 => {
                let kind = self.kind_seen(scope);
                let list = (0..3).map(|_| Tree::from(self.literal(kind))).collect();
                let word = self.one(&["IN", "NOT IN"]);
                let one = self.leaf(kind, scope);
                sequence!["(", one, format!(" {word} ("), Tree::list(list, ", "), "))"]
            }
            8 => {
                let one = self.leaf(Kind::Text, scope);
                let pattern = self.one(&["LIKE 'a%'", "LIKE '%b'", "NOT LIKE '_'", "ILIKE 'A_'"]);
                sequence!["(", one, format!(" {pattern})")]
            }
            9 => self.of_array_or_json(scope),
            10 => {
                let operator = self.one(&["=", "<>", "<", ">="]);
                let (a, b) = (self.kind_seen(scope), self.kind_seen(scope));
                let (one, two) = (self.leaf(a, scope), self.leaf(b, scope));
                let (other, more) = (self.leaf(a, scope), self.leaf(b, scope));
                sequence!["((", one, ", ", two, format!(") {operator} ("), other, ", ", more, "))"]
            }
            11..13 => {
                let word = self.one(&[" AND ", " OR "]);
                let parts = (0..2).map(|_| self.condition(scope, depth - 1)).collect();
                sequence!["(", Tree::list(parts, word), ")"]
            }
            13 => sequence!["(NOT ", self.condition(scope, depth - 1), ")"],
            14 => {
                let test = self.one(&["IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT UNKNOWN"]);
                sequence!["(", self.condition(scope, depth - 1), format!(" {test})")]
            }
            _ if self.relations <= 0 => self.comparison(scope, depth),
            _ => self.subquery_condition(scope, depth),
        };
        Tree::value(Kind::Bool, tree)
    }

    fn of_array_or_json(&mut self, scope: &Scope) -> Tree {
        let (item, array) = self.one_pair();
        match self.below(7) {
            6 => {
                // Equal to values that are written otherwise.
                let operator = self.one(&["=", "=", "<>", "<", ">=", "IS DISTINCT FROM"]);
                let one = self.leaf(Kind::Json, scope);
                let other = self.one(&[
                    r#"'{"b": [1.0, 2], "a": 1.00}'"#,
                    "'[1, 2.0, 1e0]'",
                    "'1.0'",
                    r#"'{"c": null, "a": "y", "a": "x"}'"#,
                ]);
                sequence!["(", one, format!(" {operator} {other}::jsonb)")]
            }
            0 | 1 => {
                let operator = self.one(&["= ANY", "= ANY", "<> ALL", "> ANY", "<= ALL"]);
                let (one, of) = (self.leaf(item, scope), self.leaf(array, scope));
                sequence!["(", one, format!(" {operator} ("), of, "))"]
            }
            2 => {
                let operator = self.one(&["@>", "<@", "&&"]);
                let (one, other) = (self.leaf(array, scope), self.leaf(array, scope));
                sequence!["(", one, format!(" {operator} "), other, ")"]
            }
            3 => {
                let (one, other) = (self.leaf(Kind::Json, scope), self.leaf(Kind::Json, scope));
                let operator = self.one(&["@>", "<@"]);
                sequence!["(", one, format!(" {operator} "), other, ")"]
            }
            4 => {
                let one = self.leaf(Kind::Json, scope);
                let wanted =
                    self.one(&[r#"@> '{"a": 1}'"#, "@> '[1]'", "?| ARRAY['a', 'c']", "?& '{a,b}'"]);
                sequence!["(", one, format!(" {wanted})")]
            }
            _ => {
                let (one, key) = (self.leaf(Kind::Json, scope), self.leaf(Kind::Text, scope));
                sequence!["(", one, " ? ", key, ")"]
            }
        }
    }

    /// A type and that of its arrays.
    fn one_pair(&mut self) -> (Kind, Kind) {
        if self.chance(2) { (Kind::Int, Kind::IntArray) } else { (Kind::Text, Kind::TextArray) }
    }

    fn comparison(&mut self, scope: &Scope, depth: u32) -> Tree {
        let kind = self.kind_seen(scope);
        let operator = self.one(&[
            "=",
            "=",
            "<>",
            "<",
            "<=",
            ">",
            ">=",
            "IS DISTINCT FROM",
            "IS NOT DISTINCT FROM",
        ]);
        let depth = depth.saturating_sub(1);
        let (one, other) = (self.value(kind, scope, depth), self.value(kind, scope, depth));
        sequence!["(", one, format!(" {operator} "), other, ")"]
    }

    fn subquery_condition(&mut self, scope: &Scope, depth: u32) -> Tree {
        let around = scope.around();
        let kind = self.kind_seen(scope);
        match self.below(9) {
            0..3 => {
                let word = self.one(&["IN", "IN", "NOT IN", "NOT IN"]);
                let one = self.leaf(kind, scope);
                let query = self.column_of(kind, &around, depth);
                sequence!["(", one, format!(" {word} ("), query, "))"]
            }
            3..6 => {
                let word = self.one(&["EXISTS", "NOT EXISTS"]);
                let query = self.column_of(kind, &around, depth);
                sequence![format!("{word} ("), query, ")"]
            }
            6 | 7 => {
                let operator = self.one(&["=", "<>", "<", ">=", ">"]);
                let word = self.one(&["ANY", "ALL", "SOME"]);
                let one = self.leaf(kind, scope);
                let query = self.column_of(kind, &around, depth);
                sequence!["(", one, format!(" {operator} {word} ("), query, "))"]
            }
            _ => {
                let other = self.kind_seen(scope);
                let word = self.one(&["IN", "NOT IN"]);
                let (one, two) = (self.leaf(kind, scope), self.leaf(other, scope));
                let query = self.query(&around, &[kind, other], depth - 1);
                sequence!["((", one, ", ", two, format!(") {word} ("), query, "))"]
            }
        }
    }

    /// A query of one column: mostly a plain one with a condition, else any.
    fn column_of(&mut self, kind: Kind, around: &[Name], depth: u32) -> Tree {
        if self.chance(3) {
            return self.query(around, &[kind], depth - 1);
        }
        let (from, names) = self.relation(around, depth - 1);
        let scope = Scope::new(names, around);
        let item = self.leaf(kind, &scope);
        let filter = self.condition(&scope, depth - 1);
        Tree::query(sequence![
            "SELECT ",
            item,
            " AS c0 FROM ",
            from,
            Tree::optional(sequence![" WHERE ", filter])
        ])
    }

    /// A type of which something can be seen.
    fn kind_seen(&mut self, scope: &Scope) -> Kind {
        let names =
            if scope.outer.is_empty() || self.chance(2) { &scope.here } else { &scope.outer };
        match names.choose(self.random).map(|name| name.kind) {
            Some(kind) if kind.is_exact() => kind,
            _ => self.kind(),
        }
    }
}
