//! The HTTP client of object storage: HTTP/1.1, with the same TLS as the rest of the program.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http_body_util::BodyExt as _;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
    HttpResponse, HttpResponseBody, HttpService,
};

type Https = hyper_rustls::HttpsConnector<hyper_util::client::legacy::connect::HttpConnector>;

/// Opens connections; plain HTTP only if it is allowed.
#[derive(Debug)]
pub(super) struct Connector {
    pub(super) plain_http: bool,
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let builder = HttpsConnectorBuilder::new().with_webpki_roots();
        let builder = if self.plain_http { builder.https_or_http() } else { builder.https_only() };
        let client = Client::builder(TokioExecutor::new()).build(builder.enable_http1().build());
        Ok(HttpClient::new(StorageClient(client)))
    }
}

#[derive(Debug)]
struct StorageClient(Client<Https, HttpRequestBody>);

impl HttpService for StorageClient {
    fn call<'a, 'b>(
        &'a self,
        request: HttpRequest,
    ) -> BoxFuture<'b, Result<HttpResponse, HttpError>>
    where
        'a: 'b,
        Self: 'b,
    {
        async move {
            let answered = self.0.request(request).await.map_err(|error| {
                let kind = match error.is_connect() {
                    true => HttpErrorKind::Connect,
                    false => HttpErrorKind::Request,
                };
                HttpError::new(kind, error)
            });
            let broken = |error| HttpError::new(HttpErrorKind::Interrupted, error);
            Ok(answered?.map(|body| HttpResponseBody::new(body.map_err(broken))))
        }
        .boxed()
    }
}
