//! Sockets below the level of the client: a socket of frames, and one of bytes for clients that no
//! library implements, with frames that violate the protocol, and a reader that does not read.

use bahay_client_tokio::PlayError;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::handshake::client::Response;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::support::house::PATIENCE;

pub(crate) const TEXT: u8 = 1;
pub(crate) const BINARY: u8 = 2;
pub(crate) const PONG: u8 = 10;

/// The headers of a valid handshake.
pub(crate) const HANDSHAKE: &str =
    "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// Requests an upgrade with these further headers, and returns the head of the response.
pub(crate) async fn request_upgrade(stream: &mut TcpStream, host: &str, headers: &str) -> String {
    let request = format!(
        "GET /v1/play HTTP/1.1\r\nhost: {host}\r\nconnection: upgrade\r\n\
         upgrade: websocket\r\n{headers}\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(timeout(PATIENCE, stream.read_u8()).await.unwrap().unwrap());
    }
    String::from_utf8(head).unwrap()
}

/// A socket of frames.
pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Opens a socket by a request with this query and these further headers.
pub(crate) async fn open_socket(
    base: &str,
    query: &str,
    headers: &[(&'static str, &str)],
) -> Result<(Socket, Response), PlayError> {
    let url = format!("{}/v1/play{query}", base.replacen("http", "ws", 1));
    let mut request = url.into_client_request()?;
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    Ok(connect_async(request).await?)
}

/// Returns the status and the code with which the opening of a socket is refused.
pub(crate) fn refused_upgrade(result: Result<impl Sized, PlayError>) -> (u16, String) {
    match result {
        Err(PlayError::Upgrade { status, code }) => (status, code),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the socket opened"),
    }
}

/// One open connection.
#[derive(Debug)]
pub(crate) struct Raw {
    stream: TcpStream,
}

/// A frame from the server, or the end of the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerFrame {
    Text(String),
    Close(Option<u16>),
    Ping,
    Other,
    /// The connection is closed.
    End,
}

impl Raw {
    /// Opens the socket. `receive_bytes` bounds the kernel's receive buffer of this side.
    pub(crate) async fn open(base: &str, token: &str, receive_bytes: Option<u32>) -> Self {
        let address = base.trim_start_matches("http://");
        let socket = TcpSocket::new_v4().unwrap();
        if let Some(bytes) = receive_bytes {
            socket.set_recv_buffer_size(bytes).unwrap();
        }
        let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
        let bearer = format!("{HANDSHAKE}authorization: Bearer {token}\r\n");
        let head = request_upgrade(&mut stream, address, &bearer).await;
        assert!(head.starts_with("HTTP/1.1 101"), "{head}");
        Self { stream }
    }

    /// Sends bytes unchanged. Returns false if the connection is closed.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> bool {
        timeout(PATIENCE, self.stream.write_all(bytes)).await.unwrap().is_ok()
    }

    pub(crate) async fn send_text(&mut self, text: &str) -> bool {
        self.send(&frame(TEXT, text.as_bytes())).await
    }

    /// Shuts down the sending side.
    pub(crate) async fn finish(&mut self) {
        // The connection may be closed already.
        let _ = self.stream.shutdown().await;
    }

    pub(crate) async fn next(&mut self) -> ServerFrame {
        timeout(PATIENCE, self.read()).await.unwrap().unwrap_or(ServerFrame::End)
    }

    /// Returns the server's close code, and skips other frames before it.
    pub(crate) async fn close_code(&mut self) -> Option<u16> {
        loop {
            match self.next().await {
                ServerFrame::Close(code) => return code,
                ServerFrame::End => return None,
                ServerFrame::Text(_) | ServerFrame::Ping | ServerFrame::Other => {}
            }
        }
    }

    async fn read(&mut self) -> std::io::Result<ServerFrame> {
        let [first, second] = [self.stream.read_u8().await?, self.stream.read_u8().await?];
        let length = match second & 0x7f {
            126 => usize::from(self.stream.read_u16().await?),
            127 => usize::try_from(self.stream.read_u64().await?).unwrap(),
            length => usize::from(length),
        };
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).await?;
        Ok(match first & 0x0f {
            TEXT => ServerFrame::Text(String::from_utf8(payload).unwrap()),
            8 => ServerFrame::Close(payload.first_chunk().map(|code| u16::from_be_bytes(*code))),
            9 => ServerFrame::Ping,
            _ => ServerFrame::Other,
        })
    }
}

/// Returns a client's frame; its zero mask changes nothing.
pub(crate) fn frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x80 | opcode];
    match u16::try_from(payload.len()) {
        Ok(length @ 0..126) => bytes.push(0x80 | u8::try_from(length).unwrap()),
        Ok(length) => {
            bytes.push(0x80 | 126);
            bytes.extend(length.to_be_bytes());
        }
        Err(_) => {
            bytes.push(0x80 | 127);
            bytes.extend(u64::try_from(payload.len()).unwrap().to_be_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes.extend(payload);
    bytes
}
