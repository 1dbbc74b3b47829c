//! A game of Tongo (assets) as people read it: what is open and in the hands, and what was done.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::game::{Piece, Row};
use crate::games::tongo_assets::action::Action;
use crate::games::tongo_assets::card::{Acquire, Card, Colour};
use crate::games::tongo_assets::event::{Event, Face, Place};
use crate::games::tongo_assets::phase::{Ending, Shown};
use crate::games::tongo_assets::public::Public;
use crate::games::tongo_assets::ring::Ring;
use crate::games::tongo_assets::set::CardSet;
use crate::games::tongo_assets::slots::{Assets, SlotSet};
use crate::games::tongo_assets::view::View;
use crate::seat::Seat;

pub(super) fn view(view: &View) -> Vec<Row> {
    let public = &view.public;
    let mut rows = vec![table(public)];
    for (seat, player) in public.players.by_seat() {
        let out = if public.playing.contains(seat) { "" } else { ", retreated" };
        let mut pieces = vec![text(format!("{} chips, paid {}{out}", player.chips, player.paid))];
        if player.margin > 0 {
            pieces.push(text(format!("margin {} %, owes {}", player.margin, player.owes)));
        }
        if player.leverage > 0 {
            pieces.push(text(format!("leverage {} %", player.leverage)));
        }
        rows.push(Row { seat: Some(seat), label: "latinum".into(), pieces });
        let (hand, kept) = held(view, seat);
        let pieces = hand.map_or_else(
            || vec![text(format!("{} assets, {} wilds", player.assets, player.wilds))],
            cards,
        );
        rows.push(Row { seat: Some(seat), label: "hand".into(), pieces });
        if player.kept > 0 {
            let count = || vec![text(format!("{} acquire cards", player.kept))];
            let pieces = kept.map_or_else(count, cards);
            rows.push(Row { seat: Some(seat), label: "keeps".into(), pieces });
        }
    }
    rows.extend(sections(view));
    rows
}

/// The pot and the prices.
fn table(public: &Public) -> Row {
    let Public { rounds, pot, risk, purchase, sell, asset_deck, acquire_deck, .. } = public;
    let said = format!(
        "round {rounds}, pot {pot}, risk {risk}, purchase {purchase}, sell {sell}; decks of \
         {asset_deck} assets and {acquire_deck} acquire cards"
    );
    Row { seat: None, label: "table".into(), pieces: vec![text(said)] }
}

/// The hand and the kept cards of a seat, as far as the viewer sees them.
fn held(view: &View, seat: Seat) -> (Option<CardSet>, Option<CardSet>) {
    let shown = view.public.shown.as_ref().and_then(|shown| shown[seat]).map(|shown| shown.hand);
    match (&view.hidden, &view.own) {
        (Some(hidden), _) => (Some(hidden.hands[seat]), Some(hidden.kept[seat])),
        (None, Some(own)) if view.viewer == Some(seat) => (Some(own.hand), Some(own.kept)),
        (None, Some(_) | None) => (shown, None),
    }
}

fn sections(view: &View) -> Vec<Row> {
    let public = &view.public;
    let mut rows = Vec::new();
    for section in 0..public.rules.sections {
        let seat = Seat::all(public.seats()).find(|seat| public.section_of(*seat) == section);
        let known = match (&view.hidden, &view.own) {
            (Some(hidden), _) => Some(hidden.sections[section].assets),
            (None, Some(own)) => own.before.filter(|_| seat == view.viewer).or_else(|| {
                own.look.filter(|look| look.section == section).map(|look| look.assets)
            }),
            (None, None) => None,
        };
        let seen = public.sections[section];
        let mut pieces = match known {
            Some(assets) => lying(&assets),
            None => vec![text(format!("{} assets", seen.slots.len()))],
        };
        pieces.push(text(format!("and {} acquire cards", seen.acquires)));
        rows.push(Row { seat, label: format!("section {section}").into(), pieces });
    }
    rows
}

pub(super) fn action(action: &Action) -> Vec<Piece> {
    let mut pieces = Vec::new();
    match *action {
        Action::Open { risk, purchase, sell } => {
            pieces.push(text(format!("opens: {}", prices(risk, purchase, sell))));
        }
        Action::Pay => pieces.push(text("pays".into())),
        Action::Raise { risk, purchase, sell } => {
            pieces.push(text(format!("raises: {}", prices(risk, purchase, sell))));
        }
        Action::RaiseConfront { risk } => pieces.push(text(format!("raises the risk to {risk}"))),
        Action::Retreat => pieces.push(text("retreats".into())),
        Action::Swap { discard, slot } => {
            pieces.extend([text("swaps".into()), card(discard), text(for_slot(slot))]);
        }
        Action::Purchase { slot, discard, free } => {
            pieces.push(text(format!("purchases slot {slot}{}", freely(free))));
            part_with(discard, &mut pieces);
        }
        Action::Acquire { replace, free } => {
            pieces.push(text(format!("purchases an acquire card{}", freely(free))));
            part_with(replace, &mut pieces);
        }
        Action::Sell { slots } => {
            pieces.push(text(format!("sells the hand for slots {}", listed(slots))));
        }
        Action::Reveal { section } => pieces.push(text(format!("looks at section {section}"))),
        Action::Dividend => pieces.push(text("takes a dividend".into())),
        Action::Done => pieces.push(text("is done".into())),
        Action::Confront => pieces.push(text("confronts".into())),
        Action::Evade { discards } => {
            pieces.push(text("evades with".into()));
            pieces.extend(cards(discards));
        }
        Action::Index { margin } => pieces.push(text(format!("indexes the margin by {margin} %"))),
        Action::Leverage { percent } => {
            pieces.push(text(format!("leverages the buy-in at {percent} %")));
        }
        Action::Bribe { to, chips, cards: offered } => {
            pieces.extend([text("offers".into()), Piece::Seat(to)]);
            pieces.extend(bribe(chips, offered));
        }
        Action::Accept => pieces.push(text("accepts".into())),
        Action::Refuse => pieces.push(text("refuses".into())),
    }
    pieces
}

pub(super) fn event(event: &Event) -> Option<Row> {
    let (seat, label, pieces): (Option<Seat>, &'static str, Vec<Piece>) = match event {
        Event::DealerChosen { seat } => (Some(*seat), "is the dealer", Vec::new()),
        Event::AssetsShuffled { .. } | Event::AcquiresShuffled { .. } | Event::Assessing { .. } => {
            return None;
        }
        Event::Dealt { rotation, .. } => (None, "dealt", vec![text(turned(*rotation))]),
        Event::Opened { seat, risk, purchase, sell } => {
            (Some(*seat), "opens", vec![text(prices(*risk, *purchase, *sell))])
        }
        Event::Paid { seat, chips } => (Some(*seat), "pays", vec![chips_of(*chips)]),
        Event::Raised { seat, chips, risk, purchase, sell } => {
            let said = format!("{}; pays {chips}", prices(*risk, *purchase, *sell));
            (Some(*seat), "raises", vec![text(said)])
        }
        Event::Retreated { seat } => (Some(*seat), "retreats", Vec::new()),
        Event::Stopped { rotation } => (None, "the table stops", vec![text(turned(*rotation))]),
        Event::Swapped { seat, slot, taken, discarded } => {
            let pieces = vec![face(*discarded), text(for_slot(*slot)), face(*taken)];
            (Some(*seat), "swaps", pieces)
        }
        Event::Purchased { seat, slot, taken, discarded, chips } => {
            let mut pieces = vec![text(format!("slot {slot} for {chips}:")), face(*taken)];
            parted_with(*discarded, &mut pieces);
            (Some(*seat), "purchases", pieces)
        }
        Event::Acquired { seat, taken, to, discarded, chips } => {
            let place = match to {
                Place::Hand => "into the hand",
                Place::Kept => "to keep",
                Place::Pile => "an audit",
            };
            let mut pieces = vec![face(*taken), text(format!("{place}, for {chips}"))];
            parted_with(*discarded, &mut pieces);
            (Some(*seat), "purchases", pieces)
        }
        Event::FreeSpent { seat } => (Some(*seat), "spends a free purchase", Vec::new()),
        Event::Audited { seat, chips } => (Some(*seat), "is audited", vec![chips_of(*chips)]),
        Event::Sold { seat, slots, chips, hand } => {
            let mut pieces = vec![text(format!("for slots {} and {chips} chips", listed(*slots)))];
            pieces.extend(hand.iter().flat_map(|hand| cards(*hand)));
            (Some(*seat), "sells the hand", pieces)
        }
        Event::Revealed { seat, section, assets, .. } => {
            let mut pieces = vec![text(format!("{section}"))];
            pieces.extend(assets.iter().flat_map(lying));
            (Some(*seat), "looks at section", pieces)
        }
        Event::DividendTaken { seat, chips, .. } => {
            (Some(*seat), "takes a dividend", vec![chips_of(*chips)])
        }
        Event::Done { seat } => (Some(*seat), "is done", Vec::new()),
        Event::Confronted { seat, chips } => (Some(*seat), "confronts", vec![chips_of(*chips)]),
        Event::Evaded { seat, chips, discarded } => {
            let mut pieces = vec![text(format!("for {chips} chips, with"))];
            pieces.extend(discarded.iter().map(|one| face(*one)));
            (Some(*seat), "evades", pieces)
        }
        Event::Indexed { seat, margin, chips, risk, .. } => {
            let said = format!("by {margin} %: risk {risk}; pays {chips}");
            (Some(*seat), "indexes the margin", vec![text(said)])
        }
        Event::Leveraged { seat, percent, chips } => {
            let said = format!("at {percent} %; pays {chips}");
            (Some(*seat), "leverages the buy-in", vec![text(said)])
        }
        Event::BribeOffered { seat, to, chips, cards } => {
            let mut pieces = vec![Piece::Seat(*to)];
            pieces.extend(bribe(*chips, *cards));
            (Some(*seat), "offers a bribe to", pieces)
        }
        Event::BribeAnswered { seat, accepted } => {
            let label = if *accepted { "takes the bribe" } else { "refuses the bribe" };
            (Some(*seat), label, Vec::new())
        }
        Event::Shown { hands } => (None, "all show", shown(hands)),
        Event::Over { ending, winner, awards } => {
            let label = match ending {
                Ending::LastIn => "is the last one in",
                Ending::Acquisition | Ending::Showdown => "has the strongest hand",
            };
            (Some(*winner), label, awarded(awards))
        }
    };
    Some(Row { seat, label: label.into(), pieces })
}

fn shown(hands: &Ring<Option<Shown>>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (seat, shown) in hands.by_seat() {
        let Some(shown) = shown else { continue };
        pieces.extend([Piece::Seat(seat), text(shown.reading.class.words().into())]);
        pieces.extend(cards(shown.hand));
    }
    pieces
}

fn awarded(awards: &Ring<u32>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (seat, halves) in awards.by_seat().filter(|(_, halves)| **halves > 0) {
        let half = if halves % 2 == 1 { ".5" } else { "" };
        pieces.extend([Piece::Seat(seat), text(format!("{}{half} chips", halves / 2))]);
    }
    pieces
}

fn text(text: String) -> Piece {
    Piece::Text(text.into())
}

fn chips_of(chips: u32) -> Piece {
    text(format!("{chips} chips"))
}

fn prices(risk: u32, purchase: u32, sell: u32) -> String {
    format!("risk {risk}, purchase {purchase}, sell {sell}")
}

fn turned(rotation: u8) -> String {
    format!("turned by {rotation}")
}

fn for_slot(slot: u8) -> String {
    format!("for slot {slot}")
}

const fn freely(free: bool) -> &'static str {
    if free { ", free" } else { "" }
}

fn listed(slots: SlotSet) -> String {
    let numbers: Vec<String> = slots.iter().map(|slot| format!("{slot}")).collect();
    numbers.join(" ")
}

fn part_with(discard: Option<Card>, pieces: &mut Vec<Piece>) {
    parted_with(discard.map(Face::Up), pieces);
}

fn parted_with(discarded: Option<Face>, pieces: &mut Vec<Piece>) {
    if let Some(one) = discarded {
        pieces.extend([text("parting with".into()), face(one)]);
    }
}

fn bribe(chips: u32, offered: CardSet) -> Vec<Piece> {
    if offered.is_empty() { vec![chips_of(chips)] } else { cards(offered) }
}

fn lying(assets: &Assets) -> Vec<Piece> {
    assets.iter().map(|asset| asset.map_or_else(|| text("–".into()), card)).collect()
}

fn cards(cards: CardSet) -> Vec<Piece> {
    cards.iter().map(card).collect()
}

fn face(face: Face) -> Piece {
    match face {
        Face::Up(up) => card(up),
        Face::Asset => text("an asset".into()),
        Face::Acquire => text("an acquire card".into()),
    }
}

/// An asset as its number and colour, an acquire card as its kind.
fn card(card: Card) -> Piece {
    let is_red = card.colour() == Some(Colour::Red);
    let said = match (card.number(), card.colour(), card.kind()) {
        (Some(number), Some(colour), _) => format!("{number} {}", colour.word()),
        (_, _, Some(Acquire::Wild)) => "wild".into(),
        (_, _, Some(Acquire::Free)) => "free purchase".into(),
        (_, _, Some(Acquire::Reveal)) => "reveal".into(),
        (_, _, Some(Acquire::Dividend)) => "dividend".into(),
        (_, _, Some(Acquire::Audit)) => "audit".into(),
        (_, _, None) => "card".into(),
    };
    Piece::Token { text: said, is_red }
}
