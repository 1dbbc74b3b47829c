//! The description of the socket for asyncapi.yaml and docs/PROTOCOL.md.

pub(super) mod asyncapi;
pub(super) mod examples;
pub(super) mod refusals;
