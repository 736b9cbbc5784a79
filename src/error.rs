//! The one error a user sees: object, cause, remedy, and an SQLSTATE chosen where it is made.
//!
//! Messages follow PostgreSQL's style: lower case, no full stop, the first line exactly as
//! PostgreSQL words it wherever PostgreSQL has that error. `XX000` is kept for our own bugs.
//! Modules below the SQL surface have small `thiserror` enums of their own and convert here.

use std::fmt;

use arrow::error::ArrowError;
use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;

/// `Result` with the error a user sees.
pub type SqlResult<T> = Result<T, SqlError>;

/// A five-character SQLSTATE, as PostgreSQL's appendix A lists them.
pub type SqlState = &'static str;

/// SQLSTATEs by PostgreSQL's condition names.
pub mod code {
    use std::collections::BTreeSet;

    use parking_lot::Mutex;

    use super::SqlState;

    pub const FEATURE_NOT_SUPPORTED: SqlState = "0A000";
    pub const PROTOCOL_VIOLATION: SqlState = "08P01";
    pub const CARDINALITY_VIOLATION: SqlState = "21000";
    pub const STRING_DATA_RIGHT_TRUNCATION: SqlState = "22001";
    pub const NUMERIC_VALUE_OUT_OF_RANGE: SqlState = "22003";
    pub const INVALID_DATETIME_FORMAT: SqlState = "22007";
    pub const DATETIME_FIELD_OVERFLOW: SqlState = "22008";
    pub const DIVISION_BY_ZERO: SqlState = "22012";
    pub const INVALID_PRECEDING_OR_FOLLOWING_SIZE: SqlState = "22013";
    pub const INVALID_ARGUMENT_FOR_NTILE: SqlState = "22014";
    pub const INVALID_ARGUMENT_FOR_NTH_VALUE: SqlState = "22016";
    pub const CHARACTER_NOT_IN_REPERTOIRE: SqlState = "22021";
    pub const INVALID_PARAMETER_VALUE: SqlState = "22023";
    pub const INVALID_TEXT_REPRESENTATION: SqlState = "22P02";
    pub const INVALID_BINARY_REPRESENTATION: SqlState = "22P03";
    pub const BAD_COPY_FILE_FORMAT: SqlState = "22P04";
    pub const SEQUENCE_LIMIT_EXCEEDED: SqlState = "2200H";
    pub const NOT_NULL_VIOLATION: SqlState = "23502";
    pub const FOREIGN_KEY_VIOLATION: SqlState = "23503";
    pub const UNIQUE_VIOLATION: SqlState = "23505";
    pub const CHECK_VIOLATION: SqlState = "23514";
    pub const ACTIVE_SQL_TRANSACTION: SqlState = "25001";
    pub const READ_ONLY_SQL_TRANSACTION: SqlState = "25006";
    pub const NO_ACTIVE_SQL_TRANSACTION: SqlState = "25P01";
    pub const IN_FAILED_SQL_TRANSACTION: SqlState = "25P02";
    pub const INVALID_SQL_STATEMENT_NAME: SqlState = "26000";
    pub const INVALID_AUTHORIZATION: SqlState = "28000";
    pub const DEPENDENT_OBJECTS_STILL_EXIST: SqlState = "2BP01";
    pub const INVALID_CURSOR_NAME: SqlState = "34000";
    pub const INVALID_CATALOG_NAME: SqlState = "3D000";
    pub const INVALID_SCHEMA_NAME: SqlState = "3F000";
    pub const SERIALIZATION_FAILURE: SqlState = "40001";
    pub const DEADLOCK_DETECTED: SqlState = "40P01";
    pub const INSUFFICIENT_PRIVILEGE: SqlState = "42501";
    pub const SYNTAX_ERROR: SqlState = "42601";
    pub const DUPLICATE_COLUMN: SqlState = "42701";
    pub const AMBIGUOUS_COLUMN: SqlState = "42702";
    pub const GENERATED_ALWAYS: SqlState = "428C9";
    pub const UNDEFINED_COLUMN: SqlState = "42703";
    pub const UNDEFINED_OBJECT: SqlState = "42704";
    pub const DUPLICATE_OBJECT: SqlState = "42710";
    pub const DUPLICATE_FUNCTION: SqlState = "42723";
    pub const AMBIGUOUS_FUNCTION: SqlState = "42725";
    pub const GROUPING_ERROR: SqlState = "42803";
    pub const INVALID_FOREIGN_KEY: SqlState = "42830";
    pub const DATATYPE_MISMATCH: SqlState = "42804";
    pub const WRONG_OBJECT_TYPE: SqlState = "42809";
    pub const UNDEFINED_FUNCTION: SqlState = "42883";
    pub const UNDEFINED_TABLE: SqlState = "42P01";
    pub const UNDEFINED_PARAMETER: SqlState = "42P02";
    pub const WINDOWING_ERROR: SqlState = "42P20";
    pub const DUPLICATE_CURSOR: SqlState = "42P03";
    pub const DUPLICATE_DATABASE: SqlState = "42P04";
    pub const DUPLICATE_PREPARED_STATEMENT: SqlState = "42P05";
    pub const DUPLICATE_SCHEMA: SqlState = "42P06";
    pub const DUPLICATE_TABLE: SqlState = "42P07";
    pub const INVALID_COLUMN_REFERENCE: SqlState = "42P10";
    pub const INVALID_FUNCTION_DEFINITION: SqlState = "42P13";
    pub const INVALID_TABLE_DEFINITION: SqlState = "42P16";
    pub const INVALID_OBJECT_DEFINITION: SqlState = "42P17";
    pub const INDETERMINATE_DATATYPE: SqlState = "42P18";
    pub const OUT_OF_MEMORY: SqlState = "53200";
    pub const TOO_MANY_COLUMNS: SqlState = "54011";
    pub const TOO_MANY_CONNECTIONS: SqlState = "53300";
    pub const CONFIGURATION_LIMIT_EXCEEDED: SqlState = "53400";
    pub const PROGRAM_LIMIT_EXCEEDED: SqlState = "54000";
    pub const STATEMENT_TOO_COMPLEX: SqlState = "54001";
    pub const OBJECT_NOT_IN_PREREQUISITE_STATE: SqlState = "55000";
    pub const OBJECT_IN_USE: SqlState = "55006";
    pub const LOCK_NOT_AVAILABLE: SqlState = "55P03";
    pub const QUERY_CANCELED: SqlState = "57014";
    pub const ADMIN_SHUTDOWN: SqlState = "57P01";
    pub const CRASH_SHUTDOWN: SqlState = "57P02";
    pub const IO_ERROR: SqlState = "58030";
    pub const INTERNAL_ERROR: SqlState = "XX000";
    pub const DATA_CORRUPTED: SqlState = "XX001";

    /// The SQLSTATE that `text` is, as it was written to disk. What is not one is `XX000`.
    pub fn of(text: &str) -> SqlState {
        static READ: Mutex<BTreeSet<SqlState>> = Mutex::new(BTreeSet::new());
        if text.len() != 5 || !text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return INTERNAL_ERROR;
        }
        let mut read = READ.lock();
        match read.get(text) {
            Some(code) => code,
            None => {
                // Once for each SQLSTATE that there is, so this is bounded.
                let code: SqlState = text.to_owned().leak();
                read.insert(code);
                code
            }
        }
    }
}

/// An error as the wire sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlError {
    pub code: SqlState,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
    /// Where it happened, one line a level (`COPY t, line 3, column a: "x"`).
    pub context: Option<String>,
    /// 1-based character index into the client's statement.
    pub position: Option<usize>,
    /// The object that it is about, for programs: they need not take the message apart.
    pub about: Option<Box<About>>,
}

/// The object that an error is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    pub schema: Option<String>,
    pub table: Option<String>,
    pub column: Option<String>,
    pub constraint: Option<String>,
}

impl SqlError {
    pub fn new(code: SqlState, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message, detail: None, hint: None, context: None, position: None, about: None }
    }

    /// A construct that Weir does not have: names it.
    pub fn unsupported(what: impl fmt::Display) -> Self {
        Self::new(code::FEATURE_NOT_SUPPORTED, format!("{what} is not supported"))
    }

    /// A broken invariant of our own.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }

    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn context(mut self, context: impl Into<String>) -> Self {
        self.context = Some(context.into());
        self
    }

    pub fn position(mut self, position: usize) -> Self {
        self.position = Some(position);
        self
    }

    pub fn about(mut self, about: About) -> Self {
        self.about = Some(Box::new(about));
        self
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SqlError {}

impl From<ArrowError> for SqlError {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::DivideByZero => Self::new(code::DIVISION_BY_ZERO, "division by zero"),
            ArrowError::ArithmeticOverflow(message) => {
                Self::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range").detail(message)
            }
            ArrowError::CastError(message) | ArrowError::ParseError(message) => {
                Self::new(code::INVALID_TEXT_REPRESENTATION, message)
            }
            ArrowError::InvalidArgumentError(message) => {
                Self::new(code::INVALID_PARAMETER_VALUE, message)
            }
            ArrowError::ExternalError(source) => from_boxed(source),
            other => Self::internal(other.to_string()),
        }
    }
}

/// Through a library and out again: [`from_boxed`] finds it.
impl From<SqlError> for DataFusionError {
    fn from(error: SqlError) -> Self {
        Self::External(Box::new(error))
    }
}

impl From<DataFusionError> for SqlError {
    fn from(error: DataFusionError) -> Self {
        match error {
            DataFusionError::ArrowError(error, _) => (*error).into(),
            DataFusionError::SchemaError(error, _) => from_schema_error(&error),
            DataFusionError::NotImplemented(message) => {
                Self::new(code::FEATURE_NOT_SUPPORTED, message)
            }
            DataFusionError::ResourcesExhausted(message) => {
                Self::new(code::OUT_OF_MEMORY, "out of memory").detail(message)
            }
            DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => {
                (*inner).into()
            }
            DataFusionError::Collection(errors) => errors
                .into_iter()
                .next()
                .map_or_else(|| Self::internal("empty error collection"), Self::from),
            DataFusionError::Shared(inner) => match ours(&*inner) {
                Some(error) => error.clone(),
                None => from_message(&inner.to_string()),
            },
            DataFusionError::External(source) => from_boxed(source),
            other => from_message(&other.strip_backtrace()),
        }
    }
}

/// Our own error that others were made of, where it can only be looked at.
fn ours<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e SqlError> {
    let mut errors = std::iter::successors(Some(error), |error| error.source());
    errors.find_map(|error| error.downcast_ref())
}

/// An error that travelled through a library in a box: ours comes out as it went in.
fn from_boxed(source: Box<dyn std::error::Error + Send + Sync>) -> SqlError {
    match source.downcast::<SqlError>() {
        Ok(error) => *error,
        Err(source) => match source.downcast::<DataFusionError>() {
            Ok(error) => (*error).into(),
            Err(source) => match source.downcast::<ArrowError>() {
                Ok(error) => (*error).into(),
                Err(source) => SqlError::internal(source.to_string()),
            },
        },
    }
}

fn from_schema_error(error: &SchemaError) -> SqlError {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => {
            let name = field.flat_name().replace('"', "");
            let mut mapped =
                SqlError::new(code::UNDEFINED_COLUMN, format!("column \"{name}\" does not exist"));
            let near = valid_fields
                .iter()
                .map(|valid| (strsim::levenshtein(&valid.name, &field.name), valid))
                .filter(|(distance, _)| *distance <= field.name.len().div_ceil(3))
                .min_by_key(|(distance, _)| *distance);
            if let Some((_, valid)) = near {
                let valid = valid.flat_name().replace('"', "");
                mapped =
                    mapped.hint(format!("Perhaps you meant to reference the column \"{valid}\"."));
            }
            mapped
        }
        SchemaError::AmbiguousReference { field } => SqlError::new(
            code::AMBIGUOUS_COLUMN,
            format!("column reference \"{}\" is ambiguous", field.name),
        ),
        SchemaError::DuplicateQualifiedField { name, .. }
        | SchemaError::DuplicateUnqualifiedField { name } => SqlError::new(
            code::DUPLICATE_COLUMN,
            format!("column \"{name}\" specified more than once"),
        ),
    }
}

/// DataFusion tells some user errors apart only by their text.
fn from_message(message: &str) -> SqlError {
    let text = message.lines().next().unwrap_or(message);
    let text = text.strip_prefix("Error during planning: ").unwrap_or(text);
    let text = text.strip_prefix("Execution error: ").unwrap_or(text);
    let lower = text.to_ascii_lowercase();
    let code = if lower.contains("divide by zero") || lower.contains("division by zero") {
        return SqlError::new(code::DIVISION_BY_ZERO, "division by zero");
    } else if lower.contains("invalid function") || lower.contains("no function matches") {
        code::UNDEFINED_FUNCTION
    } else if lower.starts_with("table ") && lower.contains("not found") {
        code::UNDEFINED_TABLE
    } else if lower.contains("must be in the group by") || lower.contains("group by clause") {
        code::GROUPING_ERROR
    } else if lower.contains("cannot coerce") || lower.contains("cannot infer common") {
        code::DATATYPE_MISMATCH
    } else if lower.contains("not supported") || lower.contains("unsupported") {
        code::FEATURE_NOT_SUPPORTED
    } else if lower.contains("overflow") || lower.contains("out of range") {
        code::NUMERIC_VALUE_OUT_OF_RANGE
    } else if lower.contains("cannot cast") || lower.contains("error parsing") {
        code::INVALID_TEXT_REPRESENTATION
    } else if message.starts_with("Error during planning: ") {
        code::SYNTAX_ERROR
    } else {
        code::INTERNAL_ERROR
    };
    SqlError::new(code, text)
}
