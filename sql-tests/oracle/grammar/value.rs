//! Expressions of a type. Integers are made small before they are computed with, so that nothing
//! overflows; text of numerics and floats is never made, since scales and -0 differ by decision.

use rand::Rng;
use rand::seq::IndexedRandom;

use super::{Grammar, Scope};
use crate::oracle::kind::Kind;
use crate::oracle::tree::{Tree, sequence};

impl Grammar<'_> {
    pub(super) fn value(&mut self, kind: Kind, scope: &Scope, depth: u32) -> Tree {
        let form = self.below(12);
        let form = if kind == Kind::Rough { 0 } else { form };
        if scope.windows && form < 5 {
            return Tree::value(kind, self.window(kind, scope));
        }
        if let Some(below) = &scope.below
            && form < 7
        {
            return self.aggregate(kind, below);
        }
        match form {
            10 | 11 if depth > 0 => self.computed(kind, scope, depth),
            9 if depth > 0 && self.relations > 0 => self.scalar(kind, scope, depth),
            _ => self.leaf(kind, scope),
        }
    }

    /// A column if there is one, or a literal.
    pub(super) fn leaf(&mut self, kind: Kind, scope: &Scope) -> Tree {
        let outer = !scope.outer.is_empty() && self.chance(3);
        let names = if outer { &scope.outer } else { &scope.here };
        let fitting: Vec<&str> =
            names.iter().filter(|name| name.kind == kind).map(|name| name.sql.as_str()).collect();
        let literal = self.chance(12);
        let tree = match fitting.choose(self.random) {
            Some(name) if !literal => Tree::from(*name),
            _ => self.without_column(kind, scope),
        };
        Tree::value(kind, tree)
    }

    /// Made of a column of another type, so that constants stay rare.
    fn without_column(&mut self, kind: Kind, scope: &Scope) -> Tree {
        let Some(name) = scope.here.choose(self.random) else {
            return Tree::from(self.literal(kind));
        };
        let sql = name.sql.clone();
        let made = match (kind, name.kind) {
            (Kind::Int, Kind::BigInt) => format!("({sql} % 1000)::int"),
            (Kind::Int, Kind::Text) => format!("length({sql})"),
            (Kind::Int, Kind::Bool) => format!("{sql}::int"),
            (Kind::Int, Kind::Date | Kind::Timestamp) => format!("extract(month from {sql})::int"),
            (Kind::BigInt | Kind::Numeric, Kind::Int) => format!("{sql}::{}", kind.sql()),
            (Kind::Numeric, Kind::BigInt) => format!("{sql}::numeric"),
            (Kind::Float, Kind::Int | Kind::BigInt) => format!("({sql} % 1000)::float8"),
            (Kind::Text, Kind::Int | Kind::BigInt | Kind::Bool | Kind::Date | Kind::Timestamp) => {
                format!("{sql}::text")
            }
            (Kind::Bool, _) => format!("({sql} IS NULL)"),
            (Kind::Int, Kind::IntArray) => format!("{sql}[1]"),
            (Kind::Int, Kind::TextArray) => format!("cardinality({sql})"),
            (Kind::Text, Kind::TextArray) => format!("{sql}[2]"),
            (Kind::Text, Kind::IntArray) => format!("array_to_string({sql}, ',')"),
            (Kind::Text, Kind::Json) => format!("({sql} ->> 'a')"),
            (Kind::IntArray, Kind::Int) => format!("ARRAY[{sql}, 2]"),
            (Kind::TextArray, Kind::Text) => format!("string_to_array({sql}, 'b')"),
            (Kind::Json, other) if is_plain_in_json(other) => format!("to_jsonb({sql})"),
            (Kind::Date, Kind::Timestamp) => format!("{sql}::date"),
            (Kind::Timestamp, Kind::Date) => format!("{sql}::timestamp"),
            _ => self.literal(kind),
        };
        Tree::from(made)
    }

    fn scalar(&mut self, kind: Kind, scope: &Scope, depth: u32) -> Tree {
        let around = scope.around();
        let query = if self.chance(4) {
            let tree = self.query(&around, &[kind], depth - 1);
            let direction = self.direction();
            let alias = self.alias();
            sequence![
                "SELECT * FROM (",
                tree,
                format!(") {alias}"),
                Tree::fixed(format!(" ORDER BY 1{direction} LIMIT 1"))
            ]
        } else {
            let (from, names) = self.relation(&around, depth - 1);
            let below = Scope::new(names.clone(), &[]);
            let aggregate = self.aggregate(kind, &below);
            let inner = Scope::new(names, &around);
            let filter = self.condition(&inner, depth - 1);
            sequence![
                "SELECT ",
                aggregate,
                " AS c0 FROM ",
                from,
                Tree::optional(sequence![" WHERE ", filter])
            ]
        };
        Tree::value(kind, sequence!["(", query, ")"])
    }

    /// A smaller operand.
    fn operand(&mut self, kind: Kind, scope: &Scope, depth: u32) -> Tree {
        self.value(kind, scope, depth - 1)
    }

    fn computed(&mut self, kind: Kind, scope: &Scope, depth: u32) -> Tree {
        let tree = match self.below(8) {
            0 => {
                let condition = self.condition(scope, depth - 1);
                let (yes, no) =
                    (self.operand(kind, scope, depth), self.operand(kind, scope, depth));
                let no = Tree::optional(sequence![" ELSE ", no]);
                sequence!["CASE WHEN ", condition, " THEN ", yes, no, " END"]
            }
            1 => {
                let items = (0..2).map(|_| self.operand(kind, scope, depth)).collect::<Vec<Tree>>();
                sequence!["COALESCE(", Tree::list(items, ", "), ")"]
            }
            2 if kind != Kind::Bool => {
                let function = self.one(&["NULLIF", "GREATEST", "LEAST"]);
                let (one, other) =
                    (self.operand(kind, scope, depth), self.operand(kind, scope, depth));
                sequence![format!("{function}("), one, ", ", other, ")"]
            }
            _ => self.arithmetic(kind, scope, depth),
        };
        Tree::value(kind, tree)
    }

    fn arithmetic(&mut self, kind: Kind, scope: &Scope, depth: u32) -> Tree {
        let one = self.operand(kind, scope, depth);
        match kind {
            Kind::Int | Kind::BigInt => {
                let other = self.operand(kind, scope, depth);
                match self.below(9) {
                    7 if kind == Kind::Int => {
                        let of = Tree::fixed(self.operand(Kind::Json, scope, depth));
                        let (test, value) = (of.clone(), of);
                        sequence![
                            "CASE WHEN jsonb_typeof(",
                            test,
                            ") = 'array' THEN jsonb_array_length(",
                            value,
                            ") END"
                        ]
                    }
                    8 if kind == Kind::Int => {
                        let of = self.operand(Kind::IntArray, scope, depth);
                        match self.below(2) {
                            0 => sequence!["cardinality(", of, ")"],
                            _ => sequence!["(", of, ")[", one, " % 3]"],
                        }
                    }
                    0 => sequence!["(", one, " % 100 + ", other, " % 100)"],
                    1 => sequence!["((", one, " % 100) * (", other, " % 100))"],
                    2 => sequence!["(", one, " / 7)"],
                    3 => {
                        let (again, zero) = (other.clone(), other);
                        sequence!["CASE WHEN ", zero, " > 0 THEN ", one, " / ", again, " END"]
                    }
                    4 => sequence!["abs(", one, " % 1000)"],
                    5 => sequence!["(- (", one, " % 1000))"],
                    _ => sequence!["(", one, " % 5)"],
                }
            }
            Kind::Numeric => match self.below(5) {
                0 => sequence!["(", one, " + 1.50)"],
                1 => sequence!["(", one, " * 2)"],
                2 => sequence!["round(", one, ", 1)"],
                3 => sequence!["abs(", one, ")"],
                _ => sequence!["(- ", one, ")"],
            },
            Kind::Float => match self.below(3) {
                0 => sequence!["(", one, " * 0.5)"],
                1 => sequence!["(", one, " + 0.25)"],
                _ => sequence!["(- ", one, ")"],
            },
            Kind::Text => {
                let other = self.operand(kind, scope, depth);
                match self.below(10) {
                    8 => {
                        let of = self.operand(Kind::Json, scope, depth);
                        let path =
                            self.one(&["->> 'a'", "->> 'b'", "->> 0", "#>> '{b,1}'", "#>> '{}'"]);
                        sequence!["(", of, format!(" {path})")]
                    }
                    9 => {
                        let of = self.operand(Kind::Json, scope, depth);
                        match self.below(2) {
                            0 => sequence!["jsonb_typeof(", of, ")"],
                            _ => sequence!["(", of, ")::text"],
                        }
                    }
                    0 | 1 => sequence!["(", one, " || ", other, ")"],
                    2 => sequence!["upper(", one, ")"],
                    3 => sequence!["substr(", one, ", 1, 2)"],
                    4 => sequence!["concat(", one, ", '-', ", other, ")"],
                    5 => sequence!["replace(", one, ", 'a', 'xy')"],
                    6 => sequence!["left(", one, ", -1)"],
                    _ => sequence!["trim(", one, ")"],
                }
            }
            Kind::Bool => self.condition(scope, depth - 1),
            Kind::Date => match self.below(3) {
                0 => sequence!["(", one, " + 7)"],
                1 => sequence!["date_trunc('month', ", one, ")::date"],
                _ => sequence!["(", one, " - ", self.random.random_range(1..9).to_string(), ")"],
            },
            Kind::Timestamp => match self.below(3) {
                0 => sequence!["(", one, " + interval '1 day 2 hours')"],
                1 => sequence!["date_trunc('hour', ", one, ")"],
                _ => sequence!["(", one, " - interval '1 month')"],
            },
            Kind::Json => self.of_json(one, scope, depth),
            Kind::IntArray | Kind::TextArray => {
                let item = if kind == Kind::IntArray { Kind::Int } else { Kind::Text };
                match self.below(6) {
                    0 => sequence!["(", one, " || ", self.operand(kind, scope, depth), ")"],
                    1 => {
                        sequence!["array_append(", one, ", ", self.operand(item, scope, depth), ")"]
                    }
                    2 => {
                        sequence!["array_remove(", one, ", ", self.operand(item, scope, depth), ")"]
                    }
                    3 => sequence!["(", one, ")[1:2]"],
                    4 if self.relations > 0 => {
                        let query = self.query(&scope.around(), &[item], depth - 1);
                        let alias = self.alias();
                        let order = Tree::fixed(format!(") {alias} ORDER BY 1)"));
                        sequence!["ARRAY(SELECT * FROM (", query, order]
                    }
                    _ => {
                        let items = (0..2).map(|_| self.operand(item, scope, depth)).collect();
                        sequence!["ARRAY[", Tree::list(items, ", "), "]"]
                    }
                }
            }
            Kind::Ratio | Kind::Rough => one,
        }
    }

    fn of_json(&mut self, one: Tree, scope: &Scope, depth: u32) -> Tree {
        match self.below(8) {
            0 | 1 => {
                let path =
                    self.one(&["-> 'a'", "-> 'b'", "-> 0", "-> -1", "#> '{b,0}'", "#> '{0,a}'"]);
                sequence!["(", one, format!(" {path})")]
            }
            2 => sequence!["(", one, " || ", self.operand(Kind::Json, scope, depth), ")"],
            3 => {
                let value = self.json_value(scope);
                sequence!["jsonb_build_object('a', ", one, ", 'd', ", value, ")"]
            }
            4 => sequence!["jsonb_build_array(", one, ", ", self.json_value(scope), ")"],
            5 => {
                let (first, second) = (self.json_value(scope), self.json_value(scope));
                let alias = self.alias();
                sequence![
                    format!("(SELECT to_jsonb({alias}) FROM (SELECT "),
                    first,
                    " AS f, ",
                    second,
                    format!(" AS g) {alias})")
                ]
            }
            6 => {
                let of = Tree::fixed(one);
                let (test, value) = (of.clone(), of);
                sequence![
                    "CASE WHEN jsonb_typeof(",
                    test,
                    ") = 'object' THEN ",
                    value,
                    " - 'a' END"
                ]
            }
            _ => sequence!["jsonb_strip_nulls(", one, ")"],
        }
    }

    /// What has the same text in jsonb on both servers.
    fn json_value(&mut self, scope: &Scope) -> Tree {
        let kind = self.kind();
        let kind = if is_plain_in_json(kind) { kind } else { Kind::Int };
        self.leaf(kind, scope)
    }
}

/// Not numerics, whose scales differ by decision, and floats, with their -0.
fn is_plain_in_json(kind: Kind) -> bool {
    !matches!(kind, Kind::Numeric | Kind::Float | Kind::Ratio | Kind::Rough)
}
