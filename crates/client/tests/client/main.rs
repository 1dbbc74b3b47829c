//! The tests of the client: tapes, suspensions in virtual time, and arbitrary messages.

mod rest;
mod tape;
mod tapes;
