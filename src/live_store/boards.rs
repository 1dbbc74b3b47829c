//! Leaderboards: a sorted set each, with a mark beside it that says that it holds everybody. What
//! they hold is a copy; a board without its mark is to be filled again before it is read.
//!
//! Redis sorts upwards and equal scores by name. So scores are stored below zero: the best comes
//! first, and of equals the one with the lower id.

use bahay_engine::table::PlayerId;

use crate::live_store::{LiveStore, Unavailable};

/// After so long a board is filled again: whatever Redis may have lost is put right then.
const MARKED_MS: u32 = 60 * 60 * 1000;
/// A board that nobody asks for goes. Longer than its mark, which must not outlive it.
const KEPT_MS: u32 = 2 * MARKED_MS;

/// Which places are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacesAsked {
    Top,
    /// Those around the player; none if the player has no place.
    Around,
}

/// A place on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// From 1.
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
    pub async fn raise_scores(
        &self,
        board: &str,
        scores: &[(PlayerId, i64)],
    ) -> Result<(), Unavailable> {
        if scores.is_empty() {
            return Ok(());
        }
        let key = self.board_key(board, "places");
        let mut pipeline = redis::pipe();
        let raise = pipeline.cmd("ZADD").arg(&key).arg("LT");
        for (player, score) in scores {
            raise.arg(score.saturating_neg()).arg(player.to_string());
        }
        raise.ignore().cmd("PEXPIRE").arg(&key).arg(KEPT_MS).ignore();
        pipeline.query_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
    }

    /// Says that a board holds everybody.
    pub async fn mark_board(&self, board: &str) -> Result<(), Unavailable> {
        let mut call = redis::pipe();
        call.cmd("PEXPIRE").arg(self.board_key(board, "places")).arg(KEPT_MS).ignore();
        call.cmd("SET").arg(self.board_key(board, "filled")).arg(1);
        call.arg("PX").arg(MARKED_MS).ignore();
        call.query_async::<()>(&mut self.commands.clone()).await?;
        Ok(())
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
        call.arg(match asked {
            PlacesAsked::Top => "top",
            PlacesAsked::Around => "around",
        });
        call.arg(limit).arg(player.to_string());
        type Answer = Option<(u64, i64, String, u64, Vec<(String, String)>)>;
        let answer: Answer = call.invoke_async(&mut self.commands.clone()).await?;
        let Some((total, own_rank, own_score, first, listed)) = answer else {
            return Ok(None);
        };
        let own = match u64::try_from(own_rank) {
            Ok(before) => Some(Place { rank: before + 1, player, score: score(&own_score)? }),
            // It has no place.
            Err(_) => None,
        };
        let places = (first + 1..).zip(listed).map(|(rank, (player, stored))| {
            let player = player.parse().map_err(|_| unreadable())?;
            Ok(Place { rank, player, score: score(&stored)? })
        });
        let places = places.collect::<Result<Vec<_>, Unavailable>>()?;
        Ok(Some(Places { total, own, places }))
    }

    fn board_key(&self, board: &str, part: &str) -> String {
        format!("{}:{{board:{board}}}:{part}", self.prefix)
    }
}

fn score(stored: &str) -> Result<i64, Unavailable> {
    stored.parse::<i64>().map(i64::saturating_neg).map_err(|_| unreadable())
}

fn unreadable() -> Unavailable {
    Unavailable::new("a leaderboard in Redis cannot be read".into())
}
