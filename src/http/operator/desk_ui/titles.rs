//! Titles of the values that the API names by codes: games, endings, rooms, and audited acts. Those
//! of the books are shared with the files that people read (`reports`).

use std::sync::Arc;

use bahay_api::operator::audit::Action;
use bahay_engine::catalog;

use crate::rooms::{PRACTICE, PRIVATE, Room, TOURNAMENT};

pub(crate) use crate::reports::{account_title, describe_item, operation_title, purpose_title};

/// The rooms as they are now, for their titles.
#[derive(Clone, Debug)]
pub(crate) struct RoomTitles(Arc<[Arc<Room>]>);

impl RoomTitles {
    pub(crate) const fn new(rooms: Arc<[Arc<Room>]>) -> Self {
        Self(rooms)
    }

    /// Returns the name of a room by its id, or the id if the house has no such room.
    pub(crate) fn title<'a>(&'a self, id: &'a str) -> &'a str {
        match id {
            PRIVATE => "Private tables",
            PRACTICE => "Practice tables",
            TOURNAMENT => "Tournaments",
            id => self.0.iter().find(|room| room.id() == id).map_or(id, |room| room.name()),
        }
    }
}

/// Returns the name of an account for people, who count seats from 1. A wallet has its code.
pub(crate) fn account_name(rooms: &RoomTitles, code: &str) -> String {
    match code.split(':').collect::<Vec<_>>().as_slice() {
        ["stake", _, seat] => match seat.parse::<u8>() {
            Ok(seat) => format!("stake of seat {}", u16::from(seat) + 1),
            Err(_) => code.to_owned(),
        },
        ["fee", room] => format!("fees of {}", rooms.title(room)),
        ["pot", table] => format!("POT of table {table}"),
        ["issue"] => "the house".to_owned(),
        _ => code.to_owned(),
    }
}

/// Returns the title of the way in which a game ended, if that is known.
pub(crate) fn ending_title(kind: &str, ending: Option<&str>) -> &'static str {
    ending.map_or("Unknown", |ending| catalog::ending_title(kind, ending))
}

/// Returns the title of an audited act, or the text of one that this version does not know.
pub(crate) fn action_title(action: &str) -> &str {
    match action.parse() {
        Ok(known) => title_of_action(known),
        Err(_) => action,
    }
}

const fn title_of_action(action: Action) -> &'static str {
    match action {
        Action::SignedIn => "Signed in",
        Action::SignInRefused => "Sign-in refused",
        Action::SignedOut => "Signed out",
        Action::EnrolmentOpened => "Enrolment opened",
        Action::Enrolled => "Enrolled",
        Action::OperatorAdded => "Operator added",
        Action::RoleChanged => "Role changed",
        Action::OperatorDisabled => "Operator disabled",
        Action::TokenCreated => "Token created",
        Action::TokenRevoked => "Token revoked",
        Action::SignInReset => "Sign-in reset",
        Action::CorrectionRequested => "Correction requested",
        Action::CorrectionApproved => "Correction approved",
        Action::CorrectionRejected => "Correction rejected",
        Action::CorrectionWithdrawn => "Correction withdrawn",
        Action::RoomCreated => "Room created",
        Action::RoomChanged => "Room changed",
        Action::HouseClosed => "House closed",
        Action::HouseOpened => "House opened",
        Action::PlayerBanned => "Player banned",
        Action::BanLifted => "Ban lifted",
        Action::PlayerMuted => "Player muted",
        Action::MuteLifted => "Mute lifted",
        Action::SessionsEnded => "Player's sessions ended",
        Action::NoteWritten => "Note written",
        Action::ReportDecided => "Report decided",
        Action::PairReviewed => "Pair reviewed",
        Action::TableVoided => "Table voided",
        Action::TableReleased => "Table released",
        Action::PotRefunded => "POT refunded",
        Action::TournamentAnnounced => "Tournament announced",
        Action::TournamentCancelled => "Tournament cancelled",
        Action::TournamentRequested => "Tournament requested",
        Action::TournamentApproved => "Tournament approved",
        Action::TournamentRejected => "Tournament rejected",
        Action::TournamentRequestWithdrawn => "Request for a tournament withdrawn",
        Action::ScheduleCreated => "Schedule created",
        Action::SchedulePaused => "Schedule paused",
        Action::ScheduleResumed => "Schedule resumed",
        Action::ScheduleDeleted => "Schedule deleted",
        Action::JobRetried => "Job retried",
        Action::JobDiscarded => "Job discarded",
        Action::TableOrderCompleted => "Order about a table completed",
        Action::TableOrderFailed => "Order about a table failed",
        Action::HandsSeen => "Hidden cards viewed",
        Action::ReplaySeen => "Replay viewed",
        Action::AddressesSeen => "Addresses viewed",
        Action::Exported => "Exported",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bahay_api::operator::audit::Action;
    use bahay_engine::table::Clocks;

    use super::{RoomTitles, account_name, action_title, ending_title};
    use crate::rooms::house_rooms;

    #[test]
    fn every_audited_act_has_a_title_of_its_own() {
        let titles: BTreeSet<&str> =
            Action::ALL.iter().map(|action| action_title(action.as_str())).collect();
        assert_eq!(titles.len(), Action::ALL.len());
        for action in Action::ALL {
            assert_ne!(action_title(action.as_str()), action.as_str());
        }
        assert_eq!(action_title("of_a_later_version"), "of_a_later_version");
    }

    #[test]
    fn rooms_accounts_and_endings_have_titles() {
        let rooms = house_rooms(Clocks::default()).into_iter().map(Into::into);
        let rooms = RoomTitles::new(rooms.collect());
        for (id, title) in [
            ("newbie", "Newbie"),
            ("private", "Private tables"),
            ("tournament", "Tournaments"),
            ("gone", "gone"),
        ] {
            assert_eq!(rooms.title(id), title);
        }
        assert_eq!(ending_title("tongits", Some("stock")), "Stock exhausted");
        assert_eq!(ending_title("tongits", None), "Unknown");
        for (code, name) in [
            ("stake:0199:0", "stake of seat 1"),
            ("fee:barkada", "fees of Barkada"),
            ("pot:0199", "POT of table 0199"),
            ("issue", "the house"),
            ("wallet:0199", "wallet:0199"),
        ] {
            assert_eq!(account_name(&rooms, code), name);
        }
    }
}
