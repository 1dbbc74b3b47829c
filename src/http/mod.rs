//! REST.
mod problem;

pub use problem::{Code, Problem, ProblemBody};
