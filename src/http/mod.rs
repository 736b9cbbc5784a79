//! HTTP: `GET /health` and `GET /metrics`.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::metrics;

/// Serves until `stop`; the error is of the listener.
pub async fn serve(listener: TcpListener, stop: CancellationToken) -> std::io::Result<()> {
    let routes = Router::new().route("/health", get(|| async { "ok\n" })).route(
        "/metrics",
        get(|| async { ([(CONTENT_TYPE, "text/plain; version=0.0.4")], metrics::render()) }),
    );
    axum::serve(listener, routes).with_graceful_shutdown(stop.cancelled_owned()).await
}
