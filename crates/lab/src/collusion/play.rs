//! One game of a pair and a third player: honest, or with the pair colluding. A colluding player
//! knows the partner's hand, as over a telephone.

use bahay_bots::Ai;
use bahay_engine::cards::Card;
use bahay_engine::chance::ChanceRng;
use bahay_engine::game::{Game as _, Turn, Viewer};
use bahay_engine::games::tongits::{Action, Rules, SEATS, Tongits, deadwood, points};
use bahay_engine::seat::Seat;

use super::hands::{can_use, fighter, hand_of, legal_actions, meld_owner};
use super::signs::{PairGame, PairObserver};

bahay_base::text_enum! {
    /// A way to collude.
    pub(super) enum CollusionKind {
        /// The players never challenge each other, and do not take each other's right to fight.
        SoftPlay = "soft play",
        /// The first player loses to the second: it feeds it, never fights and never challenges.
        ChipDumping = "chip dumping",
        /// The players know each other's points: the better one fights and challenges, and the
        /// other gives way.
        SignallingFights = "signalling fights",
    }
}

/// A player's deviation from the house's AI, in thousandths of its chances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Character {
    /// The share of turns with a random legal action.
    pub(super) careless: usize,
    /// The share of fights and challenges that are declined.
    pub(super) timid: usize,
}

/// The default bound on the share of turns with a random action, in thousandths.
pub(super) const CARELESS_MAX: u32 = 80;

impl Character {
    pub(super) fn random(dice: &mut ChanceRng) -> Self {
        Self::random_below(dice, CARELESS_MAX)
    }

    /// Draws a character whose share of random turns is below a bound, in thousandths.
    pub(super) fn random_below(dice: &mut ChanceRng, careless: u32) -> Self {
        Self { careless: dice.below(careless as usize), timid: dice.below(300) }
    }
}

/// Plays a game with the pair at random seats.
pub(super) fn play_game(
    dice: &mut ChanceRng,
    pair: [Character; 2],
    kind: Option<CollusionKind>,
) -> PairGame {
    let first = dice.below(SEATS.into());
    let step = 1 + dice.below(usize::from(SEATS) - 1);
    let mut seats = Seat::all(SEATS).cycle().skip(first).step_by(step);
    let seats = [0; 2].map(|_| seats.next().expect("the seats are repeated"));
    let third = Character::random(dice);
    let mut state = Tongits::new(&Rules::kingdom(), SEATS, None);
    let mut observer = PairObserver::new(seats);
    let mut events = Vec::new();
    loop {
        match state.turn() {
            Turn::Over => return observer.finish(&state),
            Turn::Chance(request) => state = state.resolve(&dice.draw(request), &mut events),
            Turn::Wait(_) => state = state.expire(&mut events),
            Turn::Players(prompt) => {
                let Some(seat) = prompt.seats.iter().next() else {
                    return observer.finish(&state);
                };
                let place = seats.iter().position(|one| *one == seat);
                let character = place.map_or(third, |place| pair[place]);
                let mut action = choose_honest_action(dice, &state, seat, character);
                if let (Some(place), Some(kind)) = (place, kind) {
                    action = choose_colluding_action(&state, kind, place, seats, action);
                }
                observer.observe(&state, seat, action);
                match state.act(seat, &action, &mut events) {
                    Ok(next) => state = next,
                    // The actions chosen above are legal.
                    Err(_) => return observer.finish(&state),
                }
            }
        }
        events.clear();
    }
}

fn choose_honest_action(
    dice: &mut ChanceRng,
    state: &Tongits,
    seat: Seat,
    character: Character,
) -> Action {
    let view = state.view(Viewer::Seat(seat));
    let advised = Tongits::choose_action(&view).or_else(|| state.default_action(seat));
    let advised = advised.unwrap_or(Action::Draw);
    let mut is_drawn = |share: usize| share > 0 && dice.below(1_000) < share;
    if is_drawn(character.careless) {
        let legal = legal_actions(state, seat);
        return legal.get(dice.below(legal.len().max(1))).copied().unwrap_or(advised);
    }
    match advised {
        Action::Fight if is_drawn(character.timid) => Action::Draw,
        Action::Challenge if is_drawn(character.timid) => Action::Fold,
        other => other,
    }
}

/// Returns the action of a colluding player instead of its honest one. `place` is 0 for the first
/// of the pair.
fn choose_colluding_action(
    state: &Tongits,
    kind: CollusionKind,
    place: usize,
    seats: [Seat; 2],
    action: Action,
) -> Action {
    let own = seats[place];
    let partner = seats[1 - place];
    let hand = hand_of(state, own);
    let other = hand_of(state, partner);
    let by_partner = fighter(state) == Some(partner);
    let is_legal = |action: &Action| legal_actions(state, own).contains(action);
    match (kind, action) {
        (CollusionKind::SoftPlay, Action::Challenge) if by_partner => Action::Fold,
        (CollusionKind::SoftPlay, Action::Sapaw { meld, .. })
            if meld_owner(state, meld) == Some(partner) =>
        {
            // The player adds nothing there, and dumps its most expensive card instead.
            choose_dump(state, own, |_| true).unwrap_or(action)
        }
        (CollusionKind::ChipDumping, Action::Challenge) if place == 0 => Action::Fold,
        (CollusionKind::ChipDumping, Action::Fight) if place == 0 && is_legal(&Action::Draw) => {
            Action::Draw
        }
        (CollusionKind::ChipDumping, Action::Dump { .. })
            if place == 0 && own.next(SEATS) == partner =>
        {
            choose_dump(state, own, |card| can_use(other, card)).unwrap_or(action)
        }
        (CollusionKind::SignallingFights, Action::Challenge | Action::Fold) if by_partner => {
            Action::Fold
        }
        (CollusionKind::SignallingFights, Action::Challenge)
            if deadwood(other) < deadwood(hand) =>
        {
            Action::Fold
        }
        (CollusionKind::SignallingFights, Action::Fight)
            if deadwood(other) < deadwood(hand) && is_legal(&Action::Draw) =>
        {
            Action::Draw
        }
        (_, action) => action,
    }
}

/// Returns the dump of the most expensive wanted card.
fn choose_dump(state: &Tongits, seat: Seat, is_wanted: impl Fn(Card) -> bool) -> Option<Action> {
    let cards = legal_actions(state, seat).into_iter().filter_map(|action| match action {
        Action::Dump { card } => Some(card),
        _ => None,
    });
    let dearest = cards.filter(|card| is_wanted(*card)).max_by_key(|card| points(*card));
    dearest.map(|card| Action::Dump { card })
}
