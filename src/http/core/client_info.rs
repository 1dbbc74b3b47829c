//! The client of a request, as an extractor.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::header::USER_AGENT;
use axum::http::request::Parts;

use crate::accounts::{DeviceId, Visitor};
use crate::rate_limit::Address;

/// The user agent of a request, and the client address that `request_limits` determined.
#[derive(Clone, Debug)]
pub(crate) struct ClientInfo {
    user_agent: Option<String>,
    address: Option<Address>,
}

impl ClientInfo {
    pub(crate) fn into_visitor(self, device: Option<DeviceId>) -> Visitor {
        let Self { user_agent, address } = self;
        let network = address.map(|address| address.network().to_string());
        Visitor { user_agent, address: address.map(|address| address.to_string()), network, device }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ClientInfo {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let user_agent = parts.headers.get(USER_AGENT).and_then(|text| text.to_str().ok());
        let address = parts.extensions.get::<Address>().copied();
        Ok(Self { user_agent: user_agent.map(str::to_owned), address })
    }
}
