//! Window functions of a type: over a total order where the function asks which row is next,
//! over any where it does not.

use rand::seq::IndexedRandom;

use super::{Grammar, Scope};
use crate::oracle::kind::Kind;
use crate::oracle::tree::{Tree, sequence};

impl Grammar<'_> {
    /// A window function whose result has the type `kind`.
    pub(super) fn window(&mut self, kind: Kind, scope: &Scope) -> Tree {
        // Below it may stand aggregates, but no further window function.
        let inner = Scope { windows: false, ..scope.clone() };
        let form = self.below(10);
        match (kind, form) {
            (Kind::BigInt, 0) => self.over("row_number()", &inner, true),
            (Kind::BigInt, 1..3) => {
                let function = self.one(&["rank()", "dense_rank()"]);
                self.over(function, &inner, false)
            }
            (Kind::Int, 0) => {
                let groups = 1 + self.below(4);
                self.over(format!("ntile({groups})"), &inner, true)
            }
            (Kind::Rough, _) => self.moving(kind, &inner),
            (Kind::Ratio, _) => {
                let function = self.one(&["percent_rank()", "cume_dist()"]);
                self.over(function, &inner, false)
            }
            (_, 3..7) => self.neighbour(kind, &inner),
            _ => self.moving(kind, &inner),
        }
    }

    /// lag, lead and what else picks a row.
    fn neighbour(&mut self, kind: Kind, scope: &Scope) -> Tree {
        let of = self.value(kind, scope, 0);
        match self.below(5) {
            0 | 1 => {
                let function = self.one(&["lag", "lead"]);
                let more = match self.below(3) {
                    0 => Tree::from(", 2"),
                    1 => sequence![", 1, ", self.literal(kind)],
                    _ => Tree::from(""),
                };
                self.over(sequence![format!("{function}("), of, more, ")"], scope, true)
            }
            2 => {
                let call = sequence!["nth_value(", of, ", 2)"];
                self.framed(call, scope)
            }
            _ => {
                let function = self.one(&["first_value", "last_value"]);
                let call = sequence![format!("{function}("), of, ")"];
                self.framed(call, scope)
            }
        }
    }

    /// An aggregate over a frame.
    fn moving(&mut self, kind: Kind, scope: &Scope) -> Tree {
        let below = Scope { below: None, ..scope.clone() };
        let call = match kind {
            Kind::BigInt => match self.below(3) {
                0 => Tree::from("count(*)"),
                1 => sequence!["count(", self.value(Kind::Text, &below, 0), ")"],
                _ => sequence!["sum(", self.value(Kind::Int, &below, 0), ")"],
            },
            Kind::Numeric => sequence!["sum(", self.value(Kind::BigInt, &below, 0), ")"],
            Kind::Float => sequence!["sum(", self.value(Kind::Float, &below, 0), ")"],
            Kind::Bool => {
                let function = self.one(&["bool_and", "bool_or"]);
                sequence![format!("{function}("), self.value(Kind::Bool, &below, 0), ")"]
            }
            Kind::Rough => self.deviation(&below),
            Kind::Json => return self.neighbour(kind, scope),
            other => {
                let function = self.extreme();
                sequence![format!("{function}("), self.value(other, &below, 0), ")"]
            }
        };
        let filter = if self.chance(6) {
            let condition = self.condition(&below, 0);
            Tree::optional(sequence![" FILTER (WHERE ", condition, ")"])
        } else {
            Tree::from("")
        };
        let call = sequence![call, filter];
        if self.chance(3) { self.framed(call, scope) } else { self.over(call, scope, false) }
    }

    fn partition(&mut self, scope: &Scope) -> Tree {
        if scope.here.is_empty() || self.chance(3) {
            return Tree::from("");
        }
        let key = scope.here.choose(self.random).expect("not empty").sql.clone();
        Tree::optional(format!("PARTITION BY {key} "))
    }

    /// A window over all columns: rows that tie are alike in all that the query can see.
    pub(super) fn total_window(&mut self, scope: &Scope) -> String {
        let mut items: Vec<String> = Vec::new();
        for name in &scope.here {
            let direction = self.direction();
            items.push(format!("{}{direction}", name.sql));
        }
        if items.is_empty() {
            // One row, of a global aggregate.
            items.push("1 + 0".to_string());
        }
        let turn = self.below(u32::try_from(items.len()).unwrap_or(1)) as usize;
        items.rotate_left(turn);
        format!("{}ORDER BY {}", self.partition(scope), items.join(", "))
    }

    fn over(&mut self, call: impl Into<Tree>, scope: &Scope, total: bool) -> Tree {
        if total {
            return sequence![call.into(), " OVER (", Tree::fixed(scope.total.clone()), ")"];
        }
        let partition = self.partition(scope);
        let key = scope.here.choose(self.random).cloned();
        let order = match key {
            Some(key) if !self.chance(4) => {
                let direction = self.direction();
                let order = format!("ORDER BY {}{direction}", key.sql);
                let frame = match (self.below(5), key.kind) {
                    (0, Kind::Int | Kind::BigInt) => " RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING",
                    (0, Kind::Numeric) => " RANGE BETWEEN 1.5 PRECEDING AND CURRENT ROW",
                    (0, Kind::Float) => " RANGE BETWEEN CURRENT ROW AND 1.5 FOLLOWING",
                    (0, Kind::Date | Kind::Timestamp) => {
                        " RANGE BETWEEN '2 months' PRECEDING AND '1 day' FOLLOWING"
                    }
                    (1, _) => " GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
                    (2, _) => " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
                    _ => "",
                };
                let exclusion = if frame.is_empty() { "" } else { self.exclusion() };
                sequence![order, Tree::optional(sequence![frame, Tree::optional(exclusion)])]
            }
            _ => Tree::from(""),
        };
        sequence![call.into(), " OVER (", partition, order, ")"]
    }

    /// Over a total order, with rows counted.
    fn framed(&mut self, call: Tree, scope: &Scope) -> Tree {
        let frame = self.one(&[
            "",
            " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
            " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
            " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            " ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING",
            " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
        ]);
        let window = Tree::fixed(scope.total.clone());
        let exclusion = if frame.is_empty() { "" } else { self.exclusion() };
        let frame = Tree::optional(sequence![frame, Tree::optional(exclusion)]);
        sequence![call, " OVER (", window, frame, ")"]
    }

    /// What a frame leaves out, sometimes.
    fn exclusion(&mut self) -> &'static str {
        self.one(&[
            "",
            "",
            "",
            " EXCLUDE CURRENT ROW",
            " EXCLUDE GROUP",
            " EXCLUDE TIES",
            " EXCLUDE NO OTHERS",
        ])
    }
}
