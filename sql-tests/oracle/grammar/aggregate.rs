//! Aggregates of a type.

use super::{Grammar, Scope};
use crate::oracle::kind::Kind;
use crate::oracle::tree::{Tree, sequence};

/// Aggregates of pairs of floats.
const REGRESSIONS: &[&str] = &[
    "corr",
    "covar_pop",
    "covar_samp",
    "regr_avgx",
    "regr_avgy",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
];

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
            (Kind::Numeric, 3) => {
                let function =
                    self.one(&["var_pop", "var_samp", "variance", "stddev", "stddev_pop"]);
                let of = self.argument(Kind::Int, below);
                sequence![format!("round({function}("), distinct, of, " % 1000), 4)"]
            }
            (Kind::Rough, 0..4) => {
                let function = self.one(REGRESSIONS);
                let (one, other) =
                    (self.argument(Kind::Float, below), self.argument(Kind::Float, below));
                sequence![format!("{function}("), one, ", ", other, ")"]
            }
            (Kind::Rough, 4) => {
                let part = self.one(&["0", "0.3", "0.5", "1"]);
                let of = self.argument(Kind::Float, below);
                sequence![format!("percentile_cont({part}) WITHIN GROUP (ORDER BY "), of, ")"]
            }
            (Kind::Rough, _) => self.deviation(below),
            (Kind::Ratio, _) => sequence!["avg(", distinct, self.argument(Kind::Float, below), ")"],
            (Kind::Text, 0..3) => self.collected("string_agg", Kind::Text, ", ','", below),
            (Kind::IntArray | Kind::TextArray, 0..=4) => {
                let item = if kind == Kind::IntArray { Kind::Int } else { Kind::Text };
                if self.chance(5) {
                    let of = self.argument(item, below);
                    let parts = "percentile_disc(ARRAY[0.25, 0.5, 1]) WITHIN GROUP (ORDER BY ";
                    sequence![parts, of, ")"]
                } else {
                    self.collected("array_agg", item, "", below)
                }
            }
            (Kind::Json, 0..3) => {
                let item = self.one_kind(&[Kind::Int, Kind::Text, Kind::Bool, Kind::Json]);
                self.collected("jsonb_agg", item, "", below)
            }
            (Kind::Json, 3) => {
                let (key, value) = (
                    Tree::fixed(self.argument(Kind::Text, below)),
                    Tree::fixed(self.argument(Kind::Int, below)),
                );
                let (key_again, value_again) = (key.clone(), value.clone());
                sequence![
                    "jsonb_object_agg(COALESCE(",
                    key,
                    ", ''), ",
                    value,
                    " ORDER BY ",
                    key_again,
                    ", ",
                    value_again,
                    ")"
                ]
            }
            (Kind::Bool, _) => {
                let function = self.one(&["bool_and", "bool_or", "every"]);
                sequence![format!("{function}("), self.argument(Kind::Bool, below), ")"]
            }
            (_, 5) => {
                let of = self.argument(kind, below);
                let function =
                    self.one(&["percentile_disc(0.5)", "percentile_disc(0.9)", "mode()"]);
                let direction = self.direction();
                sequence![format!("{function} WITHIN GROUP (ORDER BY "), of, direction, ")"]
            }
            (Kind::Json, _) => {
                let of = self.argument(Kind::Json, below);
                sequence!["mode() WITHIN GROUP (ORDER BY ", of, ")"]
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

    /// A spread of floats, or of integers as floats.
    pub(super) fn deviation(&mut self, below: &Scope) -> Tree {
        let function =
            self.one(&["stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp"]);
        if self.chance(2) {
            return sequence![format!("{function}("), self.argument(Kind::Float, below), ")"];
        }
        let of = self.argument(Kind::Int, below);
        sequence![format!("{function}(("), of, " % 1000)::float8)"]
    }

    /// All values in one, in an order of them; or first in another, where the values are alike.
    fn collected(&mut self, function: &str, item: Kind, more: &str, below: &Scope) -> Tree {
        let of = Tree::fixed(self.argument(item, below));
        let direction = self.direction();
        let (distinct, before) = match self.below(4) {
            0 => ("DISTINCT ", Tree::from("")),
            1 => {
                let other = self.kind();
                let first = self.argument(other, below);
                ("", Tree::optional(sequence![first, self.direction(), ", "]))
            }
            _ => ("", Tree::from("")),
        };
        sequence![
            format!("{function}({distinct}"),
            of.clone(),
            format!("{more} ORDER BY "),
            before,
            of,
            direction,
            ")"
        ]
    }

    /// `min` or `max`.
    pub(super) fn extreme(&mut self) -> &'static str {
        self.one(&["min", "max"])
    }

    pub(super) fn argument(&mut self, kind: Kind, below: &Scope) -> Tree {
        let depth = u32::from(self.chance(4));
        self.value(kind, below, depth)
    }
}
