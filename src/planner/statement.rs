//! What a client asked for, as decided facts: one kind a statement, names folded, types resolved.
//!
//! Positions are 1-based character indexes into the client's string, as errors report them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::catalog::SequenceOptions;
use crate::catalog::constraint::{Action, Checked};
use crate::catalog::function::{Body, Parameter, Returns, Volatility};
use crate::catalog::object::{Connector, OnError};
use crate::types::SqlType;

use super::grant::{
    AlterOwner, AlterRole, AlterSettings, CreateRole, DefaultPrivileges, DropOwned, DropRole,
    Grant, GrantRole, ReassignOwned,
};
use super::rename::Rename;
use super::syntax::{Expression, From, LockWait, Name, Query, Selection, With};

/// One statement of a script.
#[derive(Debug, Clone)]
pub struct Statement {
    pub kind: StatementKind,
    /// Its exact source, without the semicolon.
    pub text: String,
    /// Characters of the client's string before `text`.
    pub offset: usize,
    /// The highest `$n` in it; 0 without parameters.
    pub parameters: usize,
}

/// A statement's kind, and what it says.
#[derive(Debug, Clone)]
pub enum StatementKind {
    Query(Query),
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    Truncate(Truncate),
    Copy(Box<Copy>),
    CreateTable(Box<CreateTable>),
    CreateSource(Box<CreateSource>),
    CreateView(Box<CreateView>),
    CreateMaterializedView(Box<CreateMaterializedView>),
    CreateFunction(Box<CreateFunction>),
    DropFunction(DropFunction),
    CreateIndex(Box<CreateIndex>),
    Reindex(Reindex),
    CreateSink(Box<CreateSink>),
    CreateSubscription(Box<CreateSubscription>),
    CreateSequence(Box<CreateSequence>),
    AlterSequence(Box<AlterSequence>),
    AlterTable(Box<AlterTable>),
    CreateSchema(CreateSchema),
    CreateDatabase(CreateDatabase),
    CreateRole(Box<CreateRole>),
    AlterRole(Box<AlterRole>),
    AlterSettings(Box<AlterSettings>),
    DropRole(DropRole),
    GrantRole(GrantRole),
    Grant(Box<Grant>),
    DefaultPrivileges(Box<DefaultPrivileges>),
    AlterOwner(Box<AlterOwner>),
    Rename(Box<Rename>),
    ReassignOwned(ReassignOwned),
    DropOwned(DropOwned),
    Drop(Drop),
    Explain(Box<Explain>),
    /// `EXPLAIN ANALYZE MATERIALIZED VIEW name`.
    AnalyzeView(Name),
    Set(Set),
    SetTransaction(SetTransaction),
    SetConstraints(SetConstraints),
    /// `RESET name`; `None` is `RESET ALL`.
    Reset(Option<String>),
    Show(Show),
    Describe(Name),
    Comment(Comment),
    LockTable(LockTable),
    /// Waits until all that was written before is in every view.
    Flush,
    /// `CANCEL JOB n, ...`.
    CancelJobs(Vec<u64>),
    /// `WAIT`, for all that is being created, or for one.
    Wait(Option<Name>),
    /// Ends the epoch and makes it durable now.
    Checkpoint,
    Maintain(Maintain),
    /// `REFRESH MATERIALIZED VIEW`.
    Refresh(Name),
    Begin(TransactionModes),
    Commit {
        and_chain: bool,
    },
    Rollback {
        and_chain: bool,
    },
    Savepoint(String),
    ReleaseSavepoint(String),
    RollbackToSavepoint(String),
    Prepare(Box<Prepare>),
    Execute(Execute),
    /// `None` is `DEALLOCATE ALL`.
    Deallocate(Option<String>),
    Subscribe(Box<Subscribe>),
    Declare(Box<Declare>),
    Fetch(Fetch),
    Move(Fetch),
    /// `None` is `CLOSE ALL`.
    Close(Option<String>),
    Discard(Discard),
    Listen(String),
    /// `None` is `UNLISTEN *`.
    Unlisten(Option<String>),
    Notify {
        channel: String,
        payload: Option<String>,
    },
    Use(String),
}

/// `[WITH ...] INSERT INTO table [AS alias] [(columns)] source [ON CONFLICT ...] [RETURNING ...]`.
#[derive(Debug, Clone)]
pub struct Insert {
    /// The source has it too.
    pub with: Option<With>,
    pub table: Name,
    pub alias: Option<String>,
    /// As listed; empty: all, in order.
    pub columns: Vec<ColumnRef>,
    /// What is said about numbers that are given for identity columns.
    pub overriding: Option<Overriding>,
    /// `None` is `DEFAULT VALUES`.
    pub source: Option<Query>,
    pub on_conflict: Option<OnConflict>,
    pub returning: Option<Selection>,
}

/// `OVERRIDING { SYSTEM | USER } VALUE`: which of the two numbers is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overriding {
    System,
    User,
}

/// A column that a statement names, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnRef {
    pub name: String,
    pub position: usize,
}

/// `ON CONFLICT [target] action`.
#[derive(Debug, Clone)]
pub struct OnConflict {
    pub target: Option<ConflictTarget>,
    pub action: ConflictAction,
}

/// Which conflicts are meant.
#[derive(Debug, Clone)]
pub enum ConflictTarget {
    Columns(Vec<ColumnRef>),
    Constraint(String),
}

/// What is done about one.
#[derive(Debug, Clone)]
pub enum ConflictAction {
    Nothing,
    /// Expressions see the old row under the table's name or alias, the new one as `excluded`.
    Update {
        assignments: Vec<Assignment>,
        condition: Option<Expression>,
    },
}

/// `column = value`.
#[derive(Debug, Clone)]
pub struct Assignment {
    pub column: ColumnRef,
    /// `None` is `DEFAULT`.
    pub value: Option<Expression>,
}

/// `UPDATE table [AS alias] SET ... [FROM ...] [WHERE ...] [RETURNING ...]`.
#[derive(Debug, Clone)]
pub struct Update {
    pub with: Option<With>,
    pub table: Name,
    pub alias: Option<String>,
    pub assignments: Vec<Assignment>,
    pub from: Option<From>,
    pub condition: Option<Expression>,
    pub returning: Option<Selection>,
}

/// `DELETE FROM table [AS alias] [USING ...] [WHERE ...] [RETURNING ...]`.
#[derive(Debug, Clone)]
pub struct Delete {
    pub with: Option<With>,
    pub table: Name,
    pub alias: Option<String>,
    pub using: Option<From>,
    pub condition: Option<Expression>,
    pub returning: Option<Selection>,
}

#[derive(Debug, Clone)]
pub struct Truncate {
    pub tables: Vec<Name>,
    /// Whether the sequences that go with the tables begin anew.
    pub restart_identity: bool,
    /// Whether tables that refer to them are emptied too.
    pub cascade: bool,
}

/// `COPY ... FROM STDIN` or `COPY ... TO STDOUT`.
#[derive(Debug, Clone)]
pub struct Copy {
    pub direction: CopyDirection,
    pub what: CopyWhat,
    /// In order, names in lower case: `format`, `delimiter`, `null`, `header`, `quote`, `escape`,
    /// `force_quote`, `force_not_null`, `force_null`, `encoding`, `freeze`, ... The older syntax
    /// (`CSV HEADER`) is given as the newer one. A flag without value is `true`; a list is
    /// comma-separated.
    pub options: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyDirection {
    FromStdin,
    ToStdout,
}

#[derive(Debug, Clone)]
pub enum CopyWhat {
    /// Columns as listed; empty: all, in order.
    Table {
        table: Name,
        columns: Vec<ColumnRef>,
    },
    Query(Query),
    Subscribe(Subscribe),
}

#[derive(Debug, Clone)]
pub struct CreateTable {
    pub name: Name,
    pub if_not_exists: bool,
    /// Empty with a connector that knows its schema, or with a query.
    pub columns: Vec<ColumnDef>,
    /// Column indexes, in the key's order.
    pub primary_key: Vec<usize>,
    /// `CONSTRAINT name PRIMARY KEY`.
    pub primary_key_name: Option<String>,
    pub append_only: bool,
    pub connector: Option<Connector>,
    /// `CREATE TABLE ... AS query`; the columns then only have names.
    pub query: Option<Query>,
    /// The names in `CREATE TABLE t (a, b) AS query`.
    pub query_columns: Vec<String>,
    /// `CREATE TEMP TABLE`, and what a COMMIT does to it.
    pub temporary: Option<OnCommit>,
    /// All but the primary key.
    pub constraints: NewConstraints,
}

/// `VACUUM` and `ANALYZE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maintain {
    pub vacuum: bool,
    /// Empty: all tables.
    pub tables: Vec<Name>,
}

/// `ON COMMIT` of a temporary table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnCommit {
    PreserveRows,
    DeleteRows,
    Drop,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnDef {
    pub name: String,
    pub sql_type: SqlType,
    pub not_null: bool,
    /// The default's SQL text.
    pub default: Option<String>,
    /// The text of the expression over the other columns that it is computed by. Without a type
    /// of its own ([`SqlType::Unknown`]), the column has the expression's.
    pub generated: Option<String>,
    /// The sequence that is made for it.
    pub numbering: Option<Numbering>,
}

/// How a new column is numbered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Numbering {
    /// `serial`: by a default that draws from a sequence.
    Serial,
    /// `GENERATED { ALWAYS | BY DEFAULT } AS IDENTITY [(options)]`.
    Identity { always: bool, options: Box<SequenceOptions>, name: Option<Name> },
}

/// `CREATE [TEMP] SEQUENCE`.
#[derive(Debug, Clone)]
pub struct CreateSequence {
    pub name: Name,
    pub if_not_exists: bool,
    pub temporary: bool,
    pub options: SequenceOptions,
    pub owner: Option<SequenceOwner>,
}

/// `ALTER SEQUENCE`; what it does not say stays.
#[derive(Debug, Clone)]
pub struct AlterSequence {
    pub name: Name,
    pub if_exists: bool,
    pub options: SequenceOptions,
    pub owner: Option<SequenceOwner>,
}

/// `OWNED BY`.
#[derive(Debug, Clone)]
pub enum SequenceOwner {
    Nobody,
    Column(Name, ColumnRef),
}

/// `ALTER TABLE table change, ...`.
#[derive(Debug, Clone)]
pub struct AlterTable {
    pub table: Name,
    pub if_exists: bool,
    pub changes: Vec<TableChange>,
}

/// What of a table changes.
#[derive(Debug, Clone)]
pub enum TableChange {
    AddConstraint(NewConstraint),
    AddCheck(NewCheck),
    AddForeignKey(NewForeignKey),
    ValidateConstraint(String),
    DropConstraint { name: String, if_exists: bool, cascade: bool },
    Column(Box<ColumnChange>),
}

/// What of a table's columns changes.
#[derive(Debug, Clone)]
pub enum ColumnChange {
    Add {
        column: ColumnDef,
        if_not_exists: bool,
        /// They are made after the column.
        constraints: NewConstraints,
    },
    Drop {
        column: ColumnRef,
        if_exists: bool,
        cascade: bool,
    },
    /// `None` is DROP DEFAULT.
    SetDefault {
        column: ColumnRef,
        default: Option<String>,
    },
    SetNotNull {
        column: ColumnRef,
        not_null: bool,
    },
    SetType {
        column: ColumnRef,
        sql_type: SqlType,
        /// The text of the expression that gives the new values.
        using: Option<String>,
    },
    AddIdentity {
        column: ColumnRef,
        numbering: Numbering,
    },
    DropIdentity {
        column: ColumnRef,
        if_exists: bool,
    },
    /// What PostgreSQL only keeps in mind.
    Nothing {
        column: ColumnRef,
    },
}

impl ColumnChange {
    /// Whether it adds a column that brings constraints.
    pub fn brings(&self) -> bool {
        matches!(self, ColumnChange::Add { constraints, .. } if !constraints.is_empty())
    }
}

/// A constraint that an index enforces.
#[derive(Debug, Clone)]
pub struct NewConstraint {
    /// `None`: one is made up.
    pub name: Option<String>,
    /// PRIMARY KEY, or else UNIQUE.
    pub primary: bool,
    pub columns: Vec<ColumnRef>,
    pub included: Vec<ColumnRef>,
    pub nulls_not_distinct: bool,
}

/// The constraints that CREATE TABLE lists, besides the primary key.
#[derive(Debug, Clone, Default)]
pub struct NewConstraints {
    pub unique: Vec<NewConstraint>,
    pub checks: Vec<NewCheck>,
    pub foreign_keys: Vec<NewForeignKey>,
}

impl NewConstraints {
    pub fn is_empty(&self) -> bool {
        self.unique.is_empty() && self.checks.is_empty() && self.foreign_keys.is_empty()
    }
}

/// `[CONSTRAINT name] CHECK (expression)`.
#[derive(Debug, Clone)]
pub struct NewCheck {
    /// `None`: one is made up.
    pub name: Option<String>,
    /// Its SQL text.
    pub expression: String,
    /// Not `NOT VALID`.
    pub validated: bool,
}

/// `[CONSTRAINT name] FOREIGN KEY (columns) REFERENCES table [(columns)] ...`.
#[derive(Debug, Clone)]
pub struct NewForeignKey {
    /// `None`: one is made up.
    pub name: Option<String>,
    pub columns: Vec<ColumnRef>,
    pub table: Name,
    /// Empty: the table's primary key.
    pub referenced: Vec<ColumnRef>,
    pub on_delete: Action,
    pub on_update: Action,
    /// `MATCH FULL`.
    pub full: bool,
    pub checked: Checked,
    /// Not `NOT VALID`.
    pub validated: bool,
}

#[derive(Debug, Clone)]
pub struct CreateSource {
    pub name: Name,
    pub if_not_exists: bool,
    /// Empty if the connector knows its schema.
    pub columns: Vec<ColumnDef>,
    pub connector: Connector,
}

#[derive(Debug, Clone)]
pub struct CreateView {
    pub name: Name,
    pub or_replace: bool,
    /// Names for the query's columns; empty: its own.
    pub columns: Vec<String>,
    pub query: Query,
}

#[derive(Debug, Clone)]
pub struct CreateMaterializedView {
    pub name: Name,
    pub if_not_exists: bool,
    /// Names for the query's columns; empty: its own.
    pub columns: Vec<String>,
    pub query: Query,
    pub parallelism: Option<usize>,
    pub on_error: OnError,
}

/// `CREATE [OR REPLACE] FUNCTION ... LANGUAGE SQL`.
#[derive(Debug, Clone)]
pub struct CreateFunction {
    pub name: Name,
    pub or_replace: bool,
    pub parameters: Vec<Parameter>,
    pub returns: FunctionResult,
    pub body: Body,
    pub strict: bool,
    pub volatility: Volatility,
}

/// What a statement says of a function's result.
#[derive(Debug, Clone)]
pub enum FunctionResult {
    Known(Returns),
    /// `SETOF relation`.
    RowsOf(Name),
}

#[derive(Debug, Clone)]
pub struct DropFunction {
    /// The types of the parameters, where they are given.
    pub functions: Vec<(Name, Option<Vec<SqlType>>)>,
    pub if_exists: bool,
    pub cascade: bool,
}

/// `CREATE [UNIQUE] INDEX [name] ON table (column, ...) [INCLUDE (column, ...)]`.
#[derive(Debug, Clone)]
pub struct CreateIndex {
    pub unique: bool,
    /// `None`: one is made up.
    pub name: Option<String>,
    pub if_not_exists: bool,
    pub table: Name,
    pub keys: Vec<IndexKey>,
    pub included: Vec<ColumnRef>,
    /// Whether NULLs are like other values to a unique one.
    pub nulls_not_distinct: bool,
}

/// A column of an index, and the direction that the statement gives it.
#[derive(Debug, Clone)]
pub struct IndexKey {
    pub column: ColumnRef,
    pub descending: bool,
    pub nulls_first: bool,
}

/// `REINDEX kind name`.
#[derive(Debug, Clone)]
pub struct Reindex {
    pub kind: DropKind,
    /// For a schema or a database: only `name` is set.
    pub name: Name,
}

/// `CREATE SINK name INTO table [(columns)] { FROM relation | AS query } [WITH (...)]`.
#[derive(Debug, Clone)]
pub struct CreateSink {
    pub name: Name,
    pub if_not_exists: bool,
    pub table: Name,
    /// Columns of the table, as listed; empty: all, in order.
    pub columns: Vec<ColumnRef>,
    pub from: SinkFrom,
    /// Whether the rows that are there are written too.
    pub snapshot: bool,
    /// Only inserts, which are all there must be.
    pub append_only: bool,
    /// Only inserts, whatever else there is.
    pub force_append_only: bool,
    pub parallelism: Option<usize>,
}

/// `CREATE SUBSCRIPTION name FROM relation WITH (retention = ...)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateSubscription {
    pub name: Name,
    pub if_not_exists: bool,
    pub from: Name,
    /// How long changes are kept.
    pub retention: Duration,
}

/// What a sink reads.
#[derive(Debug, Clone)]
pub enum SinkFrom {
    Relation(Name),
    Query(Query),
}

#[derive(Debug, Clone)]
pub struct CreateSchema {
    pub name: String,
    pub if_not_exists: bool,
}

#[derive(Debug, Clone)]
pub struct CreateDatabase {
    pub name: String,
    pub if_not_exists: bool,
}

#[derive(Debug, Clone)]
pub struct Drop {
    pub kind: DropKind,
    /// For a schema or a database: only `name` is set.
    pub names: Vec<Name>,
    pub if_exists: bool,
    pub cascade: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropKind {
    Table,
    Source,
    View,
    MaterializedView,
    Index,
    Sink,
    Subscription,
    Sequence,
    Schema,
    Database,
}

impl DropKind {
    /// What messages call it.
    pub fn name(self) -> &'static str {
        match self {
            DropKind::Table => "table",
            DropKind::Source => "source",
            DropKind::View => "view",
            DropKind::MaterializedView => "materialized view",
            DropKind::Index => "index",
            DropKind::Sink => "sink",
            DropKind::Subscription => "subscription",
            DropKind::Sequence => "sequence",
            DropKind::Schema => "schema",
            DropKind::Database => "database",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Explain {
    pub analyze: bool,
    pub verbose: bool,
    /// All of `EXPLAIN (...)`, names in lower case; a flag without value is `true`.
    pub options: Vec<(String, String)>,
    pub target: StatementKind,
}

/// `LOCK TABLE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockTable {
    pub tables: Vec<Name>,
    /// Whether the mode is in the way of those who write: the weaker ones are nobody's here.
    pub excludes_writers: bool,
    pub wait: LockWait,
}

/// `SET [SESSION | LOCAL] name = value, ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    /// In lower case; `timezone` for `SET TIME ZONE`.
    pub name: String,
    pub local: bool,
    /// `None` is `DEFAULT`.
    pub values: Option<Vec<String>>,
}

/// `SET CONSTRAINTS { ALL | names } { DEFERRED | IMMEDIATE }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetConstraints {
    /// Empty: all.
    pub names: Vec<Name>,
    pub deferred: bool,
}

/// `SET [SESSION CHARACTERISTICS AS] TRANSACTION ...`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetTransaction {
    pub session: bool,
    pub modes: TransactionModes,
}

/// What `BEGIN` and its like say; `None` where they say nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransactionModes {
    pub isolation: Option<Isolation>,
    pub read_only: Option<bool>,
    pub deferrable: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Show {
    /// In lower case.
    Variable(String),
    All,
    /// `SHOW TABLES` and its like, maybe `FROM schema`.
    Objects {
        kind: ShowKind,
        schema: Option<String>,
    },
    Columns(Name),
    /// `SHOW CREATE TABLE name` and its like.
    Create {
        kind: DropKind,
        name: Name,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowKind {
    Tables,
    Sources,
    Views,
    MaterializedViews,
    Indexes,
    Sinks,
    Subscriptions,
    Schemas,
    Databases,
    Jobs,
}

/// `COMMENT ON ... IS ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    pub target: CommentTarget,
    /// `None` takes the comment away.
    pub text: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommentTarget {
    /// For a schema or a database: only `name` is set.
    Object {
        kind: DropKind,
        name: Name,
    },
    Column {
        relation: Name,
        column: String,
    },
}

#[derive(Debug, Clone)]
pub struct Prepare {
    pub name: String,
    /// The types that the statement declares for its first parameters.
    pub types: Vec<SqlType>,
    pub statement: Statement,
}

#[derive(Debug, Clone)]
pub struct Execute {
    pub name: String,
    pub arguments: Vec<Expression>,
}

#[derive(Debug, Clone)]
pub struct Declare {
    pub name: String,
    pub binary: bool,
    /// `None` where it says neither SCROLL nor NO SCROLL.
    pub scroll: Option<bool>,
    pub hold: bool,
    pub rows: DeclaredRows,
}

/// What a cursor gives.
#[derive(Debug, Clone)]
pub enum DeclaredRows {
    Query(Query),
    Subscribe(Subscribe),
    Subscription(SubscriptionCursor),
}

/// `SUBSCRIBE [TO] relation [WITH (SNAPSHOT = ..., PROGRESS = ...)] [AS OF epoch]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscribe {
    pub relation: Name,
    /// Whether its rows come before their changes.
    pub snapshot: bool,
    /// Whether rows say that an epoch is complete.
    pub progress: bool,
    pub as_of: Option<u64>,
}

/// `DECLARE ... SUBSCRIPTION CURSOR FOR subscription [SINCE ... | FULL]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionCursor {
    pub subscription: Name,
    pub since: Since,
}

/// From where on a subscription is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// What changes from now on.
    Now,
    /// All that is kept.
    Begin,
    /// What changed after this epoch.
    Epoch(u64),
    /// The rows that are there, then what changes.
    Full,
}

/// `FETCH` and `MOVE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    pub cursor: String,
    pub direction: Direction,
    /// `WITH (timeout = ...)`: how long to wait for rows that are not there yet.
    pub timeout: Option<Duration>,
}

/// Where to, from the cursor's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Rows onwards; 0 is the current row again, negative is backwards.
    Forward(i64),
    ForwardAll,
    BackwardAll,
    First,
    Last,
    Absolute(i64),
    Relative(i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discard {
    All,
    Plans,
    Sequences,
    Temporary,
}

/// `WITH (...)` options of a relation, names in lower case.
pub type Options = BTreeMap<String, String>;
