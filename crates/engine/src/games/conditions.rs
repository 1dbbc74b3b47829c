//! Conditions that the rules and the documents of every game state.

use alloc::format;
use core::fmt::Display;
use core::ops::RangeInclusive;

use crate::game::RulesError;

/// Returns the reason for a refusal unless the condition holds.
///
/// # Errors
/// If the condition does not hold.
pub(super) fn require<E>(holds: bool, otherwise: E) -> Result<(), E> {
    if holds { Ok(()) } else { Err(otherwise) }
}

/// Returns an error that names this field of the rules unless its number is in the range.
///
/// # Errors
/// If the number is not in the range.
pub(super) fn require_in_range<T: PartialOrd + Display>(
    field: &'static str,
    number: T,
    range: RangeInclusive<T>,
) -> Result<(), RulesError> {
    if range.contains(&number) {
        return Ok(());
    }
    let message = format!("{field} must be from {} to {}", range.start(), range.end());
    Err(RulesError { field: field.into(), message: message.into() })
}

/// Returns whether a field has its default value, so that it is not serialized.
pub(super) fn is_default<T: Default + PartialEq>(field: &T) -> bool {
    *field == T::default()
}
