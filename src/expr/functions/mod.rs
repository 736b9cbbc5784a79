//! Functions and operators as PostgreSQL defines them, where DataFusion's own differ. SELECT and
//! materialized views plan with the same ones.
//!
//! | here | PostgreSQL | DataFusion |
//! |---|---|---|
//! | `sum(int)`, `sum(bigint)`, `sum(real)` | bigint, numeric, real | bigint, bigint, double |
//! | `avg(interval)` | interval | none |
//! | `avg(int)`, `avg(numeric)` | numeric, 16 digits | double, 4 more digits |
//! | numeric `/` numeric | 16 digits, rounded | 4 more digits, cut |
//! | anything `/` zero | an error | infinity for floats |
//! | integer `+ - *` out of range | an error | wraps around |
//! | text to and from other types | as the types are written | as Arrow writes them |
//! | fraction to integer | rounds | cuts |
//! | `row_number()`, `rank()`, `ntile(n)` | bigint, bigint, integer | unsigned |
//! | `lag(x, n, default)`, `lead` | `n` and `default` are of the row | constants |
//! | functions of text, JSON, times, arrays (`library`, `arrays`) | | other results or none |

mod arithmetic;
mod array_fill;
mod arrays;
mod assign;
mod average;
mod casts;
mod clock;
mod collected;
mod constant_order;
mod counted;
mod decimal;
mod distinct_pairs;
mod divide;
mod excluding;
mod extract;
mod framed;
mod install;
mod intervals;
mod library;
mod literals;
mod mixed;
mod noted;
mod numbers;
mod order;
mod pg_typeof;
mod record;
mod recursive;
mod row_order;
mod rules;
mod series;
mod sets;
mod shift;
mod single;
mod sum;
mod to_char;
mod untyped;
mod variance;

pub use arrays::{ANY_EQUAL, ARRAY_CONTAINS, ARRAY_OVERLAPS};
pub use assign::{assignment, assignment_name};
pub use casts::reads_zone;
pub use constant_order::without_alias;
pub use decimal::{
    divide_numeric, divide_rounded, fits_numeric, fits_plain, quotient_digits, significand,
};
pub use divide::{FLOAT_DIVIDE, NUMERIC_DIVIDE, NUMERIC_MULTIPLY};
pub use excluding::{Exclusion, excluding, looks_at_frame};
pub use install::{function, install};
pub use intervals::interval_over;
pub use library::encoded;
pub(super) use library::scalar_of;
pub use literals::{narrow_expression, narrow_literals};
pub use mixed::SUBQUERY_ROW;
pub use noted::{is_noted, noted_element, noting_name, of_type, operand_type};
pub use order::{equality_function, equality_keys, order_function, window_order_function};
pub use record::NAMED_ROW;
pub use row_order::{ROW_KEY, ROW_ORDER};
pub use sets::{SetFunction, set_function};
pub use single::{SINGLE_ROW, SINGLE_VALUE};
pub use sum::check_digits;
pub use untyped::{UNTYPED, common_type};

/// Digits after the point of an average of integers, and the least of one of numerics and of a
/// numeric quotient. PostgreSQL gives at least 16 significant digits.
pub const QUOTIENT_SCALE: i8 = 16;
