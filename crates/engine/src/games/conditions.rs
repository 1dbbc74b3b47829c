//! Conditions that the rules and the documents of every game state.

/// Returns the reason for a refusal unless the condition holds.
///
/// # Errors
/// If the condition does not hold.
pub(super) fn require<E>(holds: bool, otherwise: E) -> Result<(), E> {
    if holds { Ok(()) } else { Err(otherwise) }
}

/// Returns whether a field has its default value, so that it is not serialized.
pub(super) fn is_default<T: Default + PartialEq>(field: &T) -> bool {
    *field == T::default()
}
