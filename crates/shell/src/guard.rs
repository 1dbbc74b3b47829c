//! Isolates panics of the engine: a panic is a bug at one table and affects no other.
//!
//! The guarded code is pure: it takes values and returns values, so a panic leaves no state half
//! changed. Views and redaction, which run in the task of their connection, are guarded too.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The prefix of an error that is the message of a panic.
pub(crate) const PANIC: &str = "panic: ";

/// Runs a pure function of the engine, and returns the message of a panic as an error.
pub fn catch_panic<T>(pure: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(pure))
        .map_err(|panic| format!("{PANIC}{}", panic_message(&*panic)))
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use super::catch_panic;

    #[test]
    fn a_panic_is_returned_as_its_message() {
        assert_eq!(catch_panic(|| 7), Ok(7));
        assert_eq!(
            catch_panic::<()>(|| panic!("the {} is lost", "deck")),
            Err("panic: the deck is lost".into())
        );
        assert_eq!(catch_panic::<()>(|| panic!("lost")), Err("panic: lost".into()));
    }
}
