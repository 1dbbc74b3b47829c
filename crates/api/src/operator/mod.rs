//! The operators' operations. A topic is a file.

pub mod corrections;
pub mod jobs;

use crate::Operation;

/// The operations of every topic.
pub(crate) static OPERATIONS: &[&[&Operation]] = &[corrections::OPERATIONS, jobs::OPERATIONS];
