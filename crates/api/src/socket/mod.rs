//! The socket as data: asyncapi.yaml, with examples of every command and message and the list of
//! refusals.

mod asyncapi;
mod examples;
mod refusals;

pub use asyncapi::{asyncapi, asyncapi_yaml};
pub use examples::{
    commands as example_commands, messages as example_messages, terms as example_terms,
};
pub use refusals::{SocketRefusal, refusals};
