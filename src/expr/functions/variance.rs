//! `var_samp`, `var_pop`, `stddev_samp`, `stddev_pop` with PostgreSQL's result types: numeric over
//! integers and numerics, double precision over floats. [`Moments`] does the work.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
};

use super::super::accumulator::{Moments, Spread, Unit, spreads};
use super::collected::{Definition, collected_state, collecting};
use super::framed::Frame;
use super::library::no_such;
use crate::error::SqlError;
use crate::types::SqlType;

const fn definition(
    name: &'static str,
    evaluate: fn(&[ArrayRef], &FieldRef) -> Result<ScalarValue>,
) -> Definition {
    Definition { name, coerce, result, evaluate, skips_null: true, within_group: false }
}

/// The functions, with what each is over distinct values.
static ALL: [(Spread, Definition); 4] = [
    (VAR_SAMP, definition("var_samp", |columns, _| of_column(&columns[0], VAR_SAMP))),
    (VAR_POP, definition("var_pop", |columns, _| of_column(&columns[0], VAR_POP))),
    (STDDEV_SAMP, definition("stddev_samp", |columns, _| of_column(&columns[0], STDDEV_SAMP))),
    (STDDEV_POP, definition("stddev_pop", |columns, _| of_column(&columns[0], STDDEV_POP))),
];

const VAR_SAMP: Spread = Spread { is_sample: true, is_root: false };
const VAR_POP: Spread = Spread { is_sample: false, is_root: false };
const STDDEV_SAMP: Spread = Spread { is_sample: true, is_root: true };
const STDDEV_POP: Spread = Spread { is_sample: false, is_root: true };

/// All of them.
pub(super) fn all() -> impl Iterator<Item = AggregateUDF> {
    ALL.iter().map(|(spread, definition)| {
        let aliases = match definition.name {
            "var_samp" => vec!["var".to_owned(), "variance".to_owned()],
            "stddev_samp" => vec!["stddev".to_owned()],
            _ => Vec::new(),
        };
        AggregateUDF::from(Variance {
            spread: *spread,
            definition,
            aliases,
            signature: Signature::user_defined(Volatility::Immutable),
        })
    })
}

fn coerce(given: &[DataType]) -> Option<Vec<DataType>> {
    let [given] = given else { return None };
    Some(vec![match given {
        DataType::Decimal128(..) | DataType::Decimal256(..) => given.clone(),
        given if given.is_integer() || given.is_null() => DataType::Int64,
        given if given.is_floating() => DataType::Float64,
        _ => return None,
    }])
}

fn result(arguments: &[FieldRef]) -> Field {
    let sql_type = match arguments[0].data_type() {
        DataType::Float64 => SqlType::Double,
        _ => SqlType::Numeric(None),
    };
    sql_type.field("", true)
}

fn of_column(column: &ArrayRef, spread: Spread) -> Result<ScalarValue> {
    let mut moments = [Moments::default()];
    Moments::add_column(&mut moments, column, |_| 0, |_| 1)?;
    value(&moments[0], spread, unit_of(column.data_type())?)
}

fn unit_of(argument: &DataType) -> Result<Unit> {
    Unit::of(argument).ok_or_else(|| SqlError::internal("a variance of no numbers").into())
}

fn value(moments: &Moments, spread: Spread, unit: Unit) -> Result<ScalarValue> {
    let results = spreads(std::iter::once(moments), spread, unit)?;
    match results.errors.into_iter().next() {
        Some((_, error)) => Err(error.into()),
        None => ScalarValue::try_from_array(&results.column, 0),
    }
}

#[derive(Debug)]
struct Variance {
    spread: Spread,
    definition: &'static Definition,
    aliases: Vec<String>,
    signature: Signature,
}

impl PartialEq for Variance {
    fn eq(&self, other: &Self) -> bool {
        self.spread == other.spread
    }
}

impl Eq for Variance {}

impl std::hash::Hash for Variance {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.spread.hash(state);
    }
}

impl AggregateUDFImpl for Variance {
    fn name(&self) -> &'static str {
        self.definition.name
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        coerce(given).ok_or_else(|| no_such(self.name(), given).into())
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        let argument = Field::new("", arguments[0].clone(), true).into();
        Ok(result(&[argument]).data_type().clone())
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return collecting(self.definition, &args);
        }
        let unit = unit_of(args.expr_fields[0].data_type())?;
        Ok(Box::new(Running { moments: Moments::default(), spread: self.spread, unit }))
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        let unit = unit_of(args.expr_fields[0].data_type())?;
        let spread = self.spread;
        let make = move |_: AccumulatorArgs<'_>| {
            let running = Running { moments: Moments::default(), spread, unit };
            Ok(Box::new(running) as Box<dyn Accumulator>)
        };
        Ok(Box::new(Frame::new(args, make)?))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if args.is_distinct {
            return Ok(vec![collected_state(&args)]);
        }
        Ok(vec![Field::new(format!("{}[moments]", args.name), DataType::Binary, true).into()])
    }
}

/// The moments of one group.
#[derive(Debug)]
struct Running {
    moments: Moments,
    spread: Spread,
    unit: Unit,
}

impl Accumulator for Running {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let moments = std::slice::from_mut(&mut self.moments);
        Ok(Moments::add_column(moments, &values[0], |_| 0, |_| 1)?)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for mut bytes in states[0].as_binary::<i32>().iter().flatten() {
            let other = Moments::read(&mut bytes);
            self.moments
                .merge(&other.ok_or_else(|| SqlError::internal("moments of another form"))?);
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut bytes = Vec::new();
        self.moments.write(&mut bytes);
        Ok(vec![ScalarValue::Binary(Some(bytes))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        value(&self.moments, self.spread, self.unit)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.moments.heap_bytes()
    }
}
