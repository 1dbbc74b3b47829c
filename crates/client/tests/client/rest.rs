//! The answers of the model server as a driver passes them to the client.

use bahay_client::{HttpAnswer, SocketData};
use bahay_model_server::{Reply, RestRequest, WireData};

/// Returns the request of an effect as the server receives it.
pub(crate) fn rest_request(
    method: &str,
    url: &str,
    bearer: Option<&str>,
    body: Option<&str>,
) -> RestRequest {
    let path = url.splitn(4, '/').nth(3).unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default();
    RestRequest {
        method: method.into(),
        path: format!("/{path}"),
        bearer: bearer.map(str::to_owned),
        body: body.unwrap_or_default().into(),
    }
}

/// Returns an answer as the server sends it.
pub(crate) fn http_answer(reply: &Reply) -> HttpAnswer {
    HttpAnswer {
        status: reply.status,
        content_type: Some(reply.content_type().into()),
        body: reply.body.to_string(),
        retry_after_ms: None,
    }
}

/// Returns a message of the server as the client receives it.
pub(crate) fn socket_data(data: WireData) -> SocketData {
    match data {
        WireData::Text(text) => SocketData::Text(text),
        WireData::Binary(bytes) => SocketData::Binary(bytes),
    }
}
