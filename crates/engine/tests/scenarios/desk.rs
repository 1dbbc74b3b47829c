//! The tables of the scenario files: clients that were ready, from the opening to the deal (chapter
//! 9 of Tong-its). The runner plays the game after the deal.

use uuid::Uuid;

use bahay_bots::Ai;
use bahay_engine::chance::{ClientSeed, Contribution, ServerSeed};
use bahay_engine::game::{Game, GameKind, Hits};
use bahay_engine::hex::Hex;
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::table::{GameEntropy, GameId, Input, Phase, Timestamp};
use bahay_engine::{testing, variants};

use super::run::{CaseResult, list, require, seat};
use crate::support::desk::{self, coins, connection, player};

/// A table whose game the ledger has opened just now, at time 0.
pub(super) struct Desk<G: Game>(desk::Desk<G>);

impl<G: Ai + GameKind> Desk<G> {
    /// `clients` are the texts of the seeds to which the clients commit, `-` for none.
    pub(super) fn opened(rules: G::Rules, seats: u8, clients: &str) -> CaseResult<Self> {
        let clients: Vec<&str> = clients.split_whitespace().collect();
        require(clients.len() == usize::from(seats), || "one client a seat".into())?;
        let terms = testing::terms(rules, Some(Hits::default()), coins(1), 1);
        let mut desk = Self(desk::Desk::with_terms(terms));
        for number in 0..seats.into() {
            desk.tell(Input::sit(player(number), format!("player {number}")))?;
            desk.tell(Input::Connect { player: player(number), connection: connection(number) })?;
        }
        let game = desk.game()?;
        for (number, text) in (0..).zip(clients) {
            let commitment = (text != "-").then(|| ClientSeed::from_text(text).commitment());
            desk.tell(Input::Ready { player: player(number), game, commitment })?;
        }
        desk.tell(desk.0.opened())?;
        Ok(desk)
    }

    /// `0 reveal luck`, or of the clock `waits 2000`.
    pub(super) fn step(&mut self, step: &str) -> CaseResult<()> {
        match step.split_once(' ').ok_or("a seat and an action")? {
            ("waits", until_ms) => self.wait(until_ms),
            (who, text) => self.act(seat(who)?, text),
        }
    }

    /// `reveal luck`, `ready luck`, `leave`, `disconnect`, `connect`.
    fn act(&mut self, seat: Seat, text: &str) -> CaseResult<()> {
        let number = seat.number().into();
        let (player, connection) = (player(number), connection(number));
        let game = self.game()?;
        let words: Vec<&str> = text.split_whitespace().collect();
        self.tell(match words.as_slice() {
            ["reveal", text] => Input::Reveal { player, game, text: (*text).into() },
            ["ready", text] => {
                let commitment = Some(ClientSeed::from_text(text).commitment());
                Input::Ready { player, game, commitment }
            }
            ["leave"] => Input::Leave { player },
            ["connect"] => Input::Connect { player, connection },
            ["disconnect"] => Input::Disconnect { player, connection },
            _ => return Err(format!("nobody does {text} at a table")),
        })
    }

    /// Advances the clock to this time and performs what is due.
    fn wait(&mut self, until_ms: &str) -> CaseResult<()> {
        self.0.now = Timestamp::from_ms(until_ms.parse().map_err(|_| "milliseconds")?);
        if self.0.table.effects(self.0.now).is_empty() { Ok(()) } else { self.tell(Input::Tick) }
    }

    /// `revealing asked 0 2 revealed 1`, or another phase.
    pub(super) fn phase(&self) -> String {
        let list = |seats: SeatSet| seats.iter().map(|seat| format!(" {seat}")).collect::<String>();
        match self.0.table.phase() {
            Phase::Waiting => "waiting".into(),
            Phase::Preparing(_) => "preparing".into(),
            Phase::Opening(_) => "opening".into(),
            Phase::Revealing(revealing) => {
                let (asked, revealed) =
                    (list(revealing.unrevealed_seats()), list(revealing.revealed_seats()));
                format!("revealing asked{asked} revealed{revealed}")
            }
            Phase::Playing(_) => "playing".into(),
            Phase::Settling(_) => "settling".into(),
        }
    }

    /// Each seat's contribution to the deal: a text, `commitment` or `zeros`.
    pub(super) fn dealt_with(&self) -> CaseResult<String> {
        let Phase::Playing(playing) = self.0.table.phase() else {
            return Err("it is not dealt".into());
        };
        let word = |client: &Contribution| match (&client.text, client.commitment.is_none()) {
            _ if !client.is_valid() => "false".into(),
            (Some(text), _) => text.clone(),
            (None, true) => "zeros".into(),
            (None, false) => "commitment".into(),
        };
        Ok(list(playing.clients.iter().map(word), " ", ""))
    }

    /// Returns the game once it is dealt.
    pub(super) fn dealt(&self) -> Option<&G> {
        match self.0.table.phase() {
            Phase::Playing(playing) => Some(&playing.state),
            variants!(Phase: Waiting, Preparing, Opening, Revealing, Settling) => None,
        }
    }

    fn game(&self) -> CaseResult<GameId> {
        self.0.table.phase().game().ok_or_else(|| "there is no game".into())
    }

    /// Applies an input; a refusal is given by its code and rule.
    fn tell(&mut self, input: Input<G::Action>) -> CaseResult<()> {
        let bytes = core::array::from_fn(|place| u8::try_from(place).unwrap_or_default());
        let game = core::array::from_fn(|place| u8::try_from(place).unwrap_or_default());
        let fresh =
            GameEntropy { seed: ServerSeed(Hex(bytes)), game: GameId(Uuid::from_bytes(game)) };
        self.0.tell_with(fresh, input).map_err(|rejection| {
            format!("{} {}", rejection.code(), rejection.rule().unwrap_or_default())
        })
    }
}
