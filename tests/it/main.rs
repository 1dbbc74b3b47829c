//! The one integration binary: each module tests a part of the house against real services.

mod live;
mod support;
