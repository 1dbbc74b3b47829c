//! The sequence of calls that seats a player: reserve, claim, sit, confirm. Every path to a table
//! runs it, and it can be repeated for the same table after an interruption at any call.
//!
//! An account sits at one table at a time (rule 8.4). A seat claim is taken before the seat and
//! confirmed after it; it expires if the process dies in between, so no race seats an account
//! twice. The table's journal decides who sits there.

use bahay_engine::game::Refusal;
use bahay_engine::table::{Rejection, TableId};

use crate::failure::{TableError, UnavailableError};

/// The number of tables of a room that are tried before the player gets no seat.
const ATTEMPTS: usize = 8;

/// The seat claim of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatClaim {
    None,
    /// The seat is being taken.
    Pending(TableId),
    Held(TableId),
}

/// A call that seats a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeatingCall {
    /// Reads the player's claim. Answered by [`SeatingAnswer::Claim`].
    ReadClaim,
    /// Reads whether the player sits at the table. Answered by [`SeatingAnswer::Flag`].
    ReadSeat(TableId),
    /// Reserves a seat at a table of the room, which may be new, except at these. Answered by
    /// [`SeatingAnswer::Reserved`].
    Reserve { full: Vec<TableId> },
    /// Creates the table unless it exists.
    Create(TableId),
    /// Claims a seat unless the player has a claim. Answered by [`SeatingAnswer::Flag`].
    Claim(TableId),
    /// Takes the seat. Answered by [`SeatingAnswer::Table`].
    Sit(TableId),
    /// Makes the claim permanent. Answered by [`SeatingAnswer::Flag`], false if it has expired.
    Confirm(TableId),
    /// Gives the seat up. Answered by [`SeatingAnswer::Table`].
    Leave(TableId),
    /// Releases the claim.
    Release(TableId),
    /// Corrects the table's entry in the list of its room: a stale one would send every player to
    /// this table first. A failure is ignored.
    List(TableId),
    /// Releases the reservation.
    Unreserve(TableId),
}

/// The answer of a table to an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableAnswer {
    /// The player sits there, or has left.
    Accepted,
    /// The table has rejected the input, or does not exist.
    Rejected,
    Halted,
    OtherVersion,
}

/// The result of a [`SeatingCall`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatingAnswer {
    Done,
    Flag(bool),
    Claim(SeatClaim),
    Reserved {
        table: TableId,
        /// The table is new only because players of one network are kept apart.
        is_kept_apart: bool,
    },
    Table(TableAnswer),
}

impl SeatingAnswer {
    /// Returns the answer of a table to `Sit` or `Leave`.
    ///
    /// # Errors
    /// Fails if the outcome is unknown: the claim expires, and the next request resolves it.
    pub fn from_submitted<I: Refusal>(
        submitted: Result<u64, TableError<I>>,
    ) -> Result<Self, UnavailableError> {
        Ok(Self::Table(match submitted {
            Ok(_) | Err(TableError::Rejected(Rejection::AlreadySeated)) => TableAnswer::Accepted,
            Err(TableError::Rejected(_) | TableError::Missing) => TableAnswer::Rejected,
            Err(TableError::Halted) => TableAnswer::Halted,
            Err(TableError::OtherVersion) => TableAnswer::OtherVersion,
            Err(TableError::Unavailable(error)) => return Err(error),
        }))
    }
}

/// The end of the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatingEnd {
    Seated(TableId),
    /// The player sits nowhere.
    Unseated,
    /// Another request seats the player, or has seated it at another table.
    Busy,
    /// The table, or every table that was tried, is full, closed, halted, ended or run by another
    /// version.
    NoSeat,
    /// The table at which the claim expired is halted.
    Halted,
    /// The table at which the claim expired is run by nodes of another version.
    OtherVersion,
}

/// The tables at which a seat is sought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    /// The table where the player sits already.
    Own,
    /// One table, at which a seat is reserved.
    Table,
    Room,
}

/// The sequence of calls for one player. The driver performs each call and hands its result back
/// until there is no further call. A failed call aborts the sequence.
#[derive(Debug)]
pub struct Seating {
    goal: Goal,
    call: SeatingCall,
    end: Option<SeatingEnd>,
    /// The table of the first claim that was read, and whether the player sits there.
    read: Option<(TableId, bool)>,
    /// The table that is to be given up, with the end that this leads to.
    failed: Option<SeatingEnd>,
    claimed: Option<TableId>,
    full: Vec<TableId>,
    is_kept_apart: bool,
}

impl Seating {
    fn new(goal: Goal, call: SeatingCall) -> Self {
        Self {
            goal,
            call,
            end: None,
            read: None,
            failed: None,
            claimed: None,
            full: Vec::new(),
            is_kept_apart: false,
        }
    }

    /// Finds the table where a player sits. Confirms a pending claim of a seated player and
    /// releases a claim that no seat corresponds to.
    pub fn find() -> Self {
        Self::new(Goal::Own, SeatingCall::ReadClaim)
    }

    /// Takes a reserved seat at a table.
    pub fn at_table(table: TableId) -> Self {
        Self::new(Goal::Table, SeatingCall::Claim(table))
    }

    /// Takes a seat in a room, first at a table where one is reserved already, if there is one.
    pub fn in_room(reserved: Option<TableId>) -> Self {
        let reserve = SeatingCall::Reserve { full: Vec::new() };
        Self::new(Goal::Room, reserved.map_or(reserve, SeatingCall::Create))
    }

    /// Returns the next call, or `None` at the end.
    pub fn next_call(&self) -> Option<SeatingCall> {
        self.end.is_none().then(|| self.call.clone())
    }

    /// Returns the end, once there is no further call.
    pub fn end(&self) -> Option<SeatingEnd> {
        self.end
    }

    /// Returns true if the player waits at a new table only because players of one network are kept
    /// apart.
    pub fn is_kept_apart(&self) -> bool {
        self.is_kept_apart
    }

    /// Handles the result of the last call.
    pub fn handle_answer(&mut self, answer: SeatingAnswer) {
        match self.next_step(answer) {
            Ok(call) => self.call = call,
            Err(end) => self.end = Some(end),
        }
    }

    fn next_step(&mut self, answer: SeatingAnswer) -> Result<SeatingCall, SeatingEnd> {
        use SeatingAnswer as Answer;
        use SeatingCall as Call;
        match (self.call.clone(), answer) {
            (Call::ReadClaim, Answer::Claim(claim)) => self.handle_claim(claim),
            (Call::ReadSeat(table), Answer::Flag(is_seated)) => {
                self.read = Some((table, is_seated));
                Ok(Call::ReadClaim)
            }
            (Call::Reserve { .. }, Answer::Reserved { table, is_kept_apart }) => {
                self.is_kept_apart = is_kept_apart;
                Ok(Call::Create(table))
            }
            (Call::Create(table), _) => Ok(Call::Claim(table)),
            (Call::Claim(table), Answer::Flag(true)) => Ok(Call::Sit(table)),
            (Call::Claim(table), _) => {
                self.claimed = Some(table);
                Ok(Call::ReadClaim)
            }
            (Call::Sit(table), Answer::Table(TableAnswer::Accepted)) => Ok(Call::Confirm(table)),
            (Call::Sit(table), _) => Ok(Call::Release(table)),
            (Call::Confirm(table), Answer::Flag(true)) => Err(SeatingEnd::Seated(table)),
            (Call::Confirm(table), _) => Ok(Call::Leave(table)),
            (Call::Leave(_), Answer::Table(TableAnswer::Halted)) => Err(SeatingEnd::Halted),
            (Call::Leave(_), Answer::Table(TableAnswer::OtherVersion)) => {
                Err(SeatingEnd::OtherVersion)
            }
            (Call::Leave(table), _) => self.give_up(table, SeatingEnd::Busy),
            // The process that freed the seat died before it released the claim.
            (Call::Release(_), _) if self.goal == Goal::Own => Err(SeatingEnd::Unseated),
            (Call::Release(table), _) => Ok(Call::List(table)),
            (Call::List(table), _) => self.give_up(table, SeatingEnd::NoSeat),
            (Call::Unreserve(table), _) => {
                self.full.push(table);
                let end = self.failed.take().unwrap_or(SeatingEnd::NoSeat);
                let is_over = self.goal != Goal::Room || self.full.len() >= ATTEMPTS;
                if is_over || end != SeatingEnd::NoSeat {
                    return Err(end);
                }
                Ok(Call::Reserve { full: self.full.clone() })
            }
            // No driver answers so; nothing is known of the player's seat.
            (Call::ReadClaim | Call::ReadSeat(_) | Call::Reserve { .. }, _) => {
                Err(SeatingEnd::Busy)
            }
        }
    }

    fn handle_claim(&mut self, claim: SeatClaim) -> Result<SeatingCall, SeatingEnd> {
        use SeatClaim::{Held, Pending};
        if let Some(table) = self.claimed.take() {
            // The claim is left by an interrupted process, or held by a concurrent one; both end in
            // the same state.
            let is_here = claim == Pending(table) || claim == Held(table);
            return match is_here {
                true => Ok(SeatingCall::Sit(table)),
                false => self.give_up(table, SeatingEnd::Busy),
            };
        }
        match (self.read, claim) {
            (_, SeatClaim::None) => Err(SeatingEnd::Unseated),
            (None, Pending(table) | Held(table)) => Ok(SeatingCall::ReadSeat(table)),
            (Some((table, true)), Held(now)) if now == table => Err(SeatingEnd::Seated(table)),
            (Some((table, true)), Pending(now)) if now == table => Ok(SeatingCall::Confirm(table)),
            (Some((table, false)), Held(now)) if now == table => Ok(SeatingCall::Release(table)),
            (Some(_), Held(_) | Pending(_)) => Err(SeatingEnd::Busy),
        }
    }

    /// Ends an attempt at a table, where the seat is no longer reserved.
    fn give_up(&mut self, table: TableId, end: SeatingEnd) -> Result<SeatingCall, SeatingEnd> {
        if self.goal == Goal::Own {
            return Err(end);
        }
        self.failed = Some(end);
        Ok(SeatingCall::Unreserve(table))
    }
}

#[cfg(test)]
mod tests {
    use bahay_engine::table::TableId;
    use uuid::Uuid;

    use super::{SeatClaim, Seating, SeatingAnswer, SeatingCall, SeatingEnd, TableAnswer};

    const TABLE: TableId = TableId(Uuid::from_u128(1));
    const OTHER: TableId = TableId(Uuid::from_u128(2));
    const ACCEPTED: SeatingAnswer = SeatingAnswer::Table(TableAnswer::Accepted);
    const FULL: SeatingAnswer = SeatingAnswer::Table(TableAnswer::Rejected);

    fn run(mut seating: Seating, answers: &[SeatingAnswer]) -> (Option<SeatingEnd>, SeatingCall) {
        for answer in answers {
            assert!(seating.next_call().is_some(), "{answer:?} comes after the end");
            seating.handle_answer(*answer);
        }
        (seating.end(), seating.call)
    }

    #[test]
    fn a_seat_is_reserved_created_claimed_taken_and_confirmed() {
        let reserved = SeatingAnswer::Reserved { table: TABLE, is_kept_apart: false };
        let flag = SeatingAnswer::Flag(true);
        let answers = [reserved, SeatingAnswer::Done, flag, ACCEPTED, flag];
        let (end, _) = run(Seating::in_room(None), &answers);
        assert_eq!(end, Some(SeatingEnd::Seated(TABLE)));
    }

    #[test]
    fn a_full_table_is_skipped_and_the_attempts_are_bounded() {
        let done = SeatingAnswer::Done;
        let round = [done, SeatingAnswer::Flag(true), FULL, done, done, done];
        let (end, call) = run(Seating::in_room(Some(TABLE)), &round);
        assert_eq!((end, call), (None, SeatingCall::Reserve { full: vec![TABLE] }));
        let mut seating = Seating::in_room(None);
        let mut tried = 0;
        while let Some(call) = seating.next_call() {
            seating.handle_answer(match call {
                SeatingCall::Reserve { full } => {
                    tried += 1;
                    assert_eq!(full.len() + 1, tried);
                    SeatingAnswer::Reserved { table: OTHER, is_kept_apart: false }
                }
                SeatingCall::Sit(_) => FULL,
                SeatingCall::Claim(_) => SeatingAnswer::Flag(true),
                _ => done,
            });
        }
        assert_eq!((seating.end(), tried), (Some(SeatingEnd::NoSeat), super::ATTEMPTS));
    }

    #[test]
    fn an_expired_claim_gives_the_seat_up() {
        let seating = Seating::at_table(TABLE);
        let is_claimed = SeatingAnswer::Flag(true);
        let answers = [is_claimed, ACCEPTED, SeatingAnswer::Flag(false), ACCEPTED];
        assert_eq!(run(seating, &answers), (None, SeatingCall::Unreserve(TABLE)));
    }

    #[test]
    fn a_claim_elsewhere_leaves_this_table_alone() {
        let elsewhere = SeatingAnswer::Claim(SeatClaim::Held(OTHER));
        let answers = [SeatingAnswer::Flag(false), elsewhere, SeatingAnswer::Done];
        let (end, _) = run(Seating::at_table(TABLE), &answers);
        assert_eq!(end, Some(SeatingEnd::Busy));
    }

    #[test]
    fn a_claim_is_read_again_after_the_table() {
        let claim = SeatingAnswer::Claim;
        for (is_seated, again, end) in [
            (true, SeatClaim::Held(TABLE), Some(SeatingEnd::Seated(TABLE))),
            (true, SeatClaim::Held(OTHER), Some(SeatingEnd::Busy)),
            (false, SeatClaim::Pending(TABLE), Some(SeatingEnd::Busy)),
            (false, SeatClaim::None, Some(SeatingEnd::Unseated)),
            (false, SeatClaim::Held(TABLE), None),
        ] {
            let answers =
                [claim(SeatClaim::Held(TABLE)), SeatingAnswer::Flag(is_seated), claim(again)];
            assert_eq!(run(Seating::find(), &answers).0, end, "{is_seated} {again:?}");
        }
    }
}
