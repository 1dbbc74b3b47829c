//! A client's part in the deal: it commits to a seed text and reveals it when asked, or does not,
//! or reveals another text first.

use crate::simulation::SimulatedGame;
use crate::simulation::client::{Client, Request};
use crate::simulation::wire::Command;
use bahay_engine::chance::{ClientSeed, Commitment};
use bahay_engine::table::GameId;

/// The share of clients, in thousandths, that do not reveal, and that reveal a wrong text first.
const NOT_REVEALED: u32 = 30;
const REVEALS_WRONGLY: u32 = 60;

impl<G: SimulatedGame> Client<G> {
    /// Returns the commitment to the client's seed text for this game, which is created if needed.
    pub(super) fn commitment(&mut self, game: GameId) -> Commitment {
        let text = match self.seed_text.take() {
            Some((made_for, text)) if made_for == game => text,
            Some(_) | None => format!("luck {} {game}", self.world.random_below(1_000)),
        };
        let commitment = ClientSeed::from_text(&text).commitment();
        self.seed_text = Some((game, text));
        commitment
    }

    pub(super) fn reveal(&mut self, game: GameId) {
        let reveal = self.known.as_ref().and_then(|known| known.view.reveal_request());
        let Some((game, commitment, _)) = reveal.filter(|(asked_for, ..)| *asked_for == game)
        else {
            return;
        };
        let world = self.world.clone();
        let text = self.seed_text.as_ref().filter(|(made_for, _)| *made_for == game);
        let Some(text) = text.map(|(_, text)| text.clone()) else {
            world.fail(format!("{} has no text to reveal", self.player));
            return;
        };
        if ClientSeed::from_text(&text).commitment() != commitment {
            world.fail(format!("{} must reveal a text that it did not commit to", self.player));
        }
        if !world.is_calm.get() && world.chance(NOT_REVEALED) {
            return;
        }
        if !world.is_calm.get() && world.chance(REVEALS_WRONGLY) {
            let text = format!("no {text}");
            self.send(Request::Other, |id| Command::Reveal { id, game, text });
        }
        self.send(Request::Reveal, |id| Command::Reveal { id, game, text });
    }
}
