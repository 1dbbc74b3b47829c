//! The players' operations. A topic is a file.

pub mod rooms;

use crate::Operation;

/// The operations of every topic.
pub(crate) static OPERATIONS: &[&[&Operation]] = &[rooms::OPERATIONS];
