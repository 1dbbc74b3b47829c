//! The sign-in of operators, and the enrolment of a second factor.

pub(crate) mod api;
pub(crate) mod desk;
pub(crate) mod enrolment;
