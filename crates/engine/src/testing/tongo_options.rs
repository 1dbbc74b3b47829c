//! The conformance probe of Tongo (options): arbitrary actions, hidden cards, and conservation of
//! cards and chips.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::game::Viewer;
use crate::games::tongo_options::{
    Action, Card, CardSet, Discards, NewCosts, Phase, PublicState, TongoOptions,
};
use crate::seat::Seat;
use crate::testing::{Probe, TestRng};

/// The conformance probe of Tongo (options).
#[derive(Clone, Copy, Debug)]
pub struct TongoOptionsProbe;

impl Probe<TongoOptions> for TongoOptionsProbe {
    /// Uses only the listed values of free numbers and values just beyond the bounds, because other
    /// values are legal without being listed.
    fn wild_action(&self, game: &TongoOptions, dice: &mut TestRng) -> Action {
        let public = game.public();
        let hands: Vec<CardSet> = game.hands().iter().copied().chain([CardSet::ALL]).collect();
        let discards = some_of(dice.choose(&hands).copied().unwrap_or_default(), dice);
        let floor = dice.below_u8(9);
        let slot = dice.below_u8(4);
        let other = dice.below_u8(4);
        let leverage = dice.below(3) == 0;
        let seats: Vec<Seat> = Seat::all(8).collect();
        let target = dice.choose(&seats).copied().filter(|_| dice.below(5) > 0);
        let percents = [-100, -50, -10, 0, 10, 50, 100, 101];
        let percent = *dice.choose(&percents).expect("there are percentages");
        let floor_or_free = Some(floor).filter(|_| dice.below(4) > 0);
        let actions = [
            Action::Stop { floor },
            Action::Retreat,
            Action::Evade { discards },
            Action::ConvertReserves,
            Action::Confront { target },
            Action::Acquire,
            Action::Fold,
            Action::PayRisk,
            Action::Lower(new_costs(public, dice, false)),
            Action::Buy { slot, leverage },
            Action::Sell { slot, leverage },
            Action::Exchange { slot, floor: floor_or_free, other, leverage },
            Action::Raise(new_costs(public, dice, true)),
            Action::IndexMargin { percent },
            Action::Roll,
            Action::End,
            Action::PayToEvade { discards },
            Action::Stand,
            Action::Join,
        ];
        *dice.choose(&actions).expect("there are actions")
    }

    /// Returns the names of which the viewer sees neither card. A name stands for a card of either
    /// deck; the twin tests check which of the two a viewer sees.
    fn hidden_texts(&self, game: &TongoOptions, viewer: Viewer) -> Vec<String> {
        let own = viewer.seat().and_then(|seat| game.hands().get(seat.index()).copied());
        let up = game.public().face_up_cards().into_iter().fold(CardSet::EMPTY, CardSet::union);
        let shown = game.public().shown.iter().map(|shown| shown.hand);
        let seen = shown.chain(own).fold(up, CardSet::union);
        // The cards that were just discarded were the viewer's own.
        let discards = match game.public().phase {
            Phase::Shuffle { seat, count, .. } if viewer == Viewer::Seat(seat) => {
                let deck = &game.hidden().deck;
                deck.iter().rev().take(usize::from(count)).copied().collect()
            }
            variants!(Phase: Deal, Stop, Turn, Roll, Shuffle, Challenge, Showdown,
                Over) => CardSet::EMPTY,
        };
        let hidden = CardSet::ALL.difference(seen).difference(discards);
        hidden.iter().map(|card| format!("\"{card}\"")).collect()
    }

    fn broken_invariant(&self, game: &TongoOptions) -> Option<String> {
        let public = game.public();
        if matches!(public.phase, Phase::Showdown(_)) {
            return Some("hands are to be shown and are not".into());
        }
        for (seat, player) in (0..).zip(public.players.iter()) {
            if player.chips.checked_add(player.paid.total()) != Some(public.rules.chips) {
                return Some(format!("seat {seat} has lost or made chips: {player:?}"));
            }
        }
        let paid: u16 = public.players.iter().map(|player| u16::from(player.paid.total())).sum();
        if paid != public.pot {
            return Some(format!("{paid} chips were paid, and the pot is {}", public.pot));
        }
        if matches!(public.phase, Phase::Deal) {
            return None;
        }
        broken_cards(game)
    }
}

/// Checks that every card of either deck is in exactly one place, and that the face-up cards are
/// the cards that lie there.
fn broken_cards(game: &TongoOptions) -> Option<String> {
    let public = game.public();
    let hidden = game.hidden();
    let hands = game.hands().iter().flat_map(|hand| hand.iter());
    let mut cards: Vec<Card> = hands.chain(hidden.deck.iter().copied()).collect();
    cards.sort();
    if !cards.iter().copied().eq(Card::all()) {
        return Some(format!("the player cards are {cards:?}"));
    }
    let mut cards: Vec<Card> =
        hidden.floors.iter().chain(&hidden.exchanges).flatten().copied().collect();
    cards.sort();
    if !cards.iter().copied().eq(Card::all()) {
        return Some(format!("the options cards are {cards:?}"));
    }
    for (shown, laid) in public.floors.iter().flatten().zip(hidden.floors.iter().flatten()) {
        if shown.is_some_and(|shown| shown != *laid) {
            return Some(format!("{shown:?} is shown, and {laid} lies there"));
        }
    }
    let drawing = match public.phase {
        Phase::Shuffle { seat, count, .. } => Some((seat, count)),
        variants!(Phase: Deal, Stop, Turn, Roll, Challenge, Showdown, Over) => None,
    };
    for (seat, hand) in Seat::all(public.seats()).zip(game.hands().iter()) {
        let missing = drawing.filter(|(drawer, _)| *drawer == seat).map_or(0, |(_, count)| count);
        if hand.len() + usize::from(missing) != 4 {
            return Some(format!("{seat:?} has {hand}"));
        }
    }
    None
}

/// Returns a change of one cost: within the listed values, just beyond them, or none.
fn new_costs(public: &PublicState, dice: &mut TestRng, is_raise: bool) -> NewCosts {
    let mut one = |old: u16| {
        let raise_max = u16::from(public.rules.raise_max);
        let news = if is_raise {
            [old.saturating_sub(1), old, old + 1, old + raise_max, old + raise_max + 1]
        } else {
            [0, 1, old.saturating_sub(1), old, old + 1]
        };
        dice.choose(&news).copied()
    };
    let costs = &public.costs;
    let [buy, sell, exchange] = [costs.buy, costs.sell, costs.exchange].map(&mut one);
    match dice.below(4) {
        0 => NewCosts { buy, ..NewCosts::default() },
        1 => NewCosts { sell, ..NewCosts::default() },
        2 => NewCosts { exchange, ..NewCosts::default() },
        _ => NewCosts::default(),
    }
}

/// Returns up to four of the cards, in their order.
fn some_of(cards: CardSet, dice: &mut TestRng) -> Discards {
    let mut some: Discards = Discards::new();
    for card in cards.iter() {
        if some.len() < 4 && dice.below(3) == 0 {
            some.push(card);
        }
    }
    some
}
