//! Leaderboards: a sorted set each, with a mark that says that it is complete. A board is a cached
//! copy; a board without its mark is filled again before it is read. At most [`BOARDS_MAX`] boards
//! are kept, and none that is empty, because a request for a day names keys.
//!
//! Redis sorts scores in ascending order and equal scores by member. Scores are therefore stored as
//! negative numbers, which puts the best first, and a member begins with the time at which its
//! score was reached, which puts the earlier of equal scores first. The rest of the member decides
//! between equal times: the player's id in reverse, because it begins with the time at which the
//! account was created. A hash maps each player to its member.

use bahay_engine::table::PlayerId;

use crate::{LiveStore, Script, Unavailable, script};
use bahay_base::clock::Timestamp;

static RAISE_SCORES: Script = script!("raise_scores.lua");
static BOARD_PAGE: Script = script!("board_page.lua");

/// The time in milliseconds after which a board is filled again, which repairs losses of Redis.
const MARKED_MS: u32 = 60 * 60 * 1000;
/// The time in milliseconds after which an unused board expires. It exceeds the mark's, so that no
/// mark outlives its board.
const KEPT_MS: u32 = 2 * MARKED_MS;

/// The number of boards that are kept filled, over all days. Filling another board evicts the one
/// that was filled longest ago.
pub const BOARDS_MAX: isize = 256;

/// The section of a board to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardSection {
    /// The ranks from the first on, after skipping `offset` of them.
    Top { offset: u32 },
    /// The ranks around the player; none if the player has no rank.
    Around,
}

/// A score that a player has reached, with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReachedScore {
    pub player: PlayerId,
    pub score: i64,
    pub reached_at: Timestamp,
}

/// A rank on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardRank {
    /// The rank from 1; equal scores share the best rank among them.
    pub rank: u64,
    pub player: PlayerId,
    pub score: i64,
}

/// A page of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardPage {
    /// The number of ranks in all.
    pub total: u64,
    /// The rank of the requesting player.
    pub own: Option<BoardRank>,
    pub places: Vec<BoardRank>,
}

impl LiveStore {
    /// Raises scores to these values. A higher stored score stays.
    pub async fn raise_scores(
        &self,
        board: &str,
        scores: &[ReachedScore],
    ) -> Result<(), Unavailable> {
        if scores.is_empty() {
            return Ok(());
        }
        let mut call = RAISE_SCORES.key(self.board_key(board, "places"));
        call.key(self.board_key(board, "members")).arg(KEPT_MS);
        for reached in scores {
            call.arg(reached.player.to_string()).arg(encode_member(reached));
            call.arg(reached.score.saturating_neg());
        }
        self.invoke(&call).await
    }

    /// Marks a board as complete, and evicts the boards beyond [`BOARDS_MAX`].
    pub async fn mark_board_filled(&self, board: &str) -> Result<(), Unavailable> {
        for dropped in self.push_filled_board(board).await? {
            let mut call = redis::pipe();
            call.cmd("DEL").arg(self.board_key(&dropped, "filled")).ignore();
            call.cmd("DEL").arg(self.board_key(&dropped, "places")).ignore();
            self.query_all::<()>(&call).await?;
        }
        let mut call = redis::pipe();
        for part in ["places", "members"] {
            call.cmd("PEXPIRE").arg(self.board_key(board, part)).arg(KEPT_MS).ignore();
        }
        call.cmd("SET").arg(self.board_key(board, "filled")).arg(1);
        call.arg("PX").arg(MARKED_MS).ignore();
        self.query_all(&call).await
    }

    /// Pushes a board to the front of the list of filled boards, and returns those to be evicted. A
    /// board that is not evicted expires.
    async fn push_filled_board(&self, board: &str) -> Result<Vec<String>, Unavailable> {
        let key = format!("{}:{{boards}}:filled", self.prefix);
        let mut call = redis::pipe();
        call.atomic();
        call.cmd("LREM").arg(&key).arg(0).arg(board).ignore();
        call.cmd("LPUSH").arg(&key).arg(board).ignore();
        call.cmd("LRANGE").arg(&key).arg(BOARDS_MAX).arg(-1);
        call.cmd("LTRIM").arg(&key).arg(0).arg(BOARDS_MAX - 1).ignore();
        call.cmd("PEXPIRE").arg(&key).arg(KEPT_MS).ignore();
        let (dropped,): (Vec<String>,) = self.query_all(&call).await?;
        Ok(dropped)
    }

    /// Returns true if a board is complete.
    pub async fn is_board_filled(&self, board: &str) -> Result<bool, Unavailable> {
        self.query(redis::cmd("EXISTS").arg(self.board_key(board, "filled"))).await
    }

    /// Returns a page of a board, consistent as of one moment; `None` if the board has to be filled
    /// first.
    pub async fn board_page(
        &self,
        board: &str,
        section: BoardSection,
        limit: u32,
        player: PlayerId,
    ) -> Result<Option<BoardPage>, Unavailable> {
        let mut call = BOARD_PAGE.key(self.board_key(board, "places"));
        call.key(self.board_key(board, "filled")).key(self.board_key(board, "members"));
        let (section, offset) = match section {
            BoardSection::Top { offset } => ("top", offset),
            BoardSection::Around => ("around", 0),
        };
        call.arg(section).arg(limit).arg(player.to_string()).arg(offset);
        type Answer = Option<(u64, i64, String, u64, u64, Vec<(String, String)>)>;
        let answer: Answer = self.invoke(&call).await?;
        let Some((total, own_better, own_score, before, better, listed)) = answer else {
            return Ok(None);
        };
        let own = match u64::try_from(own_better) {
            Ok(better) => {
                Some(BoardRank { rank: better + 1, player, score: decode_score(&own_score)? })
            }
            // The player has no rank.
            Err(_) => None,
        };
        let scores = listed.into_iter().map(|(member, stored)| {
            let player = decode_player(&member).ok_or_else(unreadable)?;
            Ok((player, decode_score(&stored)?))
        });
        let scores = scores.collect::<Result<Vec<_>, Unavailable>>()?;
        Ok(Some(BoardPage { total, own, places: rank_scores(before, better, scores) }))
    }

    fn board_key(&self, board: &str, part: &str) -> String {
        format!("{}:{{board:{board}}}:{part}", self.prefix)
    }
}

/// Ranks scores in descending order by standard competition ranking: equal scores share one rank,
/// and the ranks that they occupy are skipped after them (1, 2, 2, 4). `before` scores precede
/// these in the list, and `better` scores are better than the first of these.
pub fn rank_scores(
    before: u64,
    better: u64,
    scores: impl IntoIterator<Item = (PlayerId, i64)>,
) -> Vec<BoardRank> {
    let mut places: Vec<BoardRank> = Vec::new();
    for (position, (player, score)) in (before + 1..).zip(scores) {
        let rank = match places.last() {
            None => better + 1,
            Some(last) if last.score == score => last.rank,
            Some(_) => position,
        };
        places.push(BoardRank { rank, player, score });
    }
    places
}

/// The number of hexadecimal digits of the time in a member.
const TIME_DIGITS: usize = 12;

/// Returns the member under which a score is stored on its board.
fn encode_member(reached: &ReachedScore) -> String {
    let reached_at_ms = u64::try_from(reached.reached_at.ms()).unwrap_or_default();
    let id = reached.player.0.simple().to_string();
    let from_its_end: String = id.chars().rev().collect();
    format!("{reached_at_ms:0TIME_DIGITS$x}{from_its_end}")
}

fn decode_player(member: &str) -> Option<PlayerId> {
    let id: String = member.get(TIME_DIGITS..)?.chars().rev().collect();
    uuid::Uuid::try_parse(&id).ok().map(PlayerId)
}

fn decode_score(stored: &str) -> Result<i64, Unavailable> {
    stored.parse::<i64>().map(i64::saturating_neg).map_err(|_| unreadable())
}

fn unreadable() -> Unavailable {
    Unavailable::new("a leaderboard in Redis is malformed".into())
}

#[cfg(test)]
mod tests {
    use super::{BoardRank, PlayerId, ReachedScore, decode_player, encode_member, rank_scores};
    use bahay_base::clock::Timestamp;
    use uuid::Uuid;

    #[test]
    fn equal_scores_have_one_rank() {
        let player = |number| PlayerId(Uuid::from_u128(number));
        let ranked = |before, better, scores: &[i64]| -> Vec<u64> {
            let scores = scores.iter().map(|score| (player(1), *score));
            rank_scores(before, better, scores).iter().map(|BoardRank { rank, .. }| *rank).collect()
        };
        assert_eq!(ranked(0, 0, &[9, 7, 7, 5, 5, 5, 1]), [1, 2, 2, 4, 4, 4, 7]);
        // A page that begins within a run of equal scores.
        assert_eq!(ranked(2, 1, &[7, 5]), [2, 4]);
        assert_eq!(ranked(100, 0, &[]), Vec::<u64>::new());
    }

    #[test]
    fn members_stand_in_the_order_of_their_times_and_name_their_players() {
        let reached = |ms, id: &str| ReachedScore {
            player: id.parse().unwrap(),
            score: 1,
            reached_at: Timestamp::from_ms(ms),
        };
        let old = reached(2_000, "019ca944-3c00-7000-8000-00000091a7e1");
        let young = reached(1_000, "01a1fbfb-8f85-7daf-8dac-abb42ac4a100");
        assert!(encode_member(&young) < encode_member(&old), "reached earlier");
        let at_once = ReachedScore { reached_at: old.reached_at, ..young };
        assert!(encode_member(&at_once) < encode_member(&old), "not by the age of the account");
        for one in [old, young, at_once] {
            assert_eq!(decode_player(&encode_member(&one)), Some(one.player));
        }
        assert_eq!(decode_player("x"), None);
    }
}
