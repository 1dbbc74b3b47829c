//! The notices of a tournament to its players: the time before the start, the start, a final place
//! without a prize, a prize, and a cancellation.

use std::collections::HashSet;

use bahay_engine::table::PlayerId;
use bahay_engine::tournament::{
    Direction, EntrantState, Event, Payment, Phase, Tournament, Transfer,
};

use crate::ledger::{TournamentPurpose, TransferForTournament};
use crate::notices::{TournamentNotice, TournamentRecipient};

/// Returns the notices that follow from the events of a line. Prizes and refunds have theirs when
/// they are booked ([`transfer_notice`]).
pub(super) fn event_notices(events: &[Event], tournament: &Tournament) -> Vec<TournamentNotice> {
    events.iter().filter_map(|event| event_notice(event, tournament)).collect()
}

fn event_notice(event: &Event, tournament: &Tournament) -> Option<TournamentNotice> {
    match event {
        Event::Started => {
            let players = persons(tournament, |state| state == EntrantState::Entered);
            let recipients = players.map(recipient).collect();
            Some(TournamentNotice { kind: "tournament_started", key: String::new(), recipients })
        }
        Event::Placed { places } => {
            let unpaid = places.iter().filter(|place| place.prize.is_zero());
            let recipients = unpaid.map(|place| TournamentRecipient {
                player: place.player,
                amount: None,
                place: Some(place.place),
            });
            let recipients = recipients.collect();
            Some(TournamentNotice { kind: "tournament_placed", key: String::new(), recipients })
        }
        Event::Cancelled { .. } => {
            let transfers = tournament.pending_transfers();
            // A pass that is returned is no refund.
            let is_refund = |one: &&Transfer| {
                one.payment == Payment::Coins && one.key.direction() == Direction::ToPlayer
            };
            let refunds = transfers.filter(is_refund);
            let refunded: HashSet<PlayerId> = refunds.filter_map(|one| one.player).collect();
            let players = persons(tournament, |state| state == EntrantState::Entered);
            let recipients = players.filter(|player| !refunded.contains(player)).map(recipient);
            let recipients = recipients.collect();
            Some(TournamentNotice { kind: "tournament_cancelled", key: String::new(), recipients })
        }
        Event::Announced { .. }
        | Event::Registered { .. }
        | Event::Entered { .. }
        | Event::Withdrawn { .. }
        | Event::RegistrationClosed { .. }
        | Event::StageStarted { .. }
        | Event::Joined { .. }
        | Event::Seated { .. }
        | Event::GameScored { .. }
        | Event::TableEnded { .. }
        | Event::RoundEnded { .. }
        | Event::Cut { .. }
        | Event::Paused { .. }
        | Event::Resumed { .. }
        | Event::Ended { .. }
        | Event::Transferred { .. } => None,
    }
}

/// Returns the notice that a tournament starts soon, to everybody who has entered.
pub(super) fn reminder_notice(tournament: &Tournament) -> TournamentNotice {
    let players = persons(tournament, |state| state == EntrantState::Entered);
    let recipients = players.map(recipient).collect();
    TournamentNotice { kind: "tournament_soon", key: String::new(), recipients }
}

/// Iterates over the players without bots whose entries are in a state.
fn persons(
    tournament: &Tournament,
    is_meant: impl Fn(EntrantState) -> bool,
) -> impl Iterator<Item = PlayerId> {
    let entrants = tournament.entrants();
    let persons = entrants.filter(move |entrant| !entrant.is_bot && is_meant(entrant.state()));
    persons.map(|entrant| entrant.player)
}

fn recipient(player: PlayerId) -> TournamentRecipient {
    TournamentRecipient { player, amount: None, place: None }
}

/// Returns the notice about a transfer that its player did not cause.
pub(super) fn transfer_notice(
    transfer: &TransferForTournament,
    tournament: &Tournament,
) -> Option<TournamentNotice> {
    let is_cancelled = matches!(tournament.phase(), Phase::Cancelled { .. });
    let (kind, player) = match transfer.purpose {
        TournamentPurpose::Prize(player) => ("tournament_prize", player),
        TournamentPurpose::Refund(player) => ("tournament_refund", player),
        TournamentPurpose::Return(player) if is_cancelled => ("tournament_refund", player),
        TournamentPurpose::Entry(_)
        | TournamentPurpose::Return(_)
        | TournamentPurpose::Fee
        | TournamentPurpose::FeeReturn
        | TournamentPurpose::Guarantee
        | TournamentPurpose::GuaranteeReturn => return None,
    };
    let place = tournament.final_place(player).map(|place| place.place);
    let amount = Some(transfer.amount);
    let recipients = vec![TournamentRecipient { player, amount, place }];
    Some(TournamentNotice { kind, key: transfer.key.clone(), recipients })
}
