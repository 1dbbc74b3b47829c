//! Waits after no-shows, so that nobody can block a room by taking seats alone.
//!
//! A *no-show* is a seat whose player was removed because it was not ready (rule 8.1), or left
//! while a game was prepared; the latter counts half. No-shows are counted by player and by device.
//! The next seat in any room or at a practice table is refused for 10 s after the first, for a
//! minute after the second, and for ten minutes after the third. A finished game clears the earlier
//! no-shows of its player. All are forgotten an hour after the last.
//!
//! Many unrelated players share one network, so a network is never shut: once [`NETWORK_FROM`]
//! players of it were no-shows within ten minutes, those of its players who have never finished a
//! game are seated one at a time. Private tables have a host and are exempt.

use core::time::Duration;
use std::collections::BTreeSet;
use std::str::FromStr;

use bahay_engine::table::{PlayerId, Timestamp};

use crate::host::NoShow;

/// The lifetime of a no-show, in milliseconds.
pub const NO_SHOW_KEPT_MS: u32 = 60 * 60 * 1_000;

/// The waits after the first, the second and the third no-show. A first wait of zero disables
/// counting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotReadyWaits(pub [Duration; 3]);

impl NotReadyWaits {
    /// Returns the wait for no-shows of this total weight.
    fn wait_for_weight(self, weight: u32) -> Option<Duration> {
        let count = usize::try_from(weight / u32::from(NoShow::NOT_READY)).unwrap_or(usize::MAX);
        self.0.get(count.min(self.0.len()).checked_sub(1)?).copied()
    }

    pub fn is_disabled(self) -> bool {
        self.0[0].is_zero()
    }

    /// Returns the remaining wait of a player for the no-shows of one list. The player's own
    /// no-shows before its last finished game are cleared.
    pub fn wait_left(
        self,
        no_shows: &[NoShow],
        player: PlayerId,
        last_finished: Option<Timestamp>,
        now: Timestamp,
    ) -> Option<Duration> {
        let counts = |one: &&NoShow| {
            let is_cleared = one.player == player && last_finished.is_some_and(|at| one.at <= at);
            !is_cleared && now.ms_since(one.at) < u64::from(NO_SHOW_KEPT_MS)
        };
        let weight: u32 = no_shows.iter().filter(counts).map(|one| u32::from(one.weight)).sum();
        let last = no_shows.iter().filter(counts).map(|one| one.at).max()?;
        let since = Duration::from_millis(now.ms_since(last));
        self.wait_for_weight(weight)?.checked_sub(since).filter(|left| !left.is_zero())
    }
}

/// The error of a text that is not three numbers of seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be three numbers of seconds up to 3600, as in 10,60,600, or 0 for no waits")]
pub struct InvalidWaits;

impl FromStr for NotReadyWaits {
    type Err = InvalidWaits;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "0" {
            return Ok(Self::default());
        }
        let seconds =
            |part: &str| part.parse::<u64>().ok().filter(|seconds| (1..=3_600).contains(seconds));
        let waits: Option<Vec<u64>> = text.split(',').map(seconds).collect();
        let waits = waits.and_then(|waits| <[u64; 3]>::try_from(waits).ok()).ok_or(InvalidWaits)?;
        Ok(Self(waits.map(Duration::from_secs)))
    }
}

/// The time for which a network's no-shows count, in milliseconds.
const NETWORK_MS: u64 = 600_000;

/// The number of players with no-shows from which newcomers of the network are seated one at a
/// time.
const NETWORK_FROM: usize = 4;

/// The number of players with no-shows from which the longer interval applies.
const NETWORK_MANY: usize = 16;

/// The intervals between two newcomers of a network, from [`NETWORK_FROM`] and from
/// [`NETWORK_MANY`] players on.
const NEWCOMER_EVERY_MS: u32 = 10_000;
const NEWCOMER_EVERY_MANY_MS: u32 = 30_000;

/// Returns the interval between two newcomers of a network in milliseconds; `None` if they are
/// seated at once.
pub fn newcomer_every_ms(no_shows: &[NoShow], now: Timestamp) -> Option<u32> {
    let lately = no_shows.iter().filter(|one| now.ms_since(one.at) < NETWORK_MS);
    let players: BTreeSet<PlayerId> = lately.map(|one| one.player).collect();
    match players.len() {
        count if count >= NETWORK_MANY => Some(NEWCOMER_EVERY_MANY_MS),
        count if count >= NETWORK_FROM => Some(NEWCOMER_EVERY_MS),
        _few => None,
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use bahay_engine::table::{PlayerId, Timestamp};
    use uuid::Uuid;

    use super::{InvalidWaits, NotReadyWaits, newcomer_every_ms};
    use crate::host::NoShow;

    const NOT_READY: u8 = NoShow::NOT_READY;
    const LEFT_EARLY: u8 = NoShow::LEFT_EARLY;

    fn no_show(player: u128, at_ms: i64, weight: u8) -> NoShow {
        let player = PlayerId(Uuid::from_u128(player));
        NoShow { player, at: Timestamp::from_ms(at_ms), weight }
    }

    fn left(no_shows: &[NoShow], last_finished: Option<i64>, now_ms: i64) -> Option<Duration> {
        let player = PlayerId(Uuid::from_u128(1));
        let waits: NotReadyWaits = "10,60,600".parse().unwrap();
        let last_finished = last_finished.map(Timestamp::from_ms);
        waits.wait_left(no_shows, player, last_finished, Timestamp::from_ms(now_ms))
    }

    #[test]
    fn waits_are_three_numbers_or_none() {
        for text in ["", "10", "10,60", "10,60,600,1", "10,,60", "-1,2,3", "1,2,3601", "0,60,600"] {
            assert_eq!(text.parse::<NotReadyWaits>(), Err(InvalidWaits), "{text}");
        }
        assert!("0".parse::<NotReadyWaits>().unwrap().is_disabled());
    }

    #[test]
    fn the_wait_grows_with_each_no_show_and_ends() {
        let all: Vec<NoShow> = (0..5).map(|number| no_show(1, number * 1_000, NOT_READY)).collect();
        for (count, wait_ms) in [(1, 10_000), (2, 60_000), (3, 600_000), (5, 600_000)] {
            let last_ms = (count - 1) * 1_000;
            let some = &all[..usize::try_from(count).unwrap()];
            assert_eq!(left(some, None, last_ms), Some(Duration::from_millis(wait_ms)));
            let end_ms = last_ms + i64::try_from(wait_ms).unwrap();
            assert_eq!(left(some, None, end_ms - 1), Some(Duration::from_millis(1)));
            assert_eq!(left(some, None, end_ms), None);
        }
        assert_eq!(left(&[], None, 0), None);
    }

    #[test]
    fn to_leave_early_once_is_free() {
        let left_early = [no_show(1, 0, LEFT_EARLY), no_show(1, 500, LEFT_EARLY)];
        assert_eq!(left(&left_early[..1], None, 0), None);
        assert_eq!(left(&left_early, None, 500), Some(Duration::from_secs(10)));
    }

    #[test]
    fn a_finished_game_clears_its_player_alone() {
        let both = [no_show(1, 0, NOT_READY), no_show(2, 100, NOT_READY)];
        assert_eq!(left(&both[..1], Some(50), 200), None);
        assert_eq!(left(&both, Some(150), 200), Some(Duration::from_millis(9_900)));
        assert_eq!(left(&both[..1], Some(-50), 200), Some(Duration::from_millis(9_800)));
    }

    #[test]
    fn a_network_is_slowed_by_many_players_and_not_by_one() {
        let no_shows_of = |players: i64| -> Vec<NoShow> {
            (0..20)
                .map(|number| no_show(u128::try_from(number % players).unwrap(), number, 2))
                .collect()
        };
        let now = Timestamp::from_ms(1_000);
        assert_eq!(newcomer_every_ms(&no_shows_of(3), now), None);
        assert_eq!(newcomer_every_ms(&no_shows_of(4), now), Some(10_000));
        assert_eq!(newcomer_every_ms(&no_shows_of(16), now), Some(30_000));
        assert_eq!(newcomer_every_ms(&no_shows_of(16), Timestamp::from_ms(700_000)), None);
    }
}
