//! The arrivals from a client, and the reactions that the listener performs.

use bahay_model_server::{Reply, RestRequest, WireData};
use bahay_protocol::brief::Form;

/// Something of a client that has arrived.
#[derive(Clone, Debug)]
pub enum Arrival {
    Request {
        request: u64,
        rest: RestRequest,
    },
    /// A request for a socket.
    Upgrade {
        socket: u64,
        query: String,
        /// The offered subprotocols.
        protocols: Vec<String>,
        /// The token of the header `Authorization`.
        bearer: Option<String>,
    },
    Text {
        socket: u64,
        text: String,
    },
    /// A binary frame, which no client may send.
    Binary {
        socket: u64,
    },
    /// The client has ended a socket.
    Ended {
        socket: u64,
    },
    /// The client reports what it shows.
    Shown {
        body: String,
    },
}

/// An action of the listener.
#[derive(Clone, Debug)]
pub enum Reaction {
    Answer {
        request: u64,
        answer: HttpReply,
    },
    /// Ends the connection of a request without an answer.
    Drop {
        request: u64,
    },
    /// Opens the socket.
    Accept {
        socket: u64,
        form: Form,
    },
    /// Answers the request for a socket without opening it.
    Reject {
        socket: u64,
        answer: HttpReply,
    },
    Send {
        socket: u64,
        data: WireData,
    },
    /// Closes a socket with a code.
    Close {
        socket: u64,
        code: u16,
    },
    /// Ends a socket's connection without a closing frame.
    Cut {
        socket: u64,
    },
    /// Leaves a socket open, and neither reads nor writes any more.
    Freeze {
        socket: u64,
    },
}

/// An answer over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpReply {
    pub status: u16,
    pub content_type: &'static str,
    pub retry_after_s: Option<u64>,
    pub body: String,
}

impl HttpReply {
    /// Returns the page of a captive portal.
    pub(crate) fn portal() -> Self {
        Self {
            status: 200,
            content_type: "text/html; charset=utf-8",
            retry_after_s: None,
            body: "<!doctype html><title>Welcome</title><p>Accept the terms to use this network."
                .into(),
        }
    }

    pub(crate) fn with_retry_after(self, seconds: u64) -> Self {
        Self { retry_after_s: Some(seconds), ..self }
    }
}

impl From<Reply> for HttpReply {
    fn from(reply: Reply) -> Self {
        let content_type = reply.content_type();
        Self {
            status: reply.status,
            content_type,
            retry_after_s: None,
            body: reply.body.to_string(),
        }
    }
}
