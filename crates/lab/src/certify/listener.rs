//! The listener of a scenario: HTTP and sockets over TCP, as a client connects to any server.
//!
//! One task owns the [`ScenarioRun`] and performs its reactions. Each connection and each socket is
//! a task that passes what arrives to it.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bahay_base::clock::Moment;
use bahay_model_server::{RestRequest, WireData};
use bahay_protocol::brief::Form;
use futures_util::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER,
    SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, UPGRADE,
};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::{Message as Frame, Role};

use crate::certify::report::Verdict;
use crate::certify::scenario_run::ScenarioRun;
use crate::certify::wire::{Arrival, HttpReply, Reaction};

const SHOWN_PATH: &str = "/certify/shown";
const SOCKET_PATH: &str = "/v1/play";
/// The largest body of a request.
const BODY_BYTES_MAX: usize = 1 << 20;
/// The number of arrivals that wait for a run.
const ARRIVALS_MAX: usize = 1_024;
/// The close code that ends the sockets of a finished scenario.
const FINISHED: u16 = bahay_protocol::close::SIGNED_OUT;

/// The decision on a request for a socket.
#[derive(Debug)]
enum UpgradeReply {
    Accept { form: Form, orders: mpsc::UnboundedReceiver<SocketOrder> },
    Reject(HttpReply),
}

/// An order to the task of a socket.
#[derive(Debug)]
enum SocketOrder {
    Send(WireData),
    Close(u16),
    Freeze,
}

/// Something that has arrived, with the place of its answer.
#[derive(Debug)]
enum Event {
    Request(u64, RestRequest, oneshot::Sender<HttpReply>),
    Upgrade(Arrival, u64, oneshot::Sender<UpgradeReply>),
    Other(Arrival),
}

/// The part of a connection's tasks that reaches the run.
#[derive(Clone, Debug)]
struct Intake {
    events: mpsc::Sender<Event>,
    numbers: Arc<AtomicU64>,
}

impl Intake {
    fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }
}

/// Serves one scenario until it is dropped, and announces its verdict.
pub(super) async fn serve(
    listener: TcpListener,
    run: ScenarioRun,
    verdict: watch::Sender<Option<Verdict>>,
) {
    let (events, arrivals) = mpsc::channel(ARRIVALS_MAX);
    let intake = Intake { events, numbers: Arc::default() };
    let mut tasks = JoinSet::new();
    tasks.spawn(Driver::new(run, verdict).drive(arrivals));
    loop {
        tokio::select! {
            Ok((stream, _)) = listener.accept() => {
                tasks.spawn(serve_connection(stream, intake.clone()));
            }
            Some(_) = tasks.join_next() => {}
        }
    }
}

/// The task that owns a run.
#[derive(Debug)]
struct Driver {
    run: ScenarioRun,
    began: Moment,
    verdict: watch::Sender<Option<Verdict>>,
    requests: BTreeMap<u64, oneshot::Sender<HttpReply>>,
    upgrades: BTreeMap<u64, oneshot::Sender<UpgradeReply>>,
    sockets: BTreeMap<u64, mpsc::UnboundedSender<SocketOrder>>,
    /// Sockets that are left open without an end.
    frozen: Vec<mpsc::UnboundedSender<SocketOrder>>,
}

impl Driver {
    fn new(run: ScenarioRun, verdict: watch::Sender<Option<Verdict>>) -> Self {
        Self {
            run,
            began: Moment::now(),
            verdict,
            requests: BTreeMap::new(),
            upgrades: BTreeMap::new(),
            sockets: BTreeMap::new(),
            frozen: Vec::new(),
        }
    }

    async fn drive(mut self, mut events: mpsc::Receiver<Event>) {
        loop {
            let timeout_ms =
                self.run.poll_timeout().map_or(i64::MAX, |at_ms| at_ms - self.now_ms());
            let timeout = Duration::from_millis(u64::try_from(timeout_ms).unwrap_or_default());
            tokio::select! {
                event = events.recv() => match event {
                    Some(event) => self.handle_event(event),
                    None => return,
                },
                () = tokio::time::sleep(timeout) => self.run.handle_timeout(self.now_ms()),
            }
            while let Some(reaction) = self.run.poll_reaction() {
                self.perform(reaction);
            }
            if let Some(verdict) = self.run.verdict().filter(|_| self.verdict.borrow().is_none()) {
                self.verdict.send_replace(Some(verdict.clone()));
                self.finish();
            }
        }
    }

    fn now_ms(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX)
    }

    fn handle_event(&mut self, event: Event) {
        let now_ms = self.now_ms();
        if self.verdict.borrow().is_some() {
            // The scenario is over, and the client is told to stop.
            match event {
                Event::Request(_, _, sender) => drop(sender.send(finished_reply())),
                Event::Upgrade(_, _, sender) => {
                    drop(sender.send(UpgradeReply::Reject(finished_reply())));
                }
                Event::Other(_) => {}
            }
            return;
        }
        match event {
            Event::Request(request, rest, sender) => {
                self.requests.insert(request, sender);
                self.run.handle_arrival(now_ms, Arrival::Request { request, rest });
            }
            Event::Upgrade(arrival, socket, sender) => {
                self.upgrades.insert(socket, sender);
                self.run.handle_arrival(now_ms, arrival);
            }
            Event::Other(arrival) => self.run.handle_arrival(now_ms, arrival),
        }
    }

    fn perform(&mut self, reaction: Reaction) {
        match reaction {
            Reaction::Answer { request, answer } => {
                // The client may no longer wait.
                let sender = self.requests.remove(&request);
                drop(sender.map(|sender| sender.send(answer)));
            }
            Reaction::Drop { request } => drop(self.requests.remove(&request)),
            Reaction::Accept { socket, form } => {
                let (sender, orders) = mpsc::unbounded_channel();
                self.sockets.insert(socket, sender);
                let upgrade = self.upgrades.remove(&socket);
                drop(upgrade.map(|sender| sender.send(UpgradeReply::Accept { form, orders })));
            }
            Reaction::Reject { socket, answer } => {
                let upgrade = self.upgrades.remove(&socket);
                drop(upgrade.map(|sender| sender.send(UpgradeReply::Reject(answer))));
            }
            Reaction::Send { socket, data } => self.order(socket, SocketOrder::Send(data)),
            Reaction::Close { socket, code } => {
                self.order(socket, SocketOrder::Close(code));
                self.sockets.remove(&socket);
            }
            // The task of a socket without orders ends the connection.
            Reaction::Cut { socket } => drop(self.sockets.remove(&socket)),
            Reaction::Freeze { socket } => {
                self.order(socket, SocketOrder::Freeze);
                self.frozen.extend(self.sockets.remove(&socket));
            }
        }
    }

    fn order(&mut self, socket: u64, order: SocketOrder) {
        if let Some(sender) = self.sockets.get(&socket) {
            // The client may have ended the socket.
            let _ = sender.send(order);
        }
    }

    /// Ends everything of the client, after the verdict.
    fn finish(&mut self) {
        for (_, sender) in std::mem::take(&mut self.sockets) {
            let _ = sender.send(SocketOrder::Close(FINISHED));
        }
        self.frozen.clear();
        for (_, sender) in std::mem::take(&mut self.requests) {
            let _ = sender.send(finished_reply());
        }
        for (_, sender) in std::mem::take(&mut self.upgrades) {
            let _ = sender.send(UpgradeReply::Reject(finished_reply()));
        }
    }
}

fn finished_reply() -> HttpReply {
    bahay_model_server::Reply::problem(403, "banned").into()
}

async fn serve_connection(stream: TcpStream, intake: Intake) {
    // A late answer of the kernel's buffers would count as the client's.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let intake = intake.clone();
        async move { answer(request, intake).await }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // A connection that ends in an error is the client's or the fault's.
    let _ = connection.await;
}

/// The planted end of a connection without an answer.
#[derive(Debug, thiserror::Error)]
#[error("the connection is cut")]
struct CutError;

async fn answer(
    request: Request<Incoming>,
    intake: Intake,
) -> Result<Response<Full<Bytes>>, CutError> {
    if request.uri().path() == SOCKET_PATH && request.headers().contains_key(SEC_WEBSOCKET_KEY) {
        return open_socket(request, intake).await;
    }
    let (parts, body) = request.into_parts();
    let body = http_body_util::Limited::new(body, BODY_BYTES_MAX).collect().await;
    let body = body.map_err(|_| CutError)?.to_bytes();
    let body = String::from_utf8_lossy(&body).into_owned();
    if parts.uri.path() == SHOWN_PATH {
        let shown = Event::Other(Arrival::Shown { body });
        intake.events.send(shown).await.map_err(|_| CutError)?;
        return Ok(Response::builder()
            .status(StatusCode::NO_CONTENT)
            .body(Full::default())
            .unwrap_or_default());
    }
    let rest = RestRequest {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        bearer: bearer_of(&parts.headers),
        body,
    };
    let (sender, reply) = oneshot::channel();
    let event = Event::Request(intake.next_number(), rest, sender);
    intake.events.send(event).await.map_err(|_| CutError)?;
    // Without a sender the run has dropped the request.
    reply.await.map(to_response).map_err(|_| CutError)
}

async fn open_socket(
    mut request: Request<Incoming>,
    intake: Intake,
) -> Result<Response<Full<Bytes>>, CutError> {
    let socket = intake.next_number();
    let headers = request.headers();
    let protocols = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let protocols = protocols.filter_map(|value| value.to_str().ok());
    let protocols = protocols.flat_map(|list| list.split(',')).map(|name| name.trim().to_owned());
    let arrival = Arrival::Upgrade {
        socket,
        query: request.uri().query().unwrap_or_default().to_owned(),
        protocols: protocols.collect(),
        bearer: bearer_of(headers),
    };
    let key = headers.get(SEC_WEBSOCKET_KEY).cloned().ok_or(CutError)?;
    let (sender, reply) = oneshot::channel();
    intake.events.send(Event::Upgrade(arrival, socket, sender)).await.map_err(|_| CutError)?;
    let (form, orders) = match reply.await {
        Ok(UpgradeReply::Accept { form, orders }) => (form, orders),
        Ok(UpgradeReply::Reject(answer)) => return Ok(to_response(answer)),
        Err(_) => return Err(CutError),
    };
    let upgraded = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        if let Ok(upgraded) = upgraded.await {
            let io = TokioIo::new(upgraded);
            let stream = WebSocketStream::from_raw_socket(io, Role::Server, None).await;
            run_socket(socket, stream, orders, &intake.events).await;
        }
        // The driver may have ended.
        let _ = intake.events.send(Event::Other(Arrival::Ended { socket })).await;
    });
    Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header(CONNECTION, HeaderValue::from_static("Upgrade"))
        .header(UPGRADE, HeaderValue::from_static("websocket"))
        .header(SEC_WEBSOCKET_ACCEPT, derive_accept_key(key.as_bytes()))
        .header(SEC_WEBSOCKET_PROTOCOL, form.subprotocol())
        .body(Full::default())
        .map_err(|_| CutError)
}

type ServerStream = WebSocketStream<TokioIo<hyper::upgrade::Upgraded>>;

/// Passes frames to the run and performs its orders, until either side ends the socket.
async fn run_socket(
    socket: u64,
    mut stream: ServerStream,
    mut orders: mpsc::UnboundedReceiver<SocketOrder>,
    events: &mpsc::Sender<Event>,
) {
    loop {
        let frame = tokio::select! {
            biased;
            order = orders.recv() => match order {
                Some(SocketOrder::Send(data)) => {
                    let frame = match data {
                        WireData::Text(text) => Frame::Text(text.into()),
                        WireData::Binary(bytes) => Frame::Binary(bytes.into()),
                    };
                    if stream.send(frame).await.is_err() {
                        return;
                    }
                    continue;
                }
                Some(SocketOrder::Close(code)) => {
                    let frame = CloseFrame { code: code.into(), reason: Default::default() };
                    // The client may be gone.
                    let _ = stream.close(Some(frame)).await;
                    wait_for_end(&mut stream).await;
                    return;
                }
                Some(SocketOrder::Freeze) => {
                    // Neither reads nor writes until the scenario is over.
                    while orders.recv().await.is_some() {}
                    return;
                }
                None => return,
            },
            frame = stream.next() => frame,
        };
        let arrival = match frame {
            Some(Ok(Frame::Text(text))) => Arrival::Text { socket, text: text.as_str().to_owned() },
            Some(Ok(Frame::Binary(_))) => Arrival::Binary { socket },
            Some(Ok(Frame::Ping(_) | Frame::Pong(_) | Frame::Frame(_))) => continue,
            Some(Ok(Frame::Close(_)) | Err(_)) | None => return,
        };
        if events.send(Event::Other(arrival)).await.is_err() {
            return;
        }
    }
}

/// Waits for the client's answer to a closing frame.
async fn wait_for_end(stream: &mut ServerStream) {
    let answered = async { while let Some(Ok(_)) = stream.next().await {} };
    let _ = tokio::time::timeout(Duration::from_secs(1), answered).await;
}

fn bearer_of(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    value.strip_prefix("Bearer ").map(str::to_owned)
}

fn to_response(reply: HttpReply) -> Response<Full<Bytes>> {
    let HttpReply { status, content_type, retry_after_s, body } = reply;
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    if let Some(seconds) = retry_after_s {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Serves the list of the scenarios with their addresses and verdicts.
pub(super) async fn serve_index(
    listener: TcpListener,
    index: impl Fn() -> serde_json::Value + Clone + Send + 'static,
) {
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            Ok((stream, _)) = listener.accept() => {
                let index = index.clone();
                tasks.spawn(async move {
                    let service = service_fn(move |_: Request<Incoming>| {
                        let body = index().to_string();
                        let answer = HttpReply {
                            status: 200,
                            content_type: "application/json",
                            retry_after_s: None,
                            body,
                        };
                        async move { Ok::<_, Infallible>(to_response(answer)) }
                    });
                    let builder = hyper::server::conn::http1::Builder::new();
                    // The reader may leave at any time.
                    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
                });
            }
            Some(_) = tasks.join_next() => {}
        }
    }
}
