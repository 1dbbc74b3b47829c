//! Chance in a tournament: lots and deals, which follow from a seed that was committed to in the
//! announcement (rules 2.3 and 5.5). When the tournament is over the seed is published, so that
//! anybody can repeat every draw.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::chance::ServerSeed;
use crate::hex::Hex;
use crate::table::PlayerId;
use crate::tournament::id::TournamentId;

/// The domain separator for this use of a seed.
const DOMAIN: &[u8] = b"bahay/tournament/v1";

/// The purpose of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The groups of a stage.
    Group,
    /// The tables of a round.
    Seat,
    /// Equal scores at the cut of a stage.
    Cut,
}

impl Purpose {
    const fn text(self) -> &'static [u8] {
        match self {
            Self::Group => b"group",
            Self::Seat => b"seat",
            Self::Cut => b"cut",
        }
    }
}

/// Returns the lot of a player in the draw of this number. Of two players the one with the lesser
/// lot comes first; equal lots are ordered by id.
pub(super) fn lot(
    seed: &ServerSeed,
    tournament: TournamentId,
    purpose: Purpose,
    number: u32,
    player: PlayerId,
) -> (u64, PlayerId) {
    let parts = [purpose.text(), tournament.0.as_bytes(), &number.to_be_bytes()];
    let digest = keyed_digest(seed, &parts, player.0.as_bytes());
    let first = [0, 1, 2, 3, 4, 5, 6, 7].map(|place: usize| digest[place]);
    (u64::from_be_bytes(first), player)
}

/// Returns the server seed of a game that all tables of a round play.
pub(super) fn deal_seed(
    seed: &ServerSeed,
    tournament: TournamentId,
    round: u32,
    game: u32,
) -> ServerSeed {
    let parts: [&[u8]; 3] = [b"deal", tournament.0.as_bytes(), &round.to_be_bytes()];
    ServerSeed(Hex(keyed_digest(seed, &parts, &game.to_be_bytes())))
}

fn keyed_digest(seed: &ServerSeed, parts: &[&[u8]], last: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(&seed.0.0).expect("any length is a key");
    mac.update(DOMAIN);
    for part in parts {
        mac.update(part);
    }
    mac.update(last);
    mac.finalize().into_bytes().into()
}
