//! Checks of rule 9.1: a deal follows from the clients' contributions in the journal, no client is
//! dealt without its text before its time to reveal it is over, and no text is shown before the
//! deal.

use std::collections::BTreeMap;

use bahay_engine::chance::{ClientSeed, Commitment, Contribution};
use bahay_engine::table::{GameId, Input, Line, Phase, PlayerId, REVEAL_MS, Table, Timestamp};
use bahay_engine::variants;

use crate::simulation::SimulatedGame;

/// The contributions of clients to their deals.
#[derive(Default)]
pub(super) struct Seeds {
    committed: BTreeMap<(GameId, PlayerId), Commitment>,
    revealed: BTreeMap<(GameId, PlayerId), String>,
    opened: BTreeMap<GameId, Timestamp>,
}

impl Seeds {
    /// Records the contributions of an appended line and checks the deal that it causes.
    pub(super) fn check_line<G: SimulatedGame>(
        &mut self,
        before: &Table<G>,
        line: &Line<G::Action>,
        after: &Table<G>,
    ) -> Result<(), String> {
        match &line.input {
            // A player who left and returned becomes ready again, perhaps without a commitment.
            Input::Ready { player, game, commitment } => match commitment {
                Some(commitment) => {
                    self.committed.insert((*game, *player), *commitment);
                }
                None => {
                    self.committed.remove(&(*game, *player));
                }
            },
            Input::Opened { game, .. } => {
                self.opened.insert(*game, line.at);
            }
            Input::Reveal { player, game, text } => {
                let earlier = self.revealed.insert((*game, *player), text.clone());
                let committed = self.committed.get(&(*game, *player));
                if earlier.is_some() || committed != Some(&ClientSeed::from_text(text).commitment())
                {
                    return Err(format!("{line:?} reveals a text that was not committed to"));
                }
            }
            variants!(Input: Sit, Leave, Connect, Disconnect, Act, TakeBack, AiAction, Tick,
                OpenFailed, Settled, PotRefunded, UpdateTerms, Remove) => {}
        }
        match (before.phase(), after.phase()) {
            (Phase::Opening(_) | Phase::Revealing(_), Phase::Playing(playing)) => {
                self.check_deal(playing.game, &after.players(), &playing.clients, line.at)
            }
            (Phase::Revealing(before), phase) if phase.game() != Some(before.game) => {
                Err(format!("{line:?} undoes a game whose seeds are known"))
            }
            _ => Ok(()),
        }
    }

    fn check_deal(
        &self,
        game: GameId,
        players: &[PlayerId],
        clients: &[Contribution],
        at: Timestamp,
    ) -> Result<(), String> {
        let opened = self.opened.get(&game).copied().unwrap_or_default();
        let is_over = opened.after_ms(REVEAL_MS) <= at;
        for (player, client) in players.iter().zip(clients) {
            let committed = self.committed.get(&(game, *player));
            let text = self.revealed.get(&(game, *player));
            if text.is_none() && committed.is_some() && !is_over {
                return Err(format!("{game} is dealt before {player} could reveal"));
            }
            let expected =
                Contribution::new(committed.copied().unwrap_or(Commitment::NONE), text.cloned());
            if *client != expected {
                return Err(format!(
                    "{game} is dealt with {client:?} of {player}, not {expected:?}"
                ));
            }
        }
        Ok(())
    }
}

/// Checks that no seed text is shown while other clients may still choose whether to reveal theirs.
pub(super) fn check_unrevealed_text<G: SimulatedGame>(
    table: &Table<G>,
    shown: &str,
) -> Result<(), String> {
    let Phase::Revealing(revealing) = table.phase() else {
        return Ok(());
    };
    let mut texts = revealing.clients.iter().filter_map(|client| client.text.as_ref());
    match texts.find(|text| shown.contains(text.as_str())) {
        Some(text) => Err(format!("{text} is shown before the deal: {shown}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Contribution, GameId, PlayerId, Seeds, Timestamp};
    use uuid::Uuid;

    /// The canary: a check that accepts everything here checks nothing.
    #[test]
    fn a_wrong_deal_is_detected() {
        let game = GameId(Uuid::from_u128(1));
        let players = [2, 3].map(|number| PlayerId(Uuid::from_u128(number)));
        let [first, second] = ["first", "second"].map(Contribution::from_text);
        let mut seeds = Seeds::default();
        for (player, client) in players.into_iter().zip([&first, &second]) {
            seeds.committed.insert((game, player), client.commitment);
        }
        seeds.opened.insert(game, Timestamp::from_ms(0));
        seeds.revealed.insert((game, players[0]), "first".to_owned());
        let holds = |clients: [&Contribution; 2], at_ms| {
            let clients = clients.map(Clone::clone);
            seeds.check_deal(game, &players, &clients, Timestamp::from_ms(at_ms)).is_ok()
        };
        let unheard = Contribution::new(second.commitment, None);
        assert!(holds([&first, &unheard], 2_000));
        assert!(!holds([&first, &unheard], 1_999), "before the time was over");
        assert!(!holds([&first, &second], 2_000), "with an unrevealed text");
        let forgotten = Contribution::new(first.commitment, None);
        assert!(!holds([&forgotten, &unheard], 2_000), "without a text that was revealed");
        let other = Contribution::from_text("other");
        assert!(!holds([&other, &unheard], 2_000), "with another text");
        assert!(!holds([&first, &Contribution::none()], 2_000), "without a commitment");
    }
}
