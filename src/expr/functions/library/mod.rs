//! PostgreSQL's functions that DataFusion lacks or has with another meaning, a table for each kind.

mod all_matches;
mod angles;
mod decimals;
mod function;
mod json;
mod json_edit;
mod json_order;
mod json_text;
mod jsonpath;
mod number_format;
mod pattern;
mod regexes;
mod row;
mod strings;
mod time_format;
mod times;
mod units;

use datafusion::logical_expr::ScalarUDF;

pub(super) use decimals::{overflow, rescale};
pub(super) use function::no_such;
pub(in crate::expr) use function::scalar_of;
pub(super) use json::push_string as push_json_string;
pub(super) use json_order::push_order as push_json_order;
pub(super) use row::Span;
pub use strings::encoded;
pub(super) use times::{Part, date_part, interval_part, moved, over, time_part, timestamp_part};
pub(super) use units::unit;

/// All of them.
pub(super) fn all() -> Vec<ScalarUDF> {
    let tables = [
        strings::TABLE,
        regexes::TABLE,
        json::TABLE,
        json_edit::TABLE,
        jsonpath::TABLE,
        times::TABLE,
        time_format::TABLE,
        number_format::TABLE,
        angles::TABLE,
    ];
    let mut all = function::functions(tables.into_iter().flatten());
    all.push(all_matches::all_matches());
    all
}
