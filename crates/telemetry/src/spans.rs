//! The export of spans by OTLP over HTTP: requests, commands of sockets, appends and settlements,
//! with their nested operations. It is off unless a collector is configured.
//!
//! Traces are sampled by their id alone, so that all processes keep the same ones and no client can
//! force the sampling of its own. A request that names its trace (`traceparent` of W3C Trace
//! Context) becomes part of it.
//!
//! Bounds: up to 2,048 spans are queued, and further ones are dropped. A batch is sent after five
//! seconds or 512 spans. A collector that does not answer does not delay requests.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use opentelemetry::KeyValue;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider};
use tokio::runtime::Handle;
use tracing::level_filters::LevelFilter;
use tracing::{Metadata, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::registry::LookupSpan;

use super::Collector;
use bahay_base::entropy;

/// The deadline of a request to the collector.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The longest response that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

const SERVICE: &str = "bahay";

const TRACEPARENT: &str = "traceparent";

/// True if this process exports spans.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// The provider of spans, to be shut down at the end of the process.
#[derive(Debug)]
pub struct Spans(SdkTracerProvider);

impl Spans {
    /// Creates the exporter. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// The reason, as text.
    pub(super) fn new(collector: &Collector) -> Result<Self, String> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(OtlpClient::new())
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", collector.endpoint.trim_end_matches('/')))
            .with_timeout(TIMEOUT)
            .build()
            .map_err(|error| error.to_string())?;
        let about = [
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            KeyValue::new("service.instance.id", entropy::uuid().to_string()),
        ];
        let resource = Resource::builder_empty().with_service_name(SERVICE).with_attributes(about);
        let provider = SdkTracerProvider::builder()
            .with_sampler(Sampler::TraceIdRatioBased(sampling_ratio(collector.one_in)))
            .with_resource(resource.build())
            .with_batch_exporter(exporter)
            .build();
        IS_ON.store(true, Ordering::Relaxed);
        Ok(Self(provider))
    }

    /// Returns the layer that receives this program's spans, regardless of the log filter.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: tracing::Subscriber + for<'span> LookupSpan<'span>,
    {
        let tracer: SdkTracer = self.0.tracer(SERVICE);
        let ours = |about: &Metadata<'_>| about.is_span() && about.target().starts_with(SERVICE);
        let ours = FilterFn::new(ours as fn(&Metadata<'_>) -> bool);
        let ours = ours.with_max_level_hint(LevelFilter::DEBUG);
        tracing_opentelemetry::layer().with_tracer(tracer).with_location(false).with_filter(ours)
    }

    /// Exports the queued spans and stops.
    pub async fn shut_down(self) {
        let ended = tokio::task::spawn_blocking(move || self.0.shutdown_with_timeout(TIMEOUT));
        if let Ok(Err(error)) = ended.await {
            tracing::warn!(%error, "the last spans are lost");
        }
    }
}

#[expect(clippy::float_arithmetic, reason = "a sampling ratio, not coins")]
fn sampling_ratio(one_in: u32) -> f64 {
    1.0 / f64::from(one_in.max(1))
}

/// Makes a span part of the trace that a request's header names.
pub fn continue_trace(span: &Span, traceparent: Option<&str>) {
    if let Some(named) = traceparent.filter(|_| IS_ON.load(Ordering::Relaxed)) {
        let parent = TraceContextPropagator::new().extract(&TraceParent(named));
        // A span that is not recorded has no trace.
        let _ = span.set_parent(parent);
    }
}

struct TraceParent<'a>(&'a str);

impl Extractor for TraceParent<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        (key == TRACEPARENT).then_some(self.0)
    }

    fn keys(&self) -> Vec<&str> {
        vec![TRACEPARENT]
    }
}

/// The HTTP client of the exporter. It sends on the server's runtime, since the exporter calls from
/// its own thread.
struct OtlpClient {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    runtime: Handle,
}

impl OtlpClient {
    fn new() -> Self {
        let connector =
            HttpsConnectorBuilder::new().with_webpki_roots().https_or_http().enable_http1().build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Self { client, runtime: Handle::current() }
    }
}

impl fmt::Debug for OtlpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OtlpClient")
    }
}

type SendFuture<'a> = Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'a>>;

impl HttpClient for OtlpClient {
    fn send_bytes<'client, 'sending>(&'client self, request: Request<Bytes>) -> SendFuture<'sending>
    where
        'client: 'sending,
        Self: 'sending,
    {
        let client = self.client.clone();
        let sending = async move {
            let (head, body) = client.request(request.map(Full::new)).await?.into_parts();
            let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await?.to_bytes();
            Ok::<_, HttpError>(Response::from_parts(head, body))
        };
        // The future runs within the runtime, which its timers and sockets need.
        let sent = self.runtime.spawn(async move { tokio::time::timeout(TIMEOUT, sending).await });
        Box::pin(async move { sent.await?? })
    }
}
