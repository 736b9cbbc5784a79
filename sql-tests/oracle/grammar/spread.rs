//! Set-returning functions: in FROM, over columns of the relation beside or of none, with numbers;
//! and in SELECT's list.

use rand::seq::IndexedRandom;

use super::relation::columns_of;
use super::{Grammar, Name, Scope};
use crate::oracle::kind::Kind;
use crate::oracle::tree::{Tree, sequence};

impl Grammar<'_> {
    /// A function in FROM, beside a relation that its arguments may read.
    pub(super) fn spread(&mut self, outer: &[Name], depth: u32) -> (Tree, Vec<Name>) {
        if self.chance(6) {
            let (function, names) = self.function_relation(&Scope::new(Vec::new(), outer));
            self.relations -= 1;
            return (function, names);
        }
        let (left, mut names) = self.relation(outer, depth.saturating_sub(1));
        let (function, more) = self.function_relation(&Scope::new(names.clone(), outer));
        let (join, on) = match self.below(4) {
            0 => ("CROSS JOIN LATERAL", ""),
            1 => ("CROSS JOIN", ""),
            2 => ("JOIN", " ON true"),
            _ => ("LEFT JOIN LATERAL", " ON true"),
        };
        names.extend(more);
        (sequence!["(", left, format!(" {join} "), function, format!("{on})")], names)
    }

    fn function_relation(&mut self, scope: &Scope) -> (Tree, Vec<Name>) {
        let alias = self.alias();
        let (call, mut kinds) = match self.below(7) {
            6 => {
                let one = self.spread_kind();
                let other = self.spread_kind();
                let calls = vec![self.spread_call(one, scope), self.spread_call(other, scope)];
                (sequence!["ROWS FROM (", Tree::list(calls, ", "), ")"], vec![one, other])
            }
            0 => {
                let of = Tree::fixed(self.leaf(Kind::Json, scope));
                let function = self.one(&["jsonb_each", "jsonb_each_text"]);
                let value = if function == "jsonb_each" { Kind::Json } else { Kind::Text };
                (of_type(function, "object", &of), vec![Kind::Text, value])
            }
            1 => {
                let (one, other) =
                    (self.leaf(Kind::IntArray, scope), self.leaf(Kind::TextArray, scope));
                (sequence!["unnest(", one, ", ", other, ")"], vec![Kind::Int, Kind::Text])
            }
            _ => {
                let kind = self.spread_kind();
                (self.spread_call(kind, scope), vec![kind])
            }
        };
        let numbered = self.chance(3);
        if numbered {
            kinds.push(Kind::BigInt);
        }
        let columns: Vec<String> = (0..kinds.len()).map(|place| format!("c{place}")).collect();
        let ordinality = if numbered { " WITH ORDINALITY" } else { "" };
        let tree = sequence![call, format!("{ordinality} AS {alias}({})", columns.join(", "))];
        (tree, columns_of(&alias, &kinds))
    }

    fn spread_kind(&mut self) -> Kind {
        *[Kind::Int, Kind::Int, Kind::Text, Kind::Json, Kind::Timestamp]
            .choose(self.random)
            .expect("not empty")
    }

    /// A call that gives rows of one value of type `kind`, few of them.
    fn spread_call(&mut self, kind: Kind, scope: &Scope) -> Tree {
        match kind {
            Kind::Int => match self.below(4) {
                0 => sequence!["unnest(", self.leaf(Kind::IntArray, scope), ")"],
                1 => sequence!["generate_series(3, ", self.leaf(Kind::Int, scope), " % 4, -1)"],
                _ => sequence!["generate_series(1, ", self.leaf(Kind::Int, scope), " % 4)"],
            },
            Kind::Text => match self.below(4) {
                0 => sequence!["unnest(", self.leaf(Kind::TextArray, scope), ")"],
                1 => sequence!["string_to_table(", self.leaf(Kind::Text, scope), ", 'b')"],
                2 => {
                    let of = Tree::fixed(self.leaf(Kind::Json, scope));
                    of_type("jsonb_object_keys", "object", &of)
                }
                _ => {
                    let of = Tree::fixed(self.leaf(Kind::Json, scope));
                    of_type("jsonb_array_elements_text", "array", &of)
                }
            },
            Kind::Json => {
                let of = Tree::fixed(self.leaf(Kind::Json, scope));
                of_type("jsonb_array_elements", "array", &of)
            }
            _ => {
                let of = Tree::fixed(self.leaf(Kind::Timestamp, scope));
                let (from, to) = (of.clone(), of);
                sequence!["generate_series(", from, ", ", to, " + interval '30 hours', '1 day')"]
            }
        }
    }

    /// SELECT with functions in its list that give rows, or none if there is no column for them.
    pub(super) fn spreading(&mut self, outer: &[Name], kinds: &[Kind], depth: u32) -> Option<Tree> {
        let fits =
            |kind: &Kind| matches!(kind, Kind::Int | Kind::Text | Kind::Json | Kind::Timestamp);
        if !kinds.iter().any(fits) {
            return None;
        }
        let (from, scope) = self.from(outer, depth.saturating_sub(1));
        let mut calls = 0;
        let items = kinds
            .iter()
            .enumerate()
            .map(|(place, kind)| {
                let last = !kinds[place + 1..].iter().any(fits);
                let call = fits(kind) && (calls == 0 && last || self.chance(2));
                calls += usize::from(call);
                let value =
                    if call { self.spread_call(*kind, &scope) } else { self.leaf(*kind, &scope) };
                sequence![value, format!(" AS c{place}")]
            })
            .collect();
        let filter = self.filter(" WHERE ", &scope, depth);
        Some(sequence!["SELECT ", Tree::list(items, ", "), from, filter])
    }
}

/// A function of jsonb values of one type: of others there are no rows, rather than an error.
fn of_type(function: &str, wanted: &str, of: &Tree) -> Tree {
    let (test, value) = (of.clone(), of.clone());
    sequence![
        format!("{function}(CASE WHEN jsonb_typeof("),
        test,
        format!(") = '{wanted}' THEN "),
        value,
        " END)"
    ]
}
