//! Conditions, with every kind of subquery that can be one.

use rand::seq::IndexedRandom;

use super::{Grammar, Name, Scope};
use crate::oracle::kind::Kind;
use crate::oracle::tree::{Tree, sequence};

impl Grammar<'_> {
    pub(super) fn condition(&mut self, scope: &Scope, depth: u32) -> Tree {
        let form = if depth == 0 { self.below(9) } else { self.below(18) };
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
            9..11 => {
                let word = self.one(&[" AND ", " OR "]);
                let parts = (0..2).map(|_| self.condition(scope, depth - 1)).collect();
                sequence!["(", Tree::list(parts, word), ")"]
            }
            11 => sequence!["(NOT ", self.condition(scope, depth - 1), ")"],
            12 => {
                let test = self.one(&["IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT UNKNOWN"]);
                sequence!["(", self.condition(scope, depth - 1), format!(" {test})")]
            }
            _ if self.relations <= 0 => self.comparison(scope, depth),
            _ => self.subquery_condition(scope, depth),
        };
        Tree::value(Kind::Bool, tree)
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
            Some(Kind::IntArray | Kind::TextArray | Kind::Ratio) | None => self.kind(),
            Some(kind) => kind,
        }
    }
}
