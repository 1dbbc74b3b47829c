//! Positions for tests: an untrusted [`Setup`] becomes a game only if a game could stand so, as far
//! as cards and chips tell. Only under the feature `testing`.

use core::fmt;

use crate::game::Game;
use crate::games::tongo_options::card::{Card, CardSet};
use crate::games::tongo_options::deal::Drawing;
use crate::games::tongo_options::dice::Dice;
use crate::games::tongo_options::hidden::Hidden;
use crate::games::tongo_options::list::BySeat;
use crate::games::tongo_options::phase::Phase;
use crate::games::tongo_options::player::Player;
use crate::games::tongo_options::public::{Costs, Public};
use crate::games::tongo_options::rules::{FLOORS, Rules, SLOTS};
use crate::games::tongo_options::state::TongoOptions;
use crate::seat::Seat;

/// A position at the beginning of a turn.
#[derive(Clone, Debug)]
pub struct Setup {
    pub rules: Rules,
    pub dealer: Seat,
    /// The seat that is to stop the board.
    pub turn: Seat,
    pub round: u8,
    pub costs: Costs,
    pub players: BySeat<Player>,
    pub hands: BySeat<CardSet>,
    pub hidden: Hidden,
    /// Of each floor and slot whether the card lies face up.
    pub up: [[bool; SLOTS as usize]; FLOORS as usize],
    pub dice: Dice,
}

/// Why no game stands so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadSetup {
    Seat(Seat),
    /// In the player deck, in a hand, or among the options cards.
    Twice(Card),
    /// What a seat has, and what it has paid, are not all its chips.
    Chips(Seat),
    Dice,
}

impl fmt::Display for BadSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seat(seat) => write!(f, "{seat:?} does not play"),
            Self::Twice(card) => write!(f, "{card} is in two places"),
            Self::Chips(seat) => write!(f, "the chips of {seat:?} are not accounted for"),
            Self::Dice => f.write_str("these are not the dice of the rules"),
        }
    }
}

impl core::error::Error for BadSetup {}

impl Setup {
    /// The game that stands so.
    ///
    /// # Errors
    /// The first thing that no game could have.
    pub fn game(&self) -> Result<TongoOptions, BadSetup> {
        let seats = u8::try_from(self.players.len()).expect("a table has at most eight seats");
        for seat in [self.dealer, self.turn] {
            ensure(seat.number() < seats, || BadSetup::Seat(seat))?;
        }
        let is_in = !self.players[self.turn.index()].folded;
        ensure(is_in && self.hands.len() == self.players.len(), || BadSetup::Seat(self.turn))?;
        let hands = self.hands.iter().flat_map(|hand| hand.iter());
        once_each(hands.chain(self.hidden.deck.iter().copied()))?;
        let laid = self.hidden.floors.iter().chain(&self.hidden.exchanges);
        once_each(laid.flatten().copied())?;
        for (seat, player) in Seat::all(seats).zip(self.players.iter()) {
            let all = player.chips.checked_add(player.paid.total());
            ensure(all == Some(self.rules.chips), || BadSetup::Chips(seat))?;
        }
        let kinds = self.rules.dice();
        let is_of = |(die, (lowest, sides)): (&super::Die, &(u8, u8))| {
            (*lowest..lowest + sides).contains(&die.value)
        };
        let are_dice = self.dice.len() == kinds.len() && self.dice.iter().zip(kinds).all(is_of);
        ensure(are_dice, || BadSetup::Dice)?;
        Ok(self.stand(seats))
    }

    /// The game, once everything is checked.
    fn stand(&self, seats: u8) -> TongoOptions {
        let new = TongoOptions::new(&self.rules, seats, Some(self.dealer));
        let mut public = Public {
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

fn once_each(cards: impl Iterator<Item = Card>) -> Result<(), BadSetup> {
    let mut seen = CardSet::EMPTY;
    for card in cards {
        ensure(!seen.contains(card), || BadSetup::Twice(card))?;
        seen = seen.with(card);
    }
    Ok(())
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> BadSetup) -> Result<(), BadSetup> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
