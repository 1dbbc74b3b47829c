//! The sign-in of operators, and the enrolment of a second factor.

pub(crate) mod api;
pub(crate) mod desk;
pub(crate) mod enrolment;

use crate::http::operator::desk_ui::Field;

/// The field of a form that takes a code of the operator's authenticator.
const AUTHENTICATOR_CODE: Field<'static> = Field {
    autocomplete: "one-time-code",
    inputmode: "numeric",
    hint: "The six digits that your authenticator displays now.",
    ..Field::required("code", "Code")
};
