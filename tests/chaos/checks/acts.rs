//! Acknowledged actions against the records: each is recorded once, as it was sent, in the order of
//! the acks, and no record holds an action in a player's name that the player did not send.

use std::collections::{BTreeMap, BTreeSet};

use bahay_engine::chance::{Commitment, Contribution};
use bahay_engine::table::{ActionOrigin, GameId, PlayerId};

use super::Facts;
use super::walk::JournalWalk;
use crate::evidence::Evidence;
use crate::truth::{ActionJson, Truth};

/// The outcomes of acknowledged actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ActionCounts {
    pub(crate) recorded: u64,
    /// Actions in voided games.
    pub(crate) voided: u64,
}

/// The reports of clients on one player in one game.
#[derive(Debug, Default)]
struct Said {
    /// Prompts and actions in the order of the acks.
    acked: Vec<(u32, ActionJson)>,
    sent: BTreeSet<(u32, ActionJson)>,
    commitments: Vec<Commitment>,
    texts: Vec<String>,
}

type Games = BTreeMap<GameId, BTreeMap<PlayerId, Said>>;

fn said_in(games: &mut Games, game: GameId, player: PlayerId) -> &mut Said {
    games.entry(game).or_default().entry(player).or_default()
}

pub(super) fn check(evidence: &Evidence, walked: &[JournalWalk]) -> (Facts, ActionCounts) {
    let mut facts = Facts::default();
    let mut counted = ActionCounts::default();
    let mut games = Games::new();
    for client in walked {
        let Some(player) = client.player else {
            continue;
        };
        for act in &client.acked {
            let said = said_in(&mut games, act.game, player);
            said.acked.push((act.prompt, act.action.clone()));
        }
        for (game, prompt, action) in &client.sent {
            said_in(&mut games, *game, player).sent.insert((*prompt, action.clone()));
        }
        for (game, commitment) in &client.commitments {
            said_in(&mut games, *game, player).commitments.push(*commitment);
        }
        for (game, text) in &client.texts {
            said_in(&mut games, *game, player).texts.push(text.clone());
        }
    }
    for (game, players) in games {
        let acked: u64 = players.values().map(|said| said.acked.len() as u64).sum();
        let Some(opened) = evidence.games.get(&game) else {
            if acked > 0 {
                facts.add(|| format!("{acked} acts in game {game}, which was never opened"));
            }
            continue;
        };
        if opened.state == "voided" {
            counted.voided += acked;
            if !evidence.redis_was_lost {
                let why = opened.void_reason.clone().unwrap_or_default();
                facts.add(|| format!("game {game} with {acked} acts was voided: {why}"));
            }
            continue;
        }
        let Some(record) = &opened.record else {
            let state = &opened.state;
            facts.add(|| format!("game {game} with {acked} acts is {state} and has no record"));
            continue;
        };
        let Ok(truth) = Truth::of(record) else {
            facts.add(|| format!("game {game} with {acked} acts cannot be replayed"));
            continue;
        };
        for (player, said) in players {
            let Some(place) = record.players.iter().position(|who| *who == player) else {
                facts.add(|| format!("player {player} acted in game {game} without a seat"));
                continue;
            };
            let recorded: Vec<(u32, ActionJson)> = truth
                .taken()
                .filter(|took| took.seat.index() == place && took.by == ActionOrigin::Player)
                .map(|took| (took.prompt, took.action.clone()))
                .collect();
            counted.recorded += said.acked.len() as u64;
            of_player(&mut facts, game, player, &said, &recorded);
            let tournament = record.terms.tournament.as_ref();
            if tournament.is_some_and(|tournament| !tournament.commitments.is_empty()) {
                // No client contributes to a deal that several tables play (rule 5.1).
                if record.clients.iter().any(|client| *client != Contribution::none()) {
                    facts.add(|| format!("clients have contributed to game {game} of a duplicate"));
                }
                continue;
            }
            let client = record.clients.get(place);
            for commitment in &said.commitments {
                if client.is_none_or(|client| client.commitment != *commitment) {
                    facts.add(|| format!("the commitment of {player} is not in game {game}"));
                }
            }
            for text in &said.texts {
                if client.and_then(|client| client.text.as_ref()) != Some(text) {
                    facts.add(|| format!("the text of {player} is not in game {game}"));
                }
            }
        }
    }
    (facts, counted)
}

fn of_player(
    facts: &mut Facts,
    game: GameId,
    player: PlayerId,
    said: &Said,
    recorded: &[(u32, ActionJson)],
) {
    let mut last = None;
    for act in &said.acked {
        match recorded.iter().position(|other| other == act) {
            None => facts.add(|| {
                format!("player {player} was acknowledged {act:?} in game {game}: not recorded")
            }),
            Some(place) if last == Some(place) => {
                facts.add(|| format!("player {player} was acknowledged {act:?} twice in {game}"));
            }
            Some(place) if last.is_some_and(|last| place < last) => facts
                .add(|| format!("player {player} was acknowledged {act:?} in {game} out of order")),
            Some(place) => last = Some(place),
        }
    }
    for (number, act) in recorded.iter().enumerate() {
        if !said.sent.contains(act) {
            facts.add(|| format!("game {game} has {act:?} of {player}, who never sent it"));
        }
        if recorded[..number].contains(act) {
            facts.add(|| format!("game {game} has {act:?} of {player} twice"));
        }
    }
}
