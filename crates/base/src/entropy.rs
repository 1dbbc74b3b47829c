//! Randomness. Only this module asks the operating system for it.
//!
//! The random bytes seed deals, form ids, and serve as tokens. They come directly from the kernel,
//! without a generator that could be seeded wrongly. Only tags, of which every line of a journal
//! takes one, are drawn in batches, and each is used once.

use std::cell::RefCell;
use std::time::Duration;

use bahay_engine::chance::ServerSeed;
use bahay_engine::hex::Hex;
use bahay_engine::table::GameEntropy;
use uuid::Uuid;

use crate::ids::{GameId, Tag};

const TAG_BYTES: usize = 6;

/// The tags of one batch, which the kernel returns in one call.
const TAGS_AT_ONCE: usize = 42;

/// Returns 32 random bytes: a server seed, a refresh token, a key.
pub fn seed() -> [u8; 32] {
    bytes()
}

/// Returns the random inputs of a table's next game.
pub fn game_entropy() -> GameEntropy {
    GameEntropy { seed: ServerSeed(Hex(seed())), game: GameId(uuid()) }
}

/// Returns a tag for a line of a journal. Two diverging histories are indistinguishable with a
/// probability of 2⁻⁴⁸.
pub fn tag() -> Tag {
    thread_local! {
        static DRAWN: RefCell<std::vec::IntoIter<[u8; TAG_BYTES]>> = RefCell::default();
    }
    DRAWN.with_borrow_mut(|drawn| {
        let next = drawn.next().unwrap_or_else(|| {
            *drawn = bytes::<{ TAG_BYTES * TAGS_AT_ONCE }>().as_chunks().0.to_vec().into_iter();
            bytes()
        });
        Tag(Hex(next))
    })
}

/// Returns a UUID of version 7: the system's time in milliseconds, a counter that starts at a
/// random value in each millisecond, and random bits. The ids of one process sort in the order of
/// creation, and those of several processes by their milliseconds. Ids follow the system's clock
/// even where a test has set another clock.
pub fn uuid() -> Uuid {
    Uuid::now_v7()
}

/// Returns a random duration below `longest`, in whole milliseconds; zero if `longest` is below one
/// millisecond.
pub fn random_duration(longest: Duration) -> Duration {
    let below_ms = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX).max(1);
    // The modulo bias is negligible for durations.
    Duration::from_millis(u64::from_le_bytes(bytes()) % below_ms)
}

/// Returns `count` random letters of an alphabet of at most 256, uniformly distributed.
pub fn random_letters(alphabet: &[u8], count: usize) -> String {
    let fair = 256 - 256 % alphabet.len().max(1);
    let mut letters = String::with_capacity(count);
    while letters.len() < count {
        // A byte beyond the last whole multiple of the alphabet's length would favour its first
        // letters.
        let drawn = bytes::<32>().into_iter().map(usize::from).filter(|byte| *byte < fair);
        let left = count - letters.len();
        letters.extend(drawn.take(left).map(|byte| char::from(alphabet[byte % alphabet.len()])));
    }
    letters
}

fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system provides randomness after boot");
    bytes
}

#[cfg(test)]
mod tests {
    use super::{TAGS_AT_ONCE, game_entropy, seed, tag, uuid};
    use std::collections::HashSet;

    #[test]
    fn random_values_differ() {
        assert_ne!(seed(), seed());
        assert_ne!(uuid(), uuid());
        assert_ne!(game_entropy(), game_entropy());
        assert_eq!(uuid().get_version_num(), 7);
        let tags = 5 * TAGS_AT_ONCE;
        assert_eq!((0..tags).map(|_| tag()).collect::<HashSet<_>>().len(), tags);
    }

    #[test]
    fn ids_sort_by_age_within_a_millisecond_too() {
        let ids: Vec<_> = (0..10_000).map(|_| uuid()).collect();
        assert!(ids.is_sorted());
    }
}
