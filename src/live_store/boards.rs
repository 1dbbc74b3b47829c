//! Leaderboards: a sorted set each, with a mark beside it that says that it holds everybody. What
//! they hold is a copy; a board without its mark is to be filled again before it is read. So many are
//! kept at a time ([`BOARDS_MAX`]), and none that is empty: who asks for days names keys.
//!
//! Redis sorts upwards and equal scores by member. So scores are stored below zero, which puts the
//! best first, and a member begins with the time at which its score was reached, which puts the
//! earlier of equals first. The rest decides between equal times: the player's id from its end,
//! because its beginning is the time at which the account was made. A hash has the member of each
//! player.

use bahay_engine::table::PlayerId;

use crate::clock::Timestamp;
use crate::live_store::{LiveStore, Unavailable};

/// After so long a board is filled again: whatever Redis may have lost is put right then.
const MARKED_MS: u32 = 60 * 60 * 1000;
/// A board that nobody asks for goes. Longer than its mark, which must not outlive it.
const KEPT_MS: u32 = 2 * MARKED_MS;

/// Boards that are kept filled at a time, over all days. One that is filled beyond that takes the place
/// of the one that was filled longest ago.
pub const BOARDS_MAX: isize = 256;

/// Which places are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacesAsked {
    /// From the first on, after so many.
    Top { offset: u32 },
    /// Those around the player; none if the player has no place.
    Around,
}

/// A score that a player has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    pub player: PlayerId,
    pub score: i64,
    pub reached_at: Timestamp,
}

/// A place on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// From 1; that of the best of equal scores for all of them.
    pub rank: u64,
    pub player: PlayerId,
    pub score: i64,
}

/// Places of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// How many there are in all.
    pub total: u64,
    /// That of the player who asks.
    pub own: Option<Place>,
    pub places: Vec<Place>,
}

impl LiveStore {
    /// Raises scores to these; a higher one that is there already stays.
    pub async fn raise_scores(&self, board: &str, scores: &[Reached]) -> Result<(), Unavailable> {
        if scores.is_empty() {
            return Ok(());
        }
        let mut call = self.scripts.raise_scores.prepare_invoke();
        call.key(self.board_key(board, "places")).key(self.board_key(board, "members"));
        call.arg(KEPT_MS);
        for reached in scores {
            call.arg(reached.player.to_string()).arg(member(reached));
            call.arg(reached.score.saturating_neg());
        }
        call.invoke_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    /// Says that a board holds everybody, and drops those that are then too many.
    pub async fn mark_board(&self, board: &str) -> Result<(), Unavailable> {
        for dropped in self.note_filled(board).await? {
            let mut call = redis::pipe();
            call.cmd("DEL").arg(self.board_key(&dropped, "filled")).ignore();
            call.cmd("DEL").arg(self.board_key(&dropped, "places")).ignore();
            call.query_async::<()>(&mut self.commands.clone()).await?;
        }
        let mut call = redis::pipe();
        for part in ["places", "members"] {
            call.cmd("PEXPIRE").arg(self.board_key(board, part)).arg(KEPT_MS).ignore();
        }
        call.cmd("SET").arg(self.board_key(board, "filled")).arg(1);
        call.arg("PX").arg(MARKED_MS).ignore();
        call.query_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    /// Notes a board as the last that was filled, and returns those that are too many. If they are
    /// not dropped, they expire.
    async fn note_filled(&self, board: &str) -> Result<Vec<String>, Unavailable> {
        let key = format!("{}:{{boards}}:filled", self.prefix);
        let mut call = redis::pipe();
        call.atomic();
        call.cmd("LREM").arg(&key).arg(0).arg(board).ignore();
        call.cmd("LPUSH").arg(&key).arg(board).ignore();
        call.cmd("LRANGE").arg(&key).arg(BOARDS_MAX).arg(-1);
        call.cmd("LTRIM").arg(&key).arg(0).arg(BOARDS_MAX - 1).ignore();
        call.cmd("PEXPIRE").arg(&key).arg(KEPT_MS).ignore();
        let (dropped,): (Vec<String>,) = call.query_async(&mut self.commands.clone()).await?;
        Ok(dropped)
    }

    /// Whether a board holds everybody.
    pub async fn has_board(&self, board: &str) -> Result<bool, Unavailable> {
        let mut call = redis::cmd("EXISTS");
        call.arg(self.board_key(board, "filled"));
        Ok(call.query_async(&mut self.commands.clone()).await?)
    }

    /// Places of a board, all of one moment; `None` when it is to be filled first.
    pub async fn places(
        &self,
        board: &str,
        asked: PlacesAsked,
        limit: u32,
        player: PlayerId,
    ) -> Result<Option<Places>, Unavailable> {
        let mut call = self.scripts.places.prepare_invoke();
        call.key(self.board_key(board, "places")).key(self.board_key(board, "filled"));
        call.key(self.board_key(board, "members"));
        let (section, offset) = match asked {
            PlacesAsked::Top { offset } => ("top", offset),
            PlacesAsked::Around => ("around", 0),
        };
        call.arg(section).arg(limit).arg(player.to_string()).arg(offset);
        type Answer = Option<(u64, i64, String, u64, u64, Vec<(String, String)>)>;
        let answer: Answer = call.invoke_async(&mut self.commands.clone()).await?;
        let Some((total, own_better, own_score, before, better, listed)) = answer else {
            return Ok(None);
        };
        let own = match u64::try_from(own_better) {
            Ok(better) => Some(Place { rank: better + 1, player, score: score(&own_score)? }),
            // It has no place.
            Err(_) => None,
        };
        let scores = listed.into_iter().map(|(member, stored)| {
            let player = player_of(&member).ok_or_else(unreadable)?;
            Ok((player, score(&stored)?))
        });
        let scores = scores.collect::<Result<Vec<_>, Unavailable>>()?;
        Ok(Some(Places { total, own, places: rank_places(before, better, scores) }))
    }

    fn board_key(&self, board: &str, part: &str) -> String {
        format!("{}:{{board:{board}}}:{part}", self.prefix)
    }
}

/// Ranks listed scores, the best first, by standard competition ranking: equal scores have one rank,
/// and the ranks that they take up are left out after them (1, 2, 2, 4). `before` are listed before
/// these, and `better` have a better score than the first of them.
pub fn rank_places(
    before: u64,
    better: u64,
    scores: impl IntoIterator<Item = (PlayerId, i64)>,
) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for (position, (player, score)) in (before + 1..).zip(scores) {
        let rank = match places.last() {
            None => better + 1,
            Some(last) if last.score == score => last.rank,
            Some(_) => position,
        };
        places.push(Place { rank, player, score });
    }
    places
}

/// Digits of the time in a member.
const TIME_DIGITS: usize = 12;

/// Returns the name under which a score stands on its board.
fn member(reached: &Reached) -> String {
    let reached_at_ms = u64::try_from(reached.reached_at.ms()).unwrap_or_default();
    let id = reached.player.0.simple().to_string();
    let from_its_end: String = id.chars().rev().collect();
    format!("{reached_at_ms:0TIME_DIGITS$x}{from_its_end}")
}

fn player_of(member: &str) -> Option<PlayerId> {
    let id: String = member.get(TIME_DIGITS..)?.chars().rev().collect();
    uuid::Uuid::try_parse(&id).ok().map(PlayerId)
}

fn score(stored: &str) -> Result<i64, Unavailable> {
    stored.parse::<i64>().map(i64::saturating_neg).map_err(|_| unreadable())
}

fn unreadable() -> Unavailable {
    Unavailable::new("a leaderboard in Redis cannot be read".into())
}

#[cfg(test)]
mod tests {
    use super::{Place, PlayerId, Reached, member, player_of, rank_places};
    use crate::clock::Timestamp;
    use uuid::Uuid;

    #[test]
    fn equal_scores_have_one_rank() {
        let player = |number| PlayerId(Uuid::from_u128(number));
        let ranked = |before, better, scores: &[i64]| -> Vec<u64> {
            let scores = scores.iter().map(|score| (player(1), *score));
            rank_places(before, better, scores).iter().map(|Place { rank, .. }| *rank).collect()
        };
        assert_eq!(ranked(0, 0, &[9, 7, 7, 5, 5, 5, 1]), [1, 2, 2, 4, 4, 4, 7]);
        // A page that begins within equal scores.
        assert_eq!(ranked(2, 1, &[7, 5]), [2, 4]);
        assert_eq!(ranked(100, 0, &[]), Vec::<u64>::new());
    }

    #[test]
    fn members_stand_in_the_order_of_their_times_and_name_their_players() {
        let reached = |ms, id: &str| Reached {
            player: id.parse().unwrap(),
            score: 1,
            reached_at: Timestamp::from_ms(ms),
        };
        let old = reached(2_000, "019ca944-3c00-7000-8000-00000091a7e1");
        let young = reached(1_000, "01a1fbfb-8f85-7daf-8dac-abb42ac4a100");
        assert!(member(&young) < member(&old), "reached earlier");
        let at_once = Reached { reached_at: old.reached_at, ..young };
        assert!(member(&at_once) < member(&old), "not by the age of the account");
        for one in [old, young, at_once] {
            assert_eq!(player_of(&member(&one)), Some(one.player));
        }
        assert_eq!(player_of("x"), None);
    }
}
