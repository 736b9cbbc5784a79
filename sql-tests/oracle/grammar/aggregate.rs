//! Aggregates of a type.

use super::{Grammar, Scope};
use crate::oracle::kind::Kind;
use crate::oracle::tree::{Tree, sequence};

impl Grammar<'_> {
    /// An aggregate whose result has the type `kind`, over the rows that `below` sees.
    pub(super) fn aggregate(&mut self, kind: Kind, below: &Scope) -> Tree {
        let distinct = if self.chance(5) { Tree::optional("DISTINCT ") } else { Tree::from("") };
        let form = self.below(6);
        let call = match (kind, form) {
            (Kind::BigInt, 0) => Tree::from("count(*)"),
            (Kind::BigInt, 1 | 2) => {
                let any = self.kind();
                sequence!["count(", distinct, self.argument(any, below), ")"]
            }
            (Kind::BigInt, 3 | 4) => {
                sequence!["sum(", distinct, self.argument(Kind::Int, below), ")"]
            }
            (Kind::Int, 0) | (Kind::BigInt, 5) => {
                let function = self.one(&["bit_and", "bit_or"]);
                sequence![format!("{function}("), self.argument(kind, below), ")"]
            }
            (Kind::Numeric, 0 | 1) => {
                let of = if self.chance(2) { Kind::BigInt } else { Kind::Numeric };
                sequence!["sum(", distinct, self.argument(of, below), ")"]
            }
            (Kind::Numeric, 2) => {
                let of = if self.chance(2) { Kind::BigInt } else { Kind::Int };
                sequence!["round(avg(", distinct, self.argument(of, below), " % 1000), 4)"]
            }
            (Kind::Float, 0..3) => {
                sequence!["sum(", distinct, self.argument(Kind::Float, below), ")"]
            }
            (Kind::Ratio, _) => sequence!["avg(", distinct, self.argument(Kind::Float, below), ")"],
            (Kind::Text, 0..3) => {
                let of = Tree::fixed(self.argument(Kind::Text, below));
                let direction = self.direction();
                sequence!["string_agg(", of.clone(), ", ',' ORDER BY ", of, direction, ")"]
            }
            (Kind::IntArray | Kind::TextArray, _) => {
                let item = if kind == Kind::IntArray { Kind::Int } else { Kind::Text };
                let of = Tree::fixed(self.argument(item, below));
                let direction = self.direction();
                sequence!["array_agg(", of.clone(), " ORDER BY ", of, direction, ")"]
            }
            (Kind::Bool, _) => {
                let function = self.one(&["bool_and", "bool_or", "every"]);
                sequence![format!("{function}("), self.argument(Kind::Bool, below), ")"]
            }
            (_, 5) => {
                let of = self.argument(kind, below);
                sequence!["percentile_disc(0.5) WITHIN GROUP (ORDER BY ", of, ")"]
            }
            _ => {
                let function = self.extreme();
                sequence![format!("{function}("), self.argument(kind, below), ")"]
            }
        };
        // round(avg()) takes none.
        let plain = !call.to_string().starts_with("round");
        let filter = if plain && self.chance(6) {
            let condition = self.condition(below, 0);
            Tree::optional(sequence![" FILTER (WHERE ", condition, ")"])
        } else {
            Tree::from("")
        };
        Tree::value(kind, sequence![call, filter])
    }

    /// `min` or `max`.
    pub(super) fn extreme(&mut self) -> &'static str {
        self.one(&["min", "max"])
    }

    fn argument(&mut self, kind: Kind, below: &Scope) -> Tree {
        let depth = u32::from(self.chance(4));
        self.value(kind, below, depth)
    }
}
