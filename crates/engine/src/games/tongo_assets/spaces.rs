//! The observation and action spaces of Tongo (assets) for learning programs: the fields of a
//! view's tensor, and a number for every listed legal action.
//!
//! A card of the own hand is identified by its index in the hand in ascending order, because a hand
//! has at most seven cards; the cards of a bribe are identified in the same way among the hand and
//! the kept cards. A risk is identified by its index among the listed risks, at most eleven, and a
//! price by being the minimum or the maximum. Seats are counted from the seat that acts; sections
//! and slots have their own numbers.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::games::action_numbers::index_of;
use crate::games::tongo_assets::action::Action;
use crate::games::tongo_assets::card::{Acquire, Card, NUMBERS};
use crate::games::tongo_assets::hidden::OwnKnowledge;
use crate::games::tongo_assets::legal::{RISKS, for_each_risk, leverages, margins};
use crate::games::tongo_assets::phase::{Phase, PlayerState};
use crate::games::tongo_assets::public::PublicState;
use crate::games::tongo_assets::rules::{
    EVADE_CARDS, HAND_MAX, KEPT_MAX, MARGIN_MAX, MARGIN_STEP, PriceBounds, SLOTS,
};
use crate::games::tongo_assets::slots::{Assets, Section};
use crate::games::tongo_assets::state::TongoAssets;
use crate::games::tongo_assets::view::View;
use crate::seat::{SEATS_MAX, Seat};
use crate::spaces::{Field, SeatRotation, Spaces, Tensor, choice_text, field};

/// The actions without parameters, in the order of their numbers.
const PLAIN: [(&str, Action); 7] = [
    ("pay", Action::Pay),
    ("retreat", Action::Retreat),
    ("dividend", Action::Dividend),
    ("done", Action::Done),
    ("confront", Action::Confront),
    ("accept", Action::Accept),
    ("refuse", Action::Refuse),
];

/// The combinations of two prices, each at its minimum or maximum.
const PRICES: [&str; 4] = [
    "purchase_least sell_most",
    "purchase_least sell_least",
    "purchase_most sell_most",
    "purchase_most sell_least",
];

/// The number of choices of a discard: none, or a card of the hand.
const DISCARDS: u16 = 1 + HAND_MAX as u16;

/// The number of choices of three cards out of seven.
const EVASIONS: u16 = 35;

/// The number of choices of a gift: a chip, or one of the held cards.
const GIFTS: u16 = 1 + HAND_MAX as u16 + KEPT_MAX as u16;

const OPEN: u16 = 7;
const RAISE: u16 = OPEN + RISKS as u16 * 4;
const RAISE_CONFRONT: u16 = RAISE + RISKS as u16 * 4;
const SWAP: u16 = RAISE_CONFRONT + RISKS as u16;
const PURCHASE: u16 = SWAP + HAND_MAX as u16 * SLOTS as u16;
const ACQUIRE: u16 = PURCHASE + SLOTS as u16 * DISCARDS * 2;
const SELL: u16 = ACQUIRE + DISCARDS * 2;
const REVEAL: u16 = SELL + (1 << SLOTS);
const EVADE: u16 = REVEAL + SEATS_MAX as u16;
const INDEX: u16 = EVADE + EVASIONS;
const LEVERAGED: u16 = INDEX + (MARGIN_MAX / MARGIN_STEP) as u16;
const BRIBE: u16 = LEVERAGED + 19;

const KINDS: [Acquire; 3] = [Acquire::Free, Acquire::Reveal, Acquire::Dividend];

impl Spaces for TongoAssets {
    const FIELDS: &'static [Field] = &[
        field("hand", 105, 1, "for each of 7 places of the own hand: 7 numbers, 7 colours, wild"),
        field("kept", 3, 3, "acquire cards that the viewer keeps: free, reveal, dividend"),
        field("before", 98, 1, "in the own assessment, for each of 7 slots: 7 numbers, 7 colours"),
        field("look", 98, 1, "the same of the section that it last looked at"),
        field("look_section", 8, 1, "the section that it last looked at"),
        field("own_section", 8, 1, "the section in front of the viewer"),
        field("slots", 56, 1, "for each of 8 sections: the slots in which an asset lies"),
        field("acquires", 8, 3, "for each section the number of its acquire cards"),
        field("decks", 2, 98, "assets and acquire cards in the decks"),
        field("phase", 6, 1, "one of: open, risk, assess, confront, debts, a bribe to answer"),
        field("turn", 8, 1, "the seat whose turn it is, from the viewer on"),
        field("opener", 8, 1, "the seat that opened this round, or the dealer"),
        field("confronter", 8, 1, "the seat that confronts"),
        field("done", 2, 1, "in this assessment: swapped, sold"),
        field("round", 1, 50, "the number of paid openings"),
        field("risk", 1, 32_767, "the risk"),
        field("prices", 2, 32_767, "the purchase price and the sell price"),
        field("raises", 1, 20, "raises in this round of risking or this confront"),
        field("pot", 1, 32_767, "chips in the pot"),
        field("offered", 1, 1, "a bribe was offered before this decision"),
        field("playing", 8, 1, "the seats that have not retreated, from the viewer on"),
        field("chips", 8, 32_767, "the chips of each seat"),
        field("paid", 8, 32_767, "chips that each has paid in this round or confront"),
        field("acted", 8, 1, "the seats that have had a turn in this round of risking"),
        field("hand_cards", 8, 7, "assets and wilds that each holds"),
        field("wilds", 8, 7, "wilds that each holds"),
        field("kept_cards", 8, 3, "acquire cards that each keeps apart"),
        field("piles", 8, 128, "cards on the pile of each"),
        field("margins", 8, 50, "the margin of each in this confront"),
        field("owes", 8, 32_767, "chips borrowed by the margin of each"),
        field("leverages", 8, 95, "the leverage of each in this confront"),
        field("offer_from", 8, 1, "the seat that offers the open bribe"),
        field("offer", 2, 32_767, "the chips and the number of cards of the bribe"),
    ];

    fn action_names() -> Vec<String> {
        let mut names: Vec<String> = PLAIN.iter().map(|(name, _)| (*name).into()).collect();
        for act in ["open", "raise"] {
            for risk in 0..RISKS {
                names.extend(PRICES.map(|prices| format!("{act} risk_{risk} {prices}")));
            }
        }
        names.extend((0..RISKS).map(|risk| format!("raise_confront risk_{risk}")));
        for place in 0..HAND_MAX {
            names.extend((0..SLOTS).map(|slot| format!("swap card_{place} slot_{slot}")));
        }
        let discards = || {
            let places = (0..HAND_MAX).map(|place| format!(" for card_{place}"));
            [String::new()].into_iter().chain(places)
        };
        for slot in 0..SLOTS {
            for discard in discards() {
                names.extend(FREES.map(|free| format!("purchase slot_{slot}{discard}{free}")));
            }
        }
        for discard in discards() {
            names.extend(FREES.map(|free| format!("acquire{discard}{free}")));
        }
        names.extend((0..1 << SLOTS).map(|slots| format!("sell_for {}", choice_text(slots))));
        names.extend((0..SEATS_MAX).map(|section| format!("reveal {section}")));
        names.extend(evasions().map(|choice| format!("evade {}", choice_text(choice.into()))));
        names.extend(margins().map(|margin| format!("index {margin}")));
        names.extend(leverages().map(|percent| format!("leverage {percent}")));
        for to in 1..SEATS_MAX {
            names.push(format!("bribe {to} chip"));
            names.extend((1..GIFTS).map(|card| format!("bribe {to} card_{}", card - 1)));
        }
        names
    }

    fn action_number(view: &View, action: &Action) -> Option<u16> {
        let round = SeatRotation::from_viewer(view.viewer, view.public.seats());
        let actor = view.actor()?;
        let hand = actor.hand;
        let discarded = |card: Option<Card>| match card {
            None => Some(0),
            Some(card) => index_of(hand.iter(), &card).map(|place| place + 1),
        };
        Some(match *action {
            variants!(Action: Pay, Retreat, Dividend, Done, Confront, Accept,
                Refuse) => index_of(PLAIN.map(|(_, plain)| plain), action)?,
            Action::Open { risk, purchase, sell } => {
                let place = risk_index(risk, actor.opening_risks())?;
                OPEN + place * 4 + price_index(risk, purchase, sell)?
            }
            Action::Raise { risk, purchase, sell } => {
                let place = risk_index(risk, actor.raised_risks())?;
                RAISE + place * 4 + price_index(risk, purchase, sell)?
            }
            Action::RaiseConfront { risk } => {
                RAISE_CONFRONT + risk_index(risk, actor.raised_risks())?
            }
            Action::Swap { discard, slot } => {
                SWAP + index_of(hand.iter(), &discard)? * u16::from(SLOTS) + u16::from(slot)
            }
            Action::Purchase { slot, discard, free } => {
                PURCHASE + (u16::from(slot) * DISCARDS + discarded(discard)?) * 2 + u16::from(free)
            }
            Action::Acquire { replace, free } => {
                ACQUIRE + discarded(replace)? * 2 + u16::from(free)
            }
            Action::Sell { slots } => {
                SELL + slots.iter().fold(0, |chosen, slot| chosen | 1 << slot)
            }
            Action::Reveal { section } => REVEAL + u16::from(section),
            Action::Evade { discards } => {
                let chosen = (0_u8..).zip(hand.iter()).filter(|(_, card)| discards.contains(*card));
                let chosen = chosen.fold(0_u8, |chosen, (place, _)| chosen | 1 << place);
                EVADE + index_of(evasions(), &chosen)?
            }
            Action::Index { margin } => INDEX + index_of(margins(), &margin)?,
            Action::Leverage { percent } => LEVERAGED + index_of(leverages(), &percent)?,
            Action::Bribe { to, chips, cards } => {
                let gift = match (chips, cards.first(), cards.count()) {
                    (1, None, _) => 0,
                    (0, Some(card), 1) => 1 + index_of(hand.union(actor.kept).iter(), &card)?,
                    _ => return None,
                };
                BRIBE + u16::from(round.offset_of(to)).checked_sub(1)? * GIFTS + gift
            }
        })
    }

    fn write_tensor(view: &View, tensor: &mut Tensor<'_>) {
        let public = &view.public;
        let round = SeatRotation::from_viewer(view.viewer, view.public.seats());
        let own = view.own.unwrap_or_default();
        write_own(public, &own, round, tensor);
        let section = |number: u8| {
            let sections = public.sections.as_slice();
            sections.get(usize::from(number)).copied().unwrap_or_default()
        };
        for number in 0..SEATS_MAX {
            let Section { slots, .. } = section(number);
            (0..SLOTS).for_each(|slot| tensor.push_flag(slots.contains(slot)));
        }
        (0..SEATS_MAX).for_each(|number| tensor.push_number(section(number).acquires.into()));
        tensor.push_number(public.asset_deck.into());
        tensor.push_number(public.acquire_deck.into());
        write_phase(public, round, tensor);
        tensor.push_number(public.rounds.into());
        [public.risk, public.purchase, public.sell, public.raises.into(), public.pot]
            .into_iter()
            .for_each(|number| tensor.push_number(number));
        tensor.push_flag(public.offered);
        write_players(public, round, tensor);
        round.write_one_hot(tensor, public.offer.map(|offer| offer.from));
        tensor.push_number(public.offer.map_or(0, |offer| offer.chips));
        tensor.push_number(public.offer.map_or(0, |offer| offer.cards.count().into()));
    }
}

const FREES: [&str; 2] = ["", " free"];

fn write_own(
    public: &PublicState,
    own: &OwnKnowledge,
    round: SeatRotation,
    tensor: &mut Tensor<'_>,
) {
    let mut held = own.hand.iter();
    for _ in 0..HAND_MAX {
        let card = held.next();
        write_asset(tensor, card);
        tensor.push_flag(card.is_some_and(Card::is_wild));
    }
    for kind in KINDS {
        let kept = own.kept.iter().filter(|card| card.kind() == Some(kind));
        tensor.push_number(kept.map(|_| 1).sum());
    }
    write_assets(tensor, own.before.as_ref());
    write_assets(tensor, own.look.as_ref().map(|look| &look.assets));
    tensor.push_one_hot(own.look.map(|look| look.section), SEATS_MAX);
    tensor.push_one_hot(Some(public.section_of(round.viewer)), SEATS_MAX);
}

fn write_assets(tensor: &mut Tensor<'_>, assets: Option<&Assets>) {
    for slot in 0..usize::from(SLOTS) {
        write_asset(tensor, assets.and_then(|assets| assets[slot]));
    }
}

fn write_asset(tensor: &mut Tensor<'_>, card: Option<Card>) {
    let number = card.and_then(Card::number).map(|number| number - 1);
    tensor.push_one_hot(number, NUMBERS);
    tensor.push_one_hot(card.and_then(Card::colour).map(|colour| colour.index()), NUMBERS);
}

fn write_phase(public: &PublicState, round: SeatRotation, tensor: &mut Tensor<'_>) {
    let (phase, confronter, [swapped, sold]) = match public.phase {
        Phase::Open { .. } => (Some(0), None, [false; 2]),
        Phase::Risk { .. } => (Some(1), None, [false; 2]),
        Phase::Assess { swapped, sold, .. } => (Some(2), None, [swapped, sold]),
        Phase::Confront { confronter, .. } => (Some(3), Some(confronter), [false; 2]),
        Phase::Debts { confronter, .. } => (Some(4), Some(confronter), [false; 2]),
        Phase::Showdown { confronter } => (None, Some(confronter), [false; 2]),
        variants!(Phase: Dealer, Assets, Acquires, Deal, Stop, LastIn,
            Over) => (None, None, [false; 2]),
    };
    tensor.push_one_hot(phase.filter(|_| public.offer.is_none()), 5);
    tensor.push_flag(public.offer.is_some());
    round.write_one_hot(tensor, public.phase.seat());
    round.write_one_hot(tensor, public.opener);
    round.write_one_hot(tensor, confronter);
    tensor.push_flag(swapped);
    tensor.push_flag(sold);
}

fn write_players(public: &PublicState, round: SeatRotation, tensor: &mut Tensor<'_>) {
    let player = |seat: Seat| -> &PlayerState { &public.players[seat] };
    round.write_flags(tensor, public.playing);
    round.write_numbers(tensor, |seat| player(seat).chips);
    round.write_numbers(tensor, |seat| player(seat).paid);
    round.write_numbers(tensor, |seat| player(seat).acted.into());
    round.write_numbers(tensor, |seat| player(seat).hand().into());
    round.write_numbers(tensor, |seat| player(seat).wilds.into());
    round.write_numbers(tensor, |seat| player(seat).kept.into());
    round.write_numbers(tensor, |seat| {
        let PlayerState { pile_assets, pile_acquires, .. } = *player(seat);
        u32::from(pile_assets) + u32::from(pile_acquires)
    });
    round.write_numbers(tensor, |seat| player(seat).margin.into());
    round.write_numbers(tensor, |seat| player(seat).owes);
    round.write_numbers(tensor, |seat| player(seat).leverage.into());
}

/// Returns the index of a risk among the listed risks of a range.
fn risk_index(risk: u32, range: (u32, u32)) -> Option<u16> {
    let mut place = 0;
    let mut found = None;
    for_each_risk(range, |listed| {
        if listed == risk {
            found = Some(place);
        }
        place += 1;
    });
    found
}

/// Returns the index of these prices among those listed for a risk. If minimum and maximum
/// coincide, the purchase price counts as the minimum and the sell price as the maximum.
fn price_index(risk: u32, purchase: u32, sell: u32) -> Option<u16> {
    let PriceBounds { purchase_min, max } = PriceBounds::for_risk(risk);
    let price = |price: u32, first: u32, second: u32| match price {
        _ if price == first => Some(0),
        _ if price == second => Some(1),
        _ => None,
    };
    Some(price(purchase, purchase_min, max)? * 2 + price(sell, max, 1)?)
}

/// Iterates over the choices of three cards out of seven, as bits.
fn evasions() -> impl Iterator<Item = u8> {
    (0..1_u8 << HAND_MAX).filter(|choice| choice.count_ones() == u32::from(EVADE_CARDS))
}
