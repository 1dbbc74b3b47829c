//! The link to a client: frames in, messages out, and the detection of dead connections.

pub(super) mod monitor;
pub(super) mod prompts;
pub(super) mod socket;
pub(super) mod state;
pub(super) mod writer;
