//! The part of rooms that the API and the desk share: the conversion of settings to drafts.

use axum::extract::FromRef;
use bahay_api::operator::rooms::{
    RoomClocks, RoomPot, RoomRevision as RoomRevisionBody, RoomSettings,
};
use bahay_engine::coins::Coins;
use bahay_engine::table::{Clocks, Hits, Price, Spectators, Terms};

use crate::http::{Code, CodeExt as _, Problem, Services};
use crate::rooms::{Catalog, RoomDraft, RoomError, RoomRevision, choose_rules};

/// Returns the draft of a room with these settings. Clocks that settings do not have are those of
/// `clocks`.
pub(super) fn draft(
    id: String,
    settings: RoomSettings,
    clocks: Clocks,
) -> Result<RoomDraft, RoomError> {
    let amount = Coins::from_hundredths;
    let RoomSettings { name, is_open, kind, rule_set, rules, pot, watchable, bots, .. } = settings;
    let RoomClocks { prepare_ms, think_ms, grace_ms, missed_turns_to_takeover, absence_ms } =
        settings.clocks;
    let rules = choose_rules(&kind, &rule_set, &rules)?.rules;
    let terms = Terms {
        room: id,
        rules,
        price: Price {
            bet: amount(settings.bet),
            multiplier: settings.multiplier,
            fee_basis_points: settings.fee_basis_points,
        },
        hits: pot.map(|RoomPot { ante, hits_to_win: to_win, second_hit_bonus }| Hits {
            ante,
            to_win,
            second_hit_bonus,
        }),
        clocks: Clocks {
            prepare_ms,
            think_ms,
            grace_ms,
            missed_turns_to_takeover,
            absence_ms,
            ..clocks
        },
        spectators: if watchable { Spectators::Anybody } else { Spectators::Nobody },
        bots,
        private: None,
        practice: false,
        tournament: None,
    };
    let coins_min = amount(settings.coins_min);
    let coins_max = settings.coins_max.map(amount);
    let needs_account = settings.needs_account;
    Ok(RoomDraft { name, is_open, rule_set, terms, coins_min, coins_max, needs_account })
}

impl From<RoomRevision> for RoomRevisionBody {
    fn from(RoomRevision { room, changed_by, changed_at }: RoomRevision) -> Self {
        Self {
            id: room.id().to_owned(),
            revision: room.revision(),
            settings: room.settings(),
            changed_by,
            changed_at: changed_at.into(),
        }
    }
}

impl FromRef<Services> for Catalog {
    fn from_ref(services: &Services) -> Self {
        services.lobby.catalog().clone()
    }
}

impl From<RoomError> for Problem {
    fn from(error: RoomError) -> Self {
        let code = match &error {
            RoomError::Unknown { .. } => Code::RoomNotFound,
            RoomError::Taken { .. } => Code::RoomTaken,
            RoomError::Changed { .. } => Code::RoomChanged,
            RoomError::Unsound { .. } => Code::RoomUnsound,
            RoomError::NameTaken { .. } => Code::RoomNameTaken,
            RoomError::TooMany => Code::TooManyRooms,
            RoomError::Unavailable { .. } => return Self::unavailable(&error),
            RoomError::Broken { .. } => return Self::internal(&error),
        };
        code.with_detail(error.to_string())
    }
}
