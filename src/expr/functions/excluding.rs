//! Window functions over frames that leave some of their rows out: EXCLUDE CURRENT ROW, GROUP and
//! TIES, which DataFusion has not.
//!
//! ```text
//! sum(x) FILTER (WHERE c) OVER (... EXCLUDE TIES)   =   "excluding ties: sum"(c, x) OVER (...)
//! ```
//!
//! What is left of a frame is at most three stretches of rows: those before the group of the
//! current row's peers, the current row, those after the group. The function is computed over them
//! anew for each row, as over any frame that moves; rows that have the same stretches share the
//! result.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::compute::{filter, partition};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, Schema};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{
    AccumulatorArgs, PartitionEvaluatorArgs, WindowUDFFieldArgs,
};
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    AggregateUDF, LimitEffect, PartitionEvaluator, ReversedUDWF, Signature, Volatility, WindowUDF,
    WindowUDFImpl,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, Literal};

use super::framed::OwnedArgs;
use super::library::no_such;
use crate::error::{SqlError, code};

/// Which rows a frame leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exclusion {
    CurrentRow,
    /// The current row and its peers.
    Group,
    /// The current row's peers.
    Ties,
}

impl Exclusion {
    const ALL: [Self; 3] = [Self::CurrentRow, Self::Group, Self::Ties];

    /// As [`Exclusion::named`] reads it.
    pub fn word(self) -> &'static str {
        match self {
            Self::CurrentRow => "current row",
            Self::Group => "group",
            Self::Ties => "ties",
        }
    }

    /// The exclusion that SQL writes so, in lower case.
    pub fn named(words: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|exclusion| exclusion.word() == words)
    }

    /// What `function` is called over frames with this exclusion: a name that needs quotes.
    pub fn call(self, function: &str) -> String {
        format!("{PREFIX}{}: {function}", self.word())
    }
}

const PREFIX: &str = "excluding ";

/// Window functions that look at their frame and are no aggregates.
const OF_FRAMES: &[&str] = &["first_value", "last_value", "nth_value"];

/// Whether a function that is no aggregate looks at its frame.
pub fn looks_at_frame(name: &str) -> bool {
    OF_FRAMES.contains(&name)
}

/// The function that [`Exclusion::call`] names, if it is one; `find` finds aggregates.
pub fn excluding(
    name: &str,
    find: impl Fn(&str) -> Option<Arc<AggregateUDF>>,
) -> Option<Arc<WindowUDF>> {
    let (words, inner) = name.strip_prefix(PREFIX)?.split_once(": ")?;
    let exclusion = Exclusion::named(words)?;
    let function = match inner {
        "first_value" => Function::Nth(Place::First),
        "last_value" => Function::Nth(Place::Last),
        "nth_value" => Function::Nth(Place::Given),
        other => Function::Aggregate(find(other)?),
    };
    let signature = Signature::user_defined(Volatility::Immutable);
    let name = name.to_owned();
    Some(Arc::new(WindowUDF::from(Excluding { name, exclusion, function, signature })))
}

/// Where the first argument of the function is that a function of this name computes.
pub(super) fn first_of_excluding(name: &str) -> Option<usize> {
    name.starts_with(PREFIX).then_some(1)
}

/// What is computed over the rows that are left.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Function {
    Aggregate(Arc<AggregateUDF>),
    Nth(Place),
}

/// Which of the rows gives its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    First,
    Last,
    /// As the second argument says.
    Given,
}

/// A function of a condition, and of the arguments of the function that is computed.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Excluding {
    name: String,
    exclusion: Exclusion,
    function: Function,
    signature: Signature,
}

impl WindowUDFImpl for Excluding {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let Some((_, arguments)) = given.split_first() else {
            return Err(no_such(&self.name, given).into());
        };
        let arguments = match (&self.function, arguments) {
            (Function::Aggregate(aggregate), arguments) => {
                let fields: Vec<FieldRef> = arguments
                    .iter()
                    .map(|kind| Field::new("", kind.clone(), true).into())
                    .collect();
                let fields = fields_with_udf(&fields, aggregate.as_ref())?;
                fields.iter().map(|field| field.data_type().clone()).collect()
            }
            (Function::Nth(Place::Given), [value, n]) if n.is_integer() || n.is_null() => {
                vec![value.clone(), DataType::Int64]
            }
            (Function::Nth(Place::First | Place::Last), [value]) => vec![value.clone()],
            (Function::Nth(_), _) => return Err(no_such(&self.name, arguments).into()),
        };
        Ok([vec![DataType::Boolean], arguments].concat())
    }

    fn field(&self, args: WindowUDFFieldArgs<'_>) -> Result<FieldRef> {
        let arguments = args.input_fields().get(1..).unwrap_or_default();
        let field = match &self.function {
            Function::Aggregate(aggregate) => aggregate.return_field(arguments)?,
            Function::Nth(_) => {
                let value = arguments.first().ok_or_else(|| no_such(&self.name, &[]))?;
                Arc::new(value.as_ref().clone().with_nullable(true))
            }
        };
        Ok(Arc::new(field.as_ref().clone().with_name(args.name())))
    }

    fn partition_evaluator(
        &self,
        args: PartitionEvaluatorArgs<'_>,
    ) -> Result<Box<dyn PartitionEvaluator>> {
        let computed = match &self.function {
            Function::Aggregate(aggregate) => {
                let args = arguments_of(aggregate, &args)?;
                // What cannot be made at all is told now.
                aggregate.accumulator(args.args())?;
                Computed::Aggregate(Arc::clone(aggregate), Box::new(args))
            }
            Function::Nth(place) => Computed::Nth(*place),
        };
        let (exclusion, arguments) = (self.exclusion, args.input_exprs().len());
        Ok(Box::new(Evaluator {
            exclusion,
            computed,
            arguments,
            row: 0,
            groups: Vec::new(),
            group: 0,
            last: None,
        }))
    }

    fn reverse_expr(&self) -> ReversedUDWF {
        ReversedUDWF::NotSupported
    }

    fn limit_effect(&self, _args: &[Arc<dyn PhysicalExpr>]) -> LimitEffect {
        LimitEffect::Unknown
    }
}

/// What an aggregate's accumulator is made with: literals as they are, columns by their places.
fn arguments_of(aggregate: &AggregateUDF, args: &PartitionEvaluatorArgs<'_>) -> Result<OwnedArgs> {
    let fields = args.input_fields().get(1..).unwrap_or_default();
    let named = fields
        .iter()
        .enumerate()
        .map(|(index, field)| field.as_ref().clone().with_name(format!("argument {index}")));
    let schema = Schema::new(named.collect::<Vec<_>>());
    let given = args.input_exprs().get(1..).unwrap_or_default();
    let exprs = given.iter().enumerate().map(|(index, expr)| match expr.is::<Literal>() {
        true => Arc::clone(expr),
        false => Arc::new(Column::new(schema.field(index).name(), index)) as _,
    });
    let exprs: Vec<Arc<dyn PhysicalExpr>> = exprs.collect();
    Ok(OwnedArgs::new(&AccumulatorArgs {
        return_field: aggregate.return_field(fields)?,
        schema: &schema,
        ignore_nulls: args.ignore_nulls(),
        order_bys: &[],
        is_reversed: false,
        name: aggregate.name(),
        is_distinct: false,
        exprs: &exprs,
        expr_fields: fields,
    }))
}

enum Computed {
    Aggregate(Arc<AggregateUDF>, Box<OwnedArgs>),
    Nth(Place),
}

/// Goes through the rows of a partition, one after the other.
struct Evaluator {
    exclusion: Exclusion,
    computed: Computed,
    /// How many of the columns are arguments; those of ORDER BY follow.
    arguments: usize,
    row: usize,
    /// The groups of peers, and the one that the row is in.
    groups: Vec<Range<usize>>,
    group: usize,
    /// The stretches of rows that were looked at last, and what came of them.
    last: Option<(Vec<Range<usize>>, ScalarValue)>,
}

impl std::fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator").field("exclusion", &self.exclusion).finish_non_exhaustive()
    }
}

impl PartitionEvaluator for Evaluator {
    fn evaluate(&mut self, values: &[ArrayRef], frame: &Range<usize>) -> Result<ScalarValue> {
        if self.row == 0 {
            let rows = values[0].len();
            self.groups = match &values[self.arguments..] {
                [] => std::iter::once(0..rows).collect(),
                order => partition(order)?.ranges(),
            };
        }
        while self.groups.get(self.group).is_some_and(|group| group.end <= self.row) {
            self.group += 1;
        }
        let row = self.row;
        self.row += 1;
        let stretches = self.left(frame, row);
        // An argument may say which row is asked for, and differ from row to row.
        let shared = !matches!(self.computed, Computed::Nth(Place::Given));
        if shared
            && let Some((known, value)) = &self.last
            && *known == stretches
        {
            return Ok(value.clone());
        }
        let value = match &self.computed {
            Computed::Aggregate(aggregate, args) => {
                let conditions = values[0].as_boolean();
                aggregated(aggregate, args, conditions, &values[1..self.arguments], &stretches)?
            }
            Computed::Nth(place) => nth(*place, row, &values[1..self.arguments], &stretches)?,
        };
        self.last = Some((stretches, value.clone()));
        Ok(value)
    }

    fn uses_window_frame(&self) -> bool {
        true
    }
}

impl Evaluator {
    /// What is left of the frame of `row`, in order.
    fn left(&self, frame: &Range<usize>, row: usize) -> Vec<Range<usize>> {
        let own = row..row + 1;
        let group = self.groups.get(self.group).cloned().unwrap_or_else(|| own.clone());
        let gone = if self.exclusion == Exclusion::CurrentRow { own.clone() } else { group };
        let before = frame.start..frame.end.min(gone.start);
        let after = frame.start.max(gone.end)..frame.end;
        let kept = match self.exclusion {
            Exclusion::Ties => own.start.max(frame.start)..own.end.min(frame.end),
            _ => 0..0,
        };
        [before, kept, after].into_iter().filter(|stretch| !stretch.is_empty()).collect()
    }
}

fn aggregated(
    aggregate: &AggregateUDF,
    args: &OwnedArgs,
    conditions: &BooleanArray,
    arguments: &[ArrayRef],
    stretches: &[Range<usize>],
) -> Result<ScalarValue> {
    let mut accumulator = aggregate.accumulator(args.args())?;
    for stretch in stretches {
        let chosen = conditions.slice(stretch.start, stretch.len());
        let all = chosen.null_count() == 0 && chosen.true_count() == chosen.len();
        let columns = arguments.iter().map(|column| {
            let column = column.slice(stretch.start, stretch.len());
            Ok(if all { column } else { filter(&column, &chosen)? })
        });
        accumulator.update_batch(&columns.collect::<Result<Vec<_>>>()?)?;
    }
    accumulator.evaluate()
}

fn nth(
    place: Place,
    row: usize,
    arguments: &[ArrayRef],
    stretches: &[Range<usize>],
) -> Result<ScalarValue> {
    let found = match place {
        Place::First => stretches.first().map(|stretch| stretch.start),
        Place::Last => stretches.last().map(|stretch| stretch.end - 1),
        Place::Given => {
            let wanted = arguments[1].as_primitive::<Int64Type>();
            match wanted.is_valid(row).then(|| wanted.value(row)) {
                Some(..=0) => {
                    let message = "argument of nth_value must be greater than zero";
                    let code = code::INVALID_ARGUMENT_FOR_NTH_VALUE;
                    return Err(SqlError::new(code, message).into());
                }
                Some(wanted) => {
                    let skipped = usize::try_from(wanted - 1).unwrap_or(usize::MAX);
                    stretches.iter().flat_map(Clone::clone).nth(skipped)
                }
                None => None,
            }
        }
    };
    match found {
        Some(found) => ScalarValue::try_from_array(&arguments[0], found),
        None => ScalarValue::try_from(arguments[0].data_type()),
    }
}
