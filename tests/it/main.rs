//! The integration tests of the service: one binary, one module a subject.

mod asyncapi;
