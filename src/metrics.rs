//! The process's metrics, in one Prometheus registry that `GET /metrics` prints.

use std::sync::LazyLock;

use prometheus::{
    Encoder, Histogram, IntCounter, IntCounterVec, IntGauge, TextEncoder, register_histogram,
    register_int_counter, register_int_counter_vec, register_int_gauge,
};

macro_rules! metric {
    ($(#[$doc:meta])* $name:ident: $kind:ty = $make:expr) => {
        $(#[$doc])*
        pub static $name: LazyLock<$kind> =
            LazyLock::new(|| $make.expect("metric names are unique and well formed"));
    };
}

metric!(
    /// Epochs committed since the start.
    EPOCHS_COMMITTED: IntCounter =
        register_int_counter!("weir_epochs_committed_total", "Epochs committed")
);
metric!(
    /// The newest committed epoch.
    EPOCH: IntGauge = register_int_gauge!("weir_epoch", "Newest committed epoch")
);
metric!(
    /// Seconds from the injection of a barrier to the end of its commit.
    BARRIER_SECONDS: Histogram = register_histogram!(
        "weir_barrier_seconds",
        "Seconds from the injection of a barrier to the end of its commit",
        prometheus::exponential_buckets(0.0005, 2.0, 16).expect("buckets are positive")
    )
);
metric!(
    /// Seconds spent in the store's atomic write.
    COMMIT_SECONDS: Histogram = register_histogram!(
        "weir_commit_seconds",
        "Seconds spent in the store's atomic write",
        prometheus::exponential_buckets(0.0001, 2.0, 16).expect("buckets are positive")
    )
);
metric!(
    /// Bytes written by commits.
    COMMIT_BYTES: IntCounter =
        register_int_counter!("weir_commit_bytes_total", "Bytes of state changes committed")
);
metric!(
    /// Rows read by sources, by object name.
    SOURCE_ROWS: IntCounterVec =
        register_int_counter_vec!("weir_source_rows_total", "Rows read by sources", &["object"])
);
metric!(
    /// Client connections open now.
    CONNECTIONS: IntGauge = register_int_gauge!("weir_connections", "Client connections open")
);
metric!(
    /// Statements run, by outcome (`ok` or an SQLSTATE).
    STATEMENTS: IntCounterVec =
        register_int_counter_vec!("weir_statements_total", "Statements run", &["outcome"])
);
metric!(
    /// Restarts of the graph after an actor failed.
    RESTARTS: IntCounter =
        register_int_counter!("weir_graph_restarts_total", "Restarts of the graph after a failure")
);

/// All metrics, in Prometheus' text format.
pub fn render() -> String {
    let mut text = Vec::new();
    let families = prometheus::gather();
    if let Err(error) = TextEncoder::new().encode(&families, &mut text) {
        tracing::error!(%error, "metrics could not be rendered");
    }
    String::from_utf8(text).unwrap_or_default()
}
