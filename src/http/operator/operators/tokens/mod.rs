//! The API token of the signed-in operator, which the operator creates for its programs. The token is
//! displayed once, in the response that creates it.

pub(crate) mod api;
pub(crate) mod desk;
