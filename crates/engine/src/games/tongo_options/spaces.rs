//! The observation and action spaces of Tongo (options) for learning programs: the fields of a
//! view's tensor, and a number for every listed legal action.
//!
//! A card of the own hand is identified by its index in the hand in ascending order, because a hand
//! has at most four cards. Targets are counted from the seat that acts. Only the listed changes of
//! costs have a number: those of one cost, by one or by the maximum.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::games::action_numbers::index_of;
use crate::games::tongo_options::action::{Action, Discards, NewCosts};
use crate::games::tongo_options::card::{Card, CardSet};
use crate::games::tongo_options::costs::{PERCENTS, for_each_change};
use crate::games::tongo_options::phase::{CostRises, Costs, CostsChange, Phase, TurnState};
use crate::games::tongo_options::public::PublicState;
use crate::games::tongo_options::rules::{DICE, FLOORS, HAND_CARDS, SLOTS};
use crate::games::tongo_options::state::TongoOptions;
use crate::games::tongo_options::view::View;
use crate::seat::{SEATS_MAX, Seat, SeatSet};
use crate::spaces::{Field, SeatRotation, Spaces, Tensor, choice_text, field};

/// The actions without parameters, in the order of their numbers.
const PLAIN: [(&str, Action); 10] = [
    ("fold", Action::Fold),
    ("retreat", Action::Retreat),
    ("convert_reserves", Action::ConvertReserves),
    ("acquire", Action::Acquire),
    ("pay_risk", Action::PayRisk),
    ("roll", Action::Roll),
    ("end", Action::End),
    ("stand", Action::Stand),
    ("join", Action::Join),
    ("confront", Action::Confront { target: None }),
];

/// The number of choices of cards of a hand.
const CHOICES: u16 = 1 << HAND_CARDS;

const COSTS: [&str; 3] = ["buy", "sell", "exchange"];

/// The number of sources of an exchange: the free exchange, or one of the floors.
const PLACES: u16 = 1 + FLOORS as u16;

const STOP: u16 = 10;
const EVADE: u16 = STOP + FLOORS as u16;
const PAY_TO_EVADE: u16 = EVADE + CHOICES;
const CONFRONT: u16 = PAY_TO_EVADE + CHOICES;
const LOWER: u16 = CONFRONT + SEATS_MAX as u16 - 1;
const RAISE: u16 = LOWER + 2 * 3;
const INDEX: u16 = RAISE + 2 * 3;
const BUY: u16 = INDEX + 5;
const SELL: u16 = BUY + 2 * SLOTS as u16;
const EXCHANGE: u16 = SELL + 2 * SLOTS as u16;

impl Spaces for TongoOptions {
    const FIELDS: &'static [Field] = &[
        field("hand", 48, 1, "the cards of the own hand, by the index of the card"),
        field("hand_places", 64, 1, "the hand by place: for each of 4 cards 12 numbers, 4 suits"),
        field("floors", 384, 1, "each slot of each floor: 12 numbers, then 4 suits; none if down"),
        field("dice", 5, 12, "the value of each die; zero for an unused die"),
        field("dice_places", 5, 16, "the place of each die plus one"),
        field("costs", 3, 1000, "the costs of buying, selling and exchanging"),
        field("risk", 1, 1000, "the cost of a turn"),
        field("pot", 1, 800, "chips in the pot"),
        field("round", 1, 100, "the number of the round"),
        field("playing", 8, 1, "the seats that have not folded, from the viewer on"),
        field("chips", 8, 100, "the chips of each seat"),
        field("evade_token", 8, 1, "the seats that still have the token"),
        field("leveraged", 8, 1, "the seats whose buy-in has paid for something"),
        field("retreated", 8, 1, "the seats that retreated in their previous turn"),
        field("evaded", 8, 1, "the seats that evaded in their previous turn or since"),
        field("paid_to_evade", 8, 1, "the seats that paid to evade in their previous turn"),
        field("confronted", 8, 1, "the seats that confronted in their previous turn"),
        field("facing", 8, 8, "the floor that last faced each seat: its number plus one"),
        field("phase", 3, 1, "one of: stop, turn, challenge"),
        field("turn", 8, 1, "the seat whose turn it is, or the challenger"),
        field("floor", 8, 1, "the floor that faces the seat in its turn"),
        field("step", 6, 1, "the progress of the turn, in the order of the rules"),
        field("done", 4, 1, "in this turn: bought, sold, exchanged, indexed"),
        field("wager", 1, 100, "the rest of a wager of converted reserves"),
        field("target", 8, 1, "the confronted seat"),
        field("joined", 8, 1, "the seats that have joined"),
        field("reserves_by", 8, 1, "the seat that converted reserves"),
        field("reserves_wager", 1, 100, "the wager of the others in answer to it"),
        field("risen", 3, 100, "how much each cost has risen in this turn"),
    ];

    fn action_names() -> Vec<String> {
        let mut names: Vec<String> = PLAIN.iter().map(|(name, _)| (*name).into()).collect();
        names.extend((0..FLOORS).map(|floor| format!("stop {floor}")));
        names.extend((0..CHOICES).map(|choice| format!("evade {}", choice_text(choice))));
        names.extend((0..CHOICES).map(|choice| format!("pay_to_evade {}", choice_text(choice))));
        names.extend((1..SEATS_MAX).map(|seat| format!("confront {seat}")));
        for cost in COSTS {
            names.extend(["by_1", "to_1"].map(|how| format!("lower {cost} {how}")));
        }
        for cost in COSTS {
            names.extend(["by_1", "by_most"].map(|how| format!("raise {cost} {how}")));
        }
        names.extend(PERCENTS.map(|percent| format!("index_margin {percent}")));
        for trade in ["buy", "sell"] {
            for slot in 0..SLOTS {
                names.extend(LEVERAGES.map(|leverage| format!("{trade} {slot}{leverage}")));
            }
        }
        for slot in 0..SLOTS {
            for place in 0..PLACES {
                let of = if place == 0 { "free".into() } else { format!("floor_{}", place - 1) };
                for other in 0..SLOTS {
                    names.extend(
                        LEVERAGES.map(|leverage| format!("exchange {slot} {of} {other}{leverage}")),
                    );
                }
            }
        }
        names
    }

    fn action_number(view: &View, action: &Action) -> Option<u16> {
        let round = SeatRotation::from_viewer(view.viewer, view.public.seats());
        let hand = view.hand().unwrap_or_default();
        let slots = u16::from(SLOTS);
        Some(match *action {
            Action::Confront { target: None }
            | variants!(Action: Fold, Retreat, ConvertReserves, Acquire, PayRisk, Roll, End, Stand,
                Join) => index_of(PLAIN.map(|(_, plain)| plain), action)?,
            Action::Stop { floor } => STOP + u16::from(floor),
            Action::Evade { discards } => EVADE + discard_bits(hand, &discards)?,
            Action::PayToEvade { discards } => PAY_TO_EVADE + discard_bits(hand, &discards)?,
            Action::Confront { target: Some(target) } => {
                CONFRONT + u16::from(round.offset_of(target)).checked_sub(1)?
            }
            Action::Lower(new) => LOWER + change_number(&view.public, CostsChange::Lower, &new)?,
            Action::Raise(new) => RAISE + change_number(&view.public, CostsChange::Raise, &new)?,
            Action::IndexMargin { percent } => INDEX + index_of(PERCENTS, &percent)?,
            Action::Buy { slot, leverage } => BUY + u16::from(slot) * 2 + u16::from(leverage),
            Action::Sell { slot, leverage } => SELL + u16::from(slot) * 2 + u16::from(leverage),
            Action::Exchange { slot, floor, other, leverage } => {
                let place =
                    u16::from(slot) * PLACES + floor.map_or(0, |floor| 1 + u16::from(floor));
                EXCHANGE + (place * slots + u16::from(other)) * 2 + u16::from(leverage)
            }
        })
    }

    fn write_tensor(view: &View, tensor: &mut Tensor<'_>) {
        let public = &view.public;
        let round = SeatRotation::from_viewer(view.viewer, view.public.seats());
        let hand = view.hand().unwrap_or_default();
        tensor.push_bits(hand.bits(), Card::COUNT);
        let mut held = hand.iter();
        (0..HAND_CARDS).for_each(|_| write_card(tensor, held.next()));
        public.floors.iter().flatten().for_each(|card| write_card(tensor, *card));
        let dice = |number: usize| public.dice.get(number);
        for number in 0..DICE.len() {
            tensor.push_number(dice(number).map_or(0, |die| die.value.into()));
        }
        for number in 0..DICE.len() {
            tensor.push_number(dice(number).map_or(0, |die| u32::from(die.place) + 1));
        }
        let Costs { buy, sell, exchange } = public.costs;
        [buy, sell, exchange, public.risk(), public.pot, public.round.into()]
            .into_iter()
            .for_each(|number| tensor.push_number(number.into()));
        write_players(public, round, tensor);
        write_phase(public, round, tensor);
        round.write_one_hot(tensor, public.reserves.map(|reserves| reserves.by));
        tensor.push_number(public.reserves.map_or(0, |reserves| reserves.wager.into()));
        let CostRises { buy, sell, exchange } =
            public.turn().map(|turn| turn.risen).unwrap_or_default();
        [buy, sell, exchange].into_iter().for_each(|risen| tensor.push_number(risen.into()));
    }
}

const LEVERAGES: [&str; 2] = ["", " leverage"];

fn write_players(public: &PublicState, round: SeatRotation, tensor: &mut Tensor<'_>) {
    let player = |seat: Seat| public.player(seat);
    round.write_flags(tensor, public.seats_still_in());
    round.write_numbers(tensor, |seat| player(seat).chips.into());
    round.write_numbers(tensor, |seat| player(seat).evade_token.into());
    round.write_numbers(tensor, |seat| player(seat).leveraged.into());
    round.write_numbers(tensor, |seat| player(seat).previous.retreated.into());
    round.write_numbers(tensor, |seat| player(seat).previous.evaded.into());
    round.write_numbers(tensor, |seat| player(seat).previous.paid_to_evade.into());
    round.write_numbers(tensor, |seat| player(seat).previous.confronted.into());
    round.write_numbers(tensor, |seat| u32::from(player(seat).facing) + 1);
}

fn write_phase(public: &PublicState, round: SeatRotation, tensor: &mut Tensor<'_>) {
    let mut state = None;
    let mut joined = SeatSet::EMPTY;
    let (phase, seat) = match public.phase {
        Phase::Stop { seat } => (Some(0), Some(seat)),
        Phase::Turn(turn) | Phase::Roll(turn) => {
            state = Some(turn);
            (Some(1), Some(turn.seat))
        }
        Phase::Challenge(challenge) => {
            joined = challenge.joined;
            (Some(2), Some(challenge.by))
        }
        variants!(Phase: Deal, Shuffle, Showdown, Over) => (None, None),
    };
    tensor.push_one_hot(phase, 3);
    round.write_one_hot(tensor, seat);
    tensor.push_one_hot(state.map(|turn| turn.floor), FLOORS);
    tensor.push_one_hot(state.map(|turn| turn.step as u8), 6);
    let done = |how: fn(TurnState) -> bool| state.is_some_and(how);
    tensor.push_flag(done(|turn| turn.bought));
    tensor.push_flag(done(|turn| turn.sold));
    tensor.push_flag(done(|turn| turn.exchanged));
    tensor.push_flag(done(|turn| turn.indexed));
    tensor.push_number(state.and_then(|turn| turn.wager).map_or(0, u32::from));
    round.write_one_hot(tensor, public.target());
    round.write_flags(tensor, joined);
}

fn write_card(tensor: &mut Tensor<'_>, card: Option<Card>) {
    tensor.push_one_hot(card.map(|card| card.number() - 1), 12);
    tensor.push_one_hot(card.map(|card| card.suit().index()), 4);
}

/// Returns the discarded cards of the hand as bits by index; `None` for an order that is not
/// listed.
fn discard_bits(hand: CardSet, discards: &Discards) -> Option<u16> {
    let chosen: CardSet = discards.iter().copied().collect();
    if !chosen.iter().eq(discards.iter().copied()) || !hand.contains_all(chosen) {
        return None;
    }
    let held = (0..).zip(hand.iter()).filter(|(_, card)| chosen.contains(*card));
    Some(held.fold(0, |choice, (place, _): (u16, Card)| choice | 1 << place))
}

/// Returns the number of a listed change of one cost.
fn change_number(public: &PublicState, how: CostsChange, new: &NewCosts) -> Option<u16> {
    let mut found = None;
    for_each_change(public, how, |number, listed| {
        if listed == *new {
            found = Some(number);
        }
    });
    found
}
