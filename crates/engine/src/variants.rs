//! The macro for a pattern of several variants of an enum, whatever their fields.

/// Matches any of these variants with any fields. A list of all the variants that a match passes
/// over keeps it exhaustive, so that a new variant has to be decided on.
#[macro_export]
macro_rules! variants {
    ($name:ident: $($variant:ident),+ $(,)?) => {
        $($name::$variant { .. })|+
    };
}
