//! The sign-in of operators, and the enrolment of a second factor.

pub(super) mod api;
pub(crate) mod desk;
pub(crate) mod enrolment;
