//! Names and functions that new parts of a plan are made with.

use std::cell::Cell;

use datafusion::common::Result;
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::{
    AggregateFunction, ScalarFunction, WindowFunction, WindowFunctionParams,
};
use datafusion::logical_expr::{Expr, SortExpr, WindowFrame, lit};

/// Separates a new column's name from its number: a name that has it was made here.
const NUMBER: &str = " #";

/// What one decorrelation makes names and expressions with.
pub(in crate::planner) struct Tools<'a> {
    state: &'a SessionState,
    next: Cell<usize>,
}

impl<'a> Tools<'a> {
    pub(in crate::planner) fn new(state: &'a SessionState) -> Self {
        Self { state, next: Cell::new(1) }
    }

    /// A column name that nothing else has. The same plan always gets the same names.
    pub(in crate::planner) fn fresh(&self, name: &str) -> String {
        let number = self.next.replace(self.next.get() + 1);
        let name = name.split_once(NUMBER).map_or(name, |(name, _)| name);
        format!("{name}{NUMBER}{number}")
    }

    pub(in crate::planner) fn aggregate(
        &self,
        name: &str,
        args: Vec<Expr>,
        order_by: Vec<SortExpr>,
    ) -> Result<Expr> {
        let function = self.state.udaf(name)?;
        let call = AggregateFunction::new_udf(function, args, false, None, order_by, None);
        Ok(Expr::AggregateFunction(call))
    }

    /// `count(*)`.
    pub(super) fn count_rows(&self) -> Result<Expr> {
        self.aggregate("count", vec![lit(1_i64)], Vec::new())
    }

    pub(super) fn call(&self, name: &str, args: Vec<Expr>) -> Result<Expr> {
        let function = self.state.udf(name)?;
        Ok(Expr::ScalarFunction(ScalarFunction::new_udf(function, args)))
    }
}

/// `row_number() OVER (PARTITION BY partition_by ORDER BY order_by)`.
pub(super) fn row_number(partition_by: Vec<Expr>, order_by: Vec<SortExpr>) -> Expr {
    let frame = WindowFrame::new((!order_by.is_empty()).then_some(false));
    let function = WindowFunction {
        fun: row_number_udwf().into(),
        params: WindowFunctionParams {
            args: Vec::new(),
            partition_by,
            order_by,
            window_frame: frame,
            filter: None,
            null_treatment: None,
            distinct: false,
        },
    };
    Expr::WindowFunction(Box::new(function))
}
