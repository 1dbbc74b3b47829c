//! The host of a tournament call by call: races, refusals, and wallets that do not cover an entry.

use bahay_engine::chance::ServerSeed;
use bahay_engine::hex::Hex;
use bahay_engine::table::{GameId, Timestamp};
use bahay_engine::testing::{ANNOUNCED_MS, tournament_player};
use bahay_engine::tournament::{
    Input, Rejection, TableNumber, Tournament, TournamentId, TransferKey,
};
use bahay_shell::tournaments::{
    HostError, LineWrite, StoredGame, Submission, SubmissionAnswer, SubmissionCall,
    SubmissionError, TournamentAnswer, TournamentCall, TournamentHost, TournamentReplica,
};
use uuid::Uuid;

use crate::support::{SIT_AND_GO, terms};

const NOW: Timestamp = Timestamp::from_ms(ANNOUNCED_MS);

fn announced() -> TournamentReplica {
    let id = TournamentId(Uuid::from_u128(1));
    let seed = ServerSeed(Hex([7; 32]));
    TournamentReplica::new(Tournament::new(id, terms(SIT_AND_GO, 3, 3), seed))
}

fn registration(number: u32) -> Input {
    let player = tournament_player(number);
    let conflict_keys = Vec::new();
    Input::Register { player, name: "player".into(), pass: false, bot: false, conflict_keys }
}

/// Submits an input. Another process appends this many lines first. Returns the end with the
/// number of the lines.
fn submit(
    replica: &mut TournamentReplica,
    input: Input,
    mut races: u32,
) -> Result<(), SubmissionError> {
    let mut submission = Submission::new(replica.clone(), input, LineWrite::None);
    let mut missed = Vec::new();
    while let Some(call) = submission.next_call() {
        let answer = match call {
            SubmissionCall::ReadLines { .. } => {
                SubmissionAnswer::Lines(std::mem::take(&mut missed))
            }
            SubmissionCall::Append { version, before, .. } => {
                assert_eq!(version, before.version + 1);
                if races == 0 {
                    SubmissionAnswer::Appended { after: None }
                } else {
                    races -= 1;
                    let other = registration(100 + races);
                    missed.extend(before.tournament.decide_line(NOW, other));
                    SubmissionAnswer::VersionTaken
                }
            }
        };
        submission.handle_answer(answer, NOW);
    }
    let end = submission.end().unwrap();
    *replica = submission.into_replica();
    end
}

#[test]
fn a_taken_version_is_decided_again_after_the_lines_of_others() {
    let mut replica = announced();
    assert_eq!(submit(&mut replica, registration(1), 2), Ok(()));
    assert_eq!((replica.version, replica.tournament.entrant_count()), (3, 3));
    let full = submit(&mut replica, registration(2), 0);
    assert_eq!(full, Err(SubmissionError::Rejected(Rejection::TournamentFull)));
    assert_eq!(replica.version, 3);
}

#[test]
fn the_decisions_on_an_input_are_bounded() {
    let mut submission = Submission::new(announced(), registration(1), LineWrite::None);
    let mut appends = 0;
    while let Some(call) = submission.next_call() {
        let answer = match call {
            SubmissionCall::ReadLines { .. } => SubmissionAnswer::Lines(Vec::new()),
            SubmissionCall::Append { .. } => {
                appends += 1;
                SubmissionAnswer::VersionTaken
            }
        };
        submission.handle_answer(answer, NOW);
    }
    assert_eq!((submission.end(), appends), (Some(Err(SubmissionError::Contended)), 32));
}

/// Runs a host to its end. Answers each submission by `submitted`, and returns the other calls and
/// the submitted inputs.
fn run_host(
    mut host: TournamentHost,
    replica: &TournamentReplica,
    game: &StoredGame,
    submitted: impl Fn(&Input, LineWrite) -> Result<(), SubmissionError>,
) -> (Result<(), HostError>, Vec<TournamentCall>) {
    let mut calls = Vec::new();
    while let Some(call) = host.next_call() {
        let answer = match &call {
            // The effects stay due: only the first round is of interest.
            TournamentCall::Read if calls.len() > 8 => break,
            TournamentCall::Read => TournamentAnswer::Replica(replica.clone()),
            TournamentCall::ReadGames => TournamentAnswer::Games(vec![game.clone()]),
            TournamentCall::Submit { input, write } => {
                TournamentAnswer::Submitted(submitted(input, *write))
            }
            _ => TournamentAnswer::Done,
        };
        calls.push(call);
        host.handle_answer(answer, NOW);
    }
    (host.end(), calls)
}

fn stored_game() -> StoredGame {
    let table = TableNumber { round: 1, table: 1 };
    StoredGame { id: GameId(Uuid::from_u128(5)), table, number: 1, scores: Vec::new() }
}

#[test]
fn an_entry_is_booked_with_its_line_and_refused_if_the_wallet_does_not_cover_it() {
    let mut replica = announced();
    submit(&mut replica, registration(1), 0).unwrap();
    let key = TransferKey::Entry { player: tournament_player(1), number: 1 };
    let answer = |_: &Input, write: LineWrite| match write {
        LineWrite::Booking(transfer) => {
            assert_eq!(transfer.key, key);
            Err(SubmissionError::Overdrawn)
        }
        _ => Ok(()),
    };
    let (end, calls) = run_host(TournamentHost::run_effects(), &replica, &stored_game(), answer);
    assert_eq!(end, Ok(()));
    let input = Input::EntryRefused { player: tournament_player(1), number: 1 };
    assert_eq!(calls[2], TournamentCall::Submit { input, write: LineWrite::None });
}

#[test]
fn a_refused_game_is_marked_at_the_present_version() {
    let mut replica = announced();
    submit(&mut replica, registration(1), 0).unwrap();
    let game = stored_game();
    let rejection = Rejection::NoSuchTable;
    let answer = |_: &Input, write: LineWrite| match write {
        LineWrite::Game(_) => Err(rejection.into()),
        _ => Ok(()),
    };
    let (_, calls) = run_host(TournamentHost::go_on(), &replica, &game, answer);
    let marked = TournamentCall::MarkScored { game: game.id, rejection, version: 1 };
    assert_eq!((&calls[2], &calls[3]), (&TournamentCall::Read, &marked));
}

#[test]
fn a_run_ends_if_the_account_of_the_tournament_cannot_pay() {
    let mut replica = announced();
    submit(&mut replica, registration(1), 0).unwrap();
    let transfer = TransferKey::Entry { player: tournament_player(1), number: 1 };
    submit(&mut replica, Input::Transferred { transfer }, 0).unwrap();
    submit(&mut replica, Input::Withdraw { player: tournament_player(1) }, 0).unwrap();
    let answer = |_: &Input, _: LineWrite| Err(SubmissionError::Overdrawn);
    let (end, _) = run_host(TournamentHost::run_effects(), &replica, &stored_game(), answer);
    let key = TransferKey::Return { player: tournament_player(1), number: 1 };
    assert_eq!(end, Err(HostError::CannotPay(key)));
}
