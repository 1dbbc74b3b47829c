//! The sockets and requests of a client core on tokio. Each runs in a task of its own and reports
//! its progress as inputs.

use std::collections::BTreeMap;
use std::time::Duration;

use bahay_client::{HttpAnswer, Input, SocketData};
use futures_util::{SinkExt, StreamExt};
use reqwest::Method;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use crate::play::BUFFER_BYTES;

const SUBPROTOCOLS: &str = "sec-websocket-protocol";
/// The code of a socket that ended without one.
const CLOSED_ABNORMALLY: u16 = 1006;
/// The code of a closing frame without one.
const CLOSED_WITHOUT_CODE: u16 = 1005;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// The driver's end of a socket. Dropping it drops the connection without a closing handshake.
#[derive(Debug)]
pub(crate) struct SocketHandle {
    texts: mpsc::UnboundedSender<String>,
    task: AbortHandle,
}

impl SocketHandle {
    /// Opens a socket, whose progress is reported to `inputs`.
    pub(crate) fn open(
        socket: u64,
        url: String,
        protocols: &[String],
        inputs: mpsc::Sender<Input>,
    ) -> Self {
        let (texts, commands) = mpsc::unbounded_channel();
        let protocols = protocols.join(", ");
        let task = tokio::spawn(async move {
            let code = match connect(&url, &protocols).await {
                Some((stream, protocol)) => {
                    // The receiver lives as long as this task.
                    let _ = inputs.send(Input::Opened { socket, protocol }).await;
                    run_socket(socket, stream, commands, &inputs).await
                }
                None => CLOSED_ABNORMALLY,
            };
            let _ = inputs.send(Input::Closed { socket, code }).await;
        });
        Self { texts, task: task.abort_handle() }
    }

    /// Sends a text, unless the socket has ended.
    pub(crate) fn send_text(&self, text: String) {
        // The end of the socket is an input of its own.
        let _ = self.texts.send(text);
    }
}

impl Drop for SocketHandle {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Opens a socket, and returns it with the selected subprotocol.
async fn connect(url: &str, protocols: &str) -> Option<(Socket, String)> {
    let mut request = url.into_client_request().ok()?;
    request.headers_mut().insert(SUBPROTOCOLS, HeaderValue::from_str(protocols).ok()?);
    let config =
        WebSocketConfig::default().read_buffer_size(BUFFER_BYTES).write_buffer_size(BUFFER_BYTES);
    // Disables Nagle's algorithm, so that no command waits for the next one.
    let (stream, response) = connect_async_with_config(request, Some(config), true).await.ok()?;
    let protocol = response.headers().get(SUBPROTOCOLS).and_then(|value| value.to_str().ok());
    Some((stream, protocol.unwrap_or_default().to_owned()))
}

/// Passes texts and messages until the end of the socket, and returns the close code.
async fn run_socket(
    socket: u64,
    mut stream: Socket,
    mut texts: mpsc::UnboundedReceiver<String>,
    inputs: &mpsc::Sender<Input>,
) -> u16 {
    loop {
        let frame = tokio::select! {
            Some(text) = texts.recv() => {
                if stream.send(Frame::Text(text.into())).await.is_err() {
                    return CLOSED_ABNORMALLY;
                }
                continue;
            }
            frame = stream.next() => frame,
        };
        let data = match frame {
            Some(Ok(Frame::Text(text))) => SocketData::Text(text.as_str().to_owned()),
            Some(Ok(Frame::Binary(bytes))) => SocketData::Binary(bytes.into()),
            Some(Ok(Frame::Close(frame))) => {
                return frame.map_or(CLOSED_WITHOUT_CODE, |frame| frame.code.into());
            }
            Some(Ok(Frame::Ping(_) | Frame::Pong(_) | Frame::Frame(_))) => continue,
            Some(Err(_)) | None => return CLOSED_ABNORMALLY,
        };
        if inputs.send(Input::Received { socket, data }).await.is_err() {
            return CLOSED_ABNORMALLY;
        }
    }
}

/// Sends an HTTP request in a task, and reports its end to `inputs`.
pub(crate) fn send_request(
    request: u64,
    http: &reqwest::Client,
    (method, url): (&str, String),
    headers: BTreeMap<String, String>,
    body: Option<String>,
    inputs: mpsc::Sender<Input>,
) {
    let method = Method::from_bytes(method.as_bytes()).unwrap_or_default();
    let mut builder = http.request(method, url);
    for (name, value) in headers {
        builder = builder.header(name, value);
    }
    let builder = builder.body(body.unwrap_or_default());
    tokio::spawn(async move {
        let input = match read_answer(builder).await {
            Ok(answer) => Input::Answered { request, answer },
            Err(_) => Input::Unanswered { request },
        };
        // Nobody waits for the answer any more if the player is gone.
        let _ = inputs.send(input).await;
    });
}

async fn read_answer(builder: reqwest::RequestBuilder) -> Result<HttpAnswer, reqwest::Error> {
    let response = builder.send().await?;
    let header = |name: &str| {
        let value = response.headers().get(name)?;
        value.to_str().ok().map(str::to_owned)
    };
    let content_type = header("content-type");
    let retry_after = header("retry-after").and_then(|seconds| seconds.parse().ok());
    let retry_after_ms = retry_after
        .map(|seconds| u64::try_from(Duration::from_secs(seconds).as_millis()).unwrap_or(u64::MAX));
    let status = response.status().as_u16();
    Ok(HttpAnswer { status, content_type, body: response.text().await?, retry_after_ms })
}
