//! One game of a pair and a third player: honest, or with the pair colluding in a way. Who colludes
//! is told the partner's hand, as over a telephone.

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::game::{Game as _, Turn, Viewer};
use bahay_engine::games::tongits::{Action, Phase, Rules, SEATS, Tongits, deadwood, points};
use bahay_engine::seat::Seat;

use super::Dice;
use super::signs::{Seen, Watch, can_use};

/// How two players collude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// They never challenge each other, and do not take each other's right to fight.
    SoftPlay,
    /// The first loses to the second: it feeds it, never fights and never challenges.
    ChipDumping,
    /// They know each other's points: the better one fights and challenges, the other gives way.
    SignallingFights,
}

impl Way {
    pub(super) const ALL: [Self; 3] = [Self::SoftPlay, Self::ChipDumping, Self::SignallingFights];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::SoftPlay => "soft play",
            Self::ChipDumping => "chip dumping",
            Self::SignallingFights => "signalling fights",
        }
    }
}

/// How a player differs from the house's AI, in thousandths of its chances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Character {
    /// Plays anything that is legal.
    careless: u32,
    /// Does not dare to fight, or to challenge.
    timid: u32,
}

impl Character {
    pub(super) fn random(dice: &mut Dice) -> Self {
        Self { careless: dice.below(80), timid: dice.below(300) }
    }
}

/// Plays a game; the pair sits anywhere.
pub(super) fn game(dice: &mut Dice, pair: [Character; 2], way: Option<Way>) -> Seen {
    let first = dice.below(u32::from(SEATS));
    let step = 1 + dice.below(u32::from(SEATS) - 1);
    let seat = |number: u32| {
        let number = u8::try_from(number % u32::from(SEATS)).unwrap_or(0);
        Seat::new(number).expect("a table has eight seats at least")
    };
    let seats = [seat(first), seat(first + step)];
    let third = Character::random(dice);
    let mut state = Tongits::new(&Rules::kingdom(), SEATS, None);
    let mut watch = Watch::new(seats);
    let mut events = Vec::new();
    loop {
        match state.turn() {
            Turn::Over => return watch.end(&state),
            Turn::Chance(request) => state = state.resolve(&dice.answer(request), &mut events),
            Turn::Wait(_) => state = state.expire(&mut events),
            Turn::Players(prompt) => {
                let Some(asked) = prompt.seats.iter().next() else {
                    return watch.end(&state);
                };
                let place = seats.iter().position(|seat| *seat == asked);
                let character = place.map_or(third, |place| pair[place]);
                let mut action = honest(dice, &state, asked, character);
                if let (Some(place), Some(way)) = (place, way) {
                    action = colluding(&state, way, place, seats, action);
                }
                watch.see(&state, asked, action);
                match state.act(asked, &action, &mut events) {
                    Ok(next) => state = next,
                    // What nobody may do is not thought of above.
                    Err(_) => return watch.end(&state),
                }
            }
        }
        events.clear();
    }
}

fn honest(dice: &mut Dice, state: &Tongits, seat: Seat, character: Character) -> Action {
    let view = state.view(Viewer::Seat(seat));
    let advised = Tongits::advise(&view).or_else(|| state.default_action(seat));
    let advised = advised.unwrap_or(Action::Draw);
    if dice.per_mille(character.careless) {
        let mut legal = Vec::new();
        state.legal_actions(seat, &mut legal);
        let choice = dice.below(u32::try_from(legal.len()).unwrap_or(1)) as usize;
        return legal.get(choice).copied().unwrap_or(advised);
    }
    match advised {
        Action::Fight if dice.per_mille(character.timid) => Action::Draw,
        Action::Challenge if dice.per_mille(character.timid) => Action::Fold,
        other => other,
    }
}

/// What a partner does instead of what it would do alone. `place` is 0 for the first of the two.
fn colluding(state: &Tongits, way: Way, place: usize, seats: [Seat; 2], action: Action) -> Action {
    let (own, partner) = (seats[place], seats[1 - place]);
    let (hand, other) = (hand_of(state, own), hand_of(state, partner));
    let by_partner = fighter(state) == Some(partner);
    let is_legal = |action: &Action| {
        let mut legal = Vec::new();
        state.legal_actions(own, &mut legal);
        legal.contains(action)
    };
    match (way, action) {
        (Way::SoftPlay, Action::Challenge) if by_partner => Action::Fold,
        (Way::SoftPlay, Action::Sapaw { meld, .. }) if owner(state, meld) == Some(partner) => {
            // It adds nothing there, and gets rid of its dearest card instead.
            dump(state, own, |_| true).unwrap_or(action)
        }
        (Way::ChipDumping, Action::Challenge) if place == 0 => Action::Fold,
        (Way::ChipDumping, Action::Fight) if place == 0 && is_legal(&Action::Draw) => Action::Draw,
        (Way::ChipDumping, Action::Dump { .. }) if place == 0 && own.next(SEATS) == partner => {
            dump(state, own, |card| can_use(other, card)).unwrap_or(action)
        }
        (Way::SignallingFights, Action::Challenge | Action::Fold) if by_partner => Action::Fold,
        (Way::SignallingFights, Action::Challenge) if deadwood(other) < deadwood(hand) => {
            Action::Fold
        }
        (Way::SignallingFights, Action::Fight)
            if deadwood(other) < deadwood(hand) && is_legal(&Action::Draw) =>
        {
            Action::Draw
        }
        (_, action) => action,
    }
}

/// A dump of a card that is wanted, the dearest of them.
fn dump(state: &Tongits, seat: Seat, is_wanted: impl Fn(Card) -> bool) -> Option<Action> {
    let mut legal = Vec::new();
    state.legal_actions(seat, &mut legal);
    let cards = legal.into_iter().filter_map(|action| match action {
        Action::Dump { card } => Some(card),
        _ => None,
    });
    let dearest = cards.filter(|card| is_wanted(*card)).max_by_key(|card| points(*card));
    dearest.map(|card| Action::Dump { card })
}

pub(super) fn hand_of(state: &Tongits, seat: Seat) -> CardSet {
    state.view(Viewer::Seat(seat)).hand().unwrap_or_default()
}

/// Who has begun the fight that is on.
pub(super) fn fighter(state: &Tongits) -> Option<Seat> {
    match state.view(Viewer::Public).public.phase {
        Phase::Fight { fighter, .. } => Some(fighter),
        Phase::Starter
        | Phase::Deal { .. }
        | Phase::Draw { .. }
        | Phase::Play { .. }
        | Phase::Over => None,
    }
}

pub(super) fn owner(state: &Tongits, meld: u8) -> Option<Seat> {
    state.view(Viewer::Public).public.melds.owners().get(usize::from(meld)).copied()
}
