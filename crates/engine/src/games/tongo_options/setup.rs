//! Positions for tests: an untrusted [`GameSetup`] becomes a game only if its cards and chips are
//! possible. Only with the feature `testing`.

use alloc::format;
use alloc::string::String;

use crate::game::{Game, ensure};
use crate::games::list::BySeat;
use crate::games::tongo_options::card::{Card, CardSet};
use crate::games::tongo_options::deal::Drawing;
use crate::games::tongo_options::dice::Dice;
use crate::games::tongo_options::hidden::Hidden;
use crate::games::tongo_options::phase::{Costs, Phase};
use crate::games::tongo_options::player::PlayerState;
use crate::games::tongo_options::public::PublicState;
use crate::games::tongo_options::rules::{FLOORS, Rules, SLOTS};
use crate::games::tongo_options::state::TongoOptions;
use crate::seat::Seat;

/// A position at the beginning of a turn.
#[derive(Clone, Debug)]
pub struct GameSetup {
    pub rules: Rules,
    pub dealer: Seat,
    /// The seat that stops the board next.
    pub turn: Seat,
    pub round: u8,
    pub costs: Costs,
    pub players: BySeat<PlayerState>,
    pub hands: BySeat<CardSet>,
    pub hidden: Hidden,
    /// By floor and slot, true if the card is face up.
    pub up: [[bool; SLOTS as usize]; FLOORS as usize],
    pub dice: Dice,
}

impl GameSetup {
    /// Builds the game in this position.
    ///
    /// # Errors
    /// The first contradiction in the position.
    pub fn build_game(&self) -> Result<TongoOptions, String> {
        let seats = u8::try_from(self.players.len()).expect("a table has at most eight seats");
        for seat in [self.dealer, self.turn] {
            ensure(seat.number() < seats, || format!("{seat:?} does not play"))?;
        }
        let is_in = !self.players[self.turn.index()].folded;
        ensure(is_in && self.hands.len() == self.players.len(), || {
            format!("{:?} does not play", self.turn)
        })?;
        let hands = self.hands.iter().flat_map(|hand| hand.iter());
        check_unique(hands.chain(self.hidden.deck.iter().copied()))?;
        let laid = self.hidden.floors.iter().chain(&self.hidden.exchanges);
        check_unique(laid.flatten().copied())?;
        for (seat, player) in Seat::all(seats).zip(self.players.iter()) {
            let all = player.chips.checked_add(player.paid.total());
            ensure(all == Some(self.rules.chips), || {
                format!("the chips of {seat:?} are not accounted for")
            })?;
        }
        let kinds = self.rules.dice();
        let is_of = |(die, (lowest, sides)): (&super::Die, &(u8, u8))| {
            (*lowest..lowest + sides).contains(&die.value)
        };
        let are_dice = self.dice.len() == kinds.len() && self.dice.iter().zip(kinds).all(is_of);
        ensure(are_dice, || "these are not the dice of the rules".into())?;
        Ok(self.to_game(seats))
    }

    /// Creates the game from the checked position.
    fn to_game(&self, seats: u8) -> TongoOptions {
        let new = TongoOptions::new(&self.rules, seats, Some(self.dealer));
        let mut public = PublicState {
            phase: Phase::Stop { seat: self.turn },
            prompt: 1,
            countdown: 1,
            round: self.round,
            costs: self.costs,
            pot: self.players.iter().map(|player| u16::from(player.paid.total())).sum(),
            players: self.players,
            dice: self.dice,
            ..new.public
        };
        for (floor, up) in self.up.iter().enumerate() {
            for (slot, is_up) in up.iter().enumerate() {
                let card = self.hidden.floors[floor][slot];
                public.floors[floor][slot] = is_up.then_some(card);
            }
        }
        TongoOptions { public, hands: self.hands, hidden: self.hidden, drawing: Drawing::default() }
    }
}

fn check_unique(cards: impl Iterator<Item = Card>) -> Result<(), String> {
    let mut seen = CardSet::EMPTY;
    for card in cards {
        ensure(!seen.contains(card), || format!("{card} is in two places"))?;
        seen = seen.with(card);
    }
    Ok(())
}
