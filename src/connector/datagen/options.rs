//! The options of `connector = 'datagen'`.

use arrow::datatypes::Schema;

use super::column::Column;
use crate::connector::option::OptionReader;
use crate::connector::registry::Options;
use crate::error::SqlResult;

/// What rows are to be like.
#[derive(Debug, Clone)]
pub struct DatagenOptions {
    pub(super) rows_per_second: Option<u64>,
    /// Rows in all; `None`: endless. The shortest sequence that ends counts, too.
    pub(super) rows: Option<u64>,
    pub(super) columns: Vec<Column>,
}

impl DatagenOptions {
    /// Reads and checks the options, for rows with this schema.
    pub fn read(options: &Options, schema: &Schema) -> SqlResult<Self> {
        let mut reader = OptionReader::new(options.owner(), &options.options);
        const COUNT: &str = "a whole number, not negative";
        let names = ["rows_per_second", "datagen.rows.per.second"];
        let rows_per_second = reader.parsed(&names, "a number of rows a second")?;
        let rows: Option<u64> = reader.parsed(&["rows"], COUNT)?;
        let seed = reader.parsed(&["seed"], COUNT)?.unwrap_or(0);
        let columns = schema
            .fields()
            .iter()
            .map(|field| Column::read(field, seed, &mut reader))
            .collect::<SqlResult<Vec<_>>>()?;
        reader.finish()?;
        options.no_format()?;
        let shortest = columns.iter().filter_map(Column::rows).min();
        let rows = rows.into_iter().chain(shortest).min();
        Ok(Self { rows_per_second, rows, columns })
    }
}
