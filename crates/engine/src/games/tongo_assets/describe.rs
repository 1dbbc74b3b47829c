//! Descriptions of Tongo (assets) for people: views, actions and events.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::game::{Describe, Item, Piece, Row};
use crate::games::description::{row, table_row, text_piece, text_pieces};
use crate::games::tongo_assets::action::Action;
use crate::games::tongo_assets::card::{Acquire, Card, CardSet, Colour};
use crate::games::tongo_assets::event::{AcquireDestination, Event, Face};
use crate::games::tongo_assets::phase::{GameEnding, ShownHand};
use crate::games::tongo_assets::public::PublicState;
use crate::games::tongo_assets::ring::Ring;
use crate::games::tongo_assets::rules::HALVES;
use crate::games::tongo_assets::slots::{Assets, SlotSet};
use crate::games::tongo_assets::state::TongoAssets;
use crate::games::tongo_assets::view::View;
use crate::seat::Seat;

impl Describe for TongoAssets {
    fn describe(view: &View) -> Vec<Row> {
        let public = &view.public;
        let mut rows = vec![table_row("table", text_pieces(table_text(public)))];
        for (seat, player) in public.players.by_seat() {
            let out = if public.playing.contains(seat) { "" } else { ", retreated" };
            let mut pieces =
                text_pieces(format!("{} chips, paid {}{out}", player.chips, player.paid));
            if player.margin > 0 {
                pieces
                    .push(text_piece(format!("margin {} %, owes {}", player.margin, player.owes)));
            }
            if player.leverage > 0 {
                pieces.push(text_piece(format!("leverage {} %", player.leverage)));
            }
            rows.push(row(seat, "latinum", pieces));
            let (hand, kept) = visible_cards(view, seat);
            let pieces = hand.map_or_else(
                || text_pieces(format!("{} assets, {} wilds", player.assets, player.wilds)),
                card_pieces,
            );
            rows.push(row(seat, "hand", pieces));
            if player.kept > 0 {
                let count = || text_pieces(format!("{} acquire cards", player.kept));
                let pieces = kept.map_or_else(count, card_pieces);
                rows.push(row(seat, "keeps", pieces));
            }
        }
        rows.extend(section_rows(view));
        rows
    }

    fn describe_action(action: &Action) -> Vec<Piece> {
        match *action {
            Action::Open { risk, purchase, sell } => {
                text_pieces(format!("opens: {}", price_text(risk, purchase, sell)))
            }
            Action::Pay => text_pieces("pays"),
            Action::Raise { risk, purchase, sell } => {
                text_pieces(format!("raises: {}", price_text(risk, purchase, sell)))
            }
            Action::RaiseConfront { risk } => text_pieces(format!("raises the risk to {risk}")),
            Action::Retreat => text_pieces("retreats"),
            Action::Swap { discard, slot } => {
                vec![text_piece("swaps"), card_piece(discard), text_piece(slot_text(slot))]
            }
            Action::Purchase { slot, discard, free } => {
                let mut pieces = text_pieces(format!("purchases slot {slot}{}", free_suffix(free)));
                push_discard(discard.map(Face::Up), &mut pieces);
                pieces
            }
            Action::Acquire { replace, free } => {
                let mut pieces =
                    text_pieces(format!("purchases an acquire card{}", free_suffix(free)));
                push_discard(replace.map(Face::Up), &mut pieces);
                pieces
            }
            Action::Sell { slots } => {
                text_pieces(format!("sells the hand for slots {}", slot_list(slots)))
            }
            Action::Reveal { section } => text_pieces(format!("looks at section {section}")),
            Action::Dividend => text_pieces("takes a dividend"),
            Action::Done => text_pieces("is done"),
            Action::Confront => text_pieces("confronts"),
            Action::Evade { discards } => {
                [text_pieces("evades with"), card_pieces(discards)].concat()
            }
            Action::Index { margin } => text_pieces(format!("indexes the margin by {margin} %")),
            Action::Leverage { percent } => {
                text_pieces(format!("leverages the buy-in at {percent} %"))
            }
            Action::Bribe { to, chips, cards: offered } => {
                [vec![text_piece("offers"), Piece::Seat(to)], bribe_pieces(chips, offered)].concat()
            }
            Action::Accept => text_pieces("accepts"),
            Action::Refuse => text_pieces("refuses"),
        }
    }

    fn describe_event(event: &Event) -> Option<Row> {
        Some(match event {
            Event::DealerChosen { seat } => row(*seat, "is the dealer", Vec::new()),
            Event::AssetsShuffled { .. }
            | Event::AcquiresShuffled { .. }
            | Event::Assessing { .. } => {
                return None;
            }
            Event::Dealt { rotation, .. } => {
                table_row("dealt", text_pieces(rotation_text(*rotation)))
            }
            Event::Opened { seat, risk, purchase, sell } => {
                row(*seat, "opens", text_pieces(price_text(*risk, *purchase, *sell)))
            }
            Event::Paid { seat, chips } => row(*seat, "pays", say_chips(*chips)),
            Event::Raised { seat, chips, risk, purchase, sell } => {
                let text = format!("{}; pays {chips}", price_text(*risk, *purchase, *sell));
                row(*seat, "raises", text_pieces(text))
            }
            Event::Retreated { seat } => row(*seat, "retreats", Vec::new()),
            Event::Stopped { rotation } => {
                table_row("the table stops", text_pieces(rotation_text(*rotation)))
            }
            Event::Swapped { seat, slot, taken, discarded } => {
                let pieces =
                    vec![face_piece(*discarded), text_piece(slot_text(*slot)), face_piece(*taken)];
                row(*seat, "swaps", pieces)
            }
            Event::Purchased { seat, slot, taken, discarded, chips } => {
                let mut pieces =
                    vec![text_piece(format!("slot {slot} for {chips}:")), face_piece(*taken)];
                push_discard(*discarded, &mut pieces);
                row(*seat, "purchases", pieces)
            }
            Event::Acquired { seat, taken, to, discarded, chips } => {
                let place = match to {
                    AcquireDestination::Hand => "into the hand",
                    AcquireDestination::Kept => "to keep",
                    AcquireDestination::Pile => "an audit",
                };
                let mut pieces =
                    vec![face_piece(*taken), text_piece(format!("{place}, for {chips}"))];
                push_discard(*discarded, &mut pieces);
                row(*seat, "purchases", pieces)
            }
            Event::FreeSpent { seat } => row(*seat, "spends a free purchase", Vec::new()),
            Event::Audited { seat, chips } => row(*seat, "is audited", say_chips(*chips)),
            Event::Sold { seat, slots, chips, hand } => {
                let mut pieces =
                    text_pieces(format!("for slots {} and {chips} chips", slot_list(*slots)));
                pieces.extend(hand.iter().flat_map(|hand| card_pieces(*hand)));
                row(*seat, "sells the hand", pieces)
            }
            Event::Revealed { seat, section, assets, .. } => {
                let mut pieces = text_pieces(format!("{section}"));
                pieces.extend(assets.iter().flat_map(asset_pieces));
                row(*seat, "looks at section", pieces)
            }
            Event::DividendTaken { seat, chips, .. } => {
                row(*seat, "takes a dividend", say_chips(*chips))
            }
            Event::Done { seat } => row(*seat, "is done", Vec::new()),
            Event::Confronted { seat, chips } => row(*seat, "confronts", say_chips(*chips)),
            Event::Evaded { seat, chips, discarded } => {
                let mut pieces = text_pieces(format!("for {chips} chips, with"));
                pieces.extend(discarded.iter().map(|one| face_piece(*one)));
                row(*seat, "evades", pieces)
            }
            Event::Indexed { seat, margin, chips, risk, .. } => {
                let text = format!("by {margin} %: risk {risk}; pays {chips}");
                row(*seat, "indexes the margin", text_pieces(text))
            }
            Event::Leveraged { seat, percent, chips } => {
                let text = format!("at {percent} %; pays {chips}");
                row(*seat, "leverages the buy-in", text_pieces(text))
            }
            Event::BribeOffered { seat, to, chips, cards } => {
                let mut pieces = vec![Piece::Seat(*to)];
                pieces.extend(bribe_pieces(*chips, *cards));
                row(*seat, "offers a bribe to", pieces)
            }
            Event::BribeAnswered { seat, accepted } => {
                let label = if *accepted { "takes the bribe" } else { "refuses the bribe" };
                row(*seat, label, Vec::new())
            }
            Event::Shown { hands } => table_row("all show", shown_hand_pieces(hands)),
            Event::Over { ending, winner, awards } => {
                let label = match ending {
                    GameEnding::LastIn => "is the last one in",
                    GameEnding::Acquisition | GameEnding::Showdown => "has the strongest hand",
                };
                row(*winner, label, award_pieces(awards))
            }
        })
    }

    fn describe_result(view: &View) -> Vec<Row> {
        let rows = Seat::all(view.public.seats()).map(|seat| {
            let pieces = end_pieces(&view.public, seat);
            pieces.map(|pieces| row(seat, "ends with", pieces))
        });
        rows.collect::<Option<_>>().unwrap_or_default()
    }

    /// Describes the chips from which the debt follows, because a debt is a part of what one seat has
    /// lost and the other has won (rule 6.3).
    fn describe_item(view: &View, payer: Seat, receiver: Seat, _: &Item) -> Vec<Piece> {
        let public = &view.public;
        let latinum = public.rules.latinum;
        let sides = [receiver, payer].map(|seat| Some((seat, end_pieces(public, seat)?)));
        let sides = sides.into_iter().flatten().flat_map(|(seat, pieces)| {
            let began = text_piece(format!("began with {latinum} chips, ends with"));
            [vec![Piece::Seat(seat), began], pieces].concat()
        });
        sides.collect()
    }
}

/// Describes the chips of a seat at the end of a game, with its part of the pot, and its hand if it
/// was shown. Returns `None` while the game is running.
fn end_pieces(public: &PublicState, seat: Seat) -> Option<Vec<Piece>> {
    let halves = public.players[seat].chips * HALVES + public.end?.awards[seat];
    let mut pieces = vec![half_chips_piece(halves)];
    if let Some(shown) = public.shown.as_ref().and_then(|shown| shown[seat]) {
        pieces.push(text_piece(shown.reading.class.display_name()));
        pieces.extend(card_pieces(shown.hand));
    } else if !public.playing.contains(seat) {
        pieces.push(text_piece("retreated"));
    }
    Some(pieces)
}

/// Describes the pot, the prices and the decks.
fn table_text(public: &PublicState) -> String {
    let PublicState { rounds, pot, risk, purchase, sell, asset_deck, acquire_deck, .. } = public;
    format!(
        "round {rounds}, pot {pot}, risk {risk}, purchase {purchase}, sell {sell}; decks of \
         {asset_deck} assets and {acquire_deck} acquire cards"
    )
}

/// Returns the hand and the kept cards of a seat, as far as the viewer sees them.
fn visible_cards(view: &View, seat: Seat) -> (Option<CardSet>, Option<CardSet>) {
    let shown = view.public.shown.as_ref().and_then(|shown| shown[seat]).map(|shown| shown.hand);
    match (&view.hidden, &view.own) {
        (Some(hidden), _) => (Some(hidden.hands[seat]), Some(hidden.kept[seat])),
        (None, Some(own)) if view.viewer == Some(seat) => (Some(own.hand), Some(own.kept)),
        (None, Some(_) | None) => (shown, None),
    }
}

fn section_rows(view: &View) -> Vec<Row> {
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
            Some(assets) => asset_pieces(&assets),
            None => text_pieces(format!("{} assets", seen.slots.len())),
        };
        pieces.push(text_piece(format!("and {} acquire cards", seen.acquires)));
        rows.push(Row { seat, label: format!("section {section}").into(), pieces });
    }
    rows
}

fn shown_hand_pieces(hands: &Ring<Option<ShownHand>>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (seat, shown) in hands.by_seat() {
        let Some(shown) = shown else { continue };
        pieces.extend([Piece::Seat(seat), text_piece(shown.reading.class.display_name())]);
        pieces.extend(card_pieces(shown.hand));
    }
    pieces
}

fn award_pieces(awards: &Ring<u32>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (seat, halves) in awards.by_seat().filter(|(_, halves)| **halves > 0) {
        pieces.extend([Piece::Seat(seat), half_chips_piece(*halves)]);
    }
    pieces
}

/// Describes a number of half chips in chips.
fn half_chips_piece(halves: u32) -> Piece {
    let half = if halves % HALVES == 1 { ".5" } else { "" };
    text_piece(format!("{}{half} chips", halves / HALVES))
}

fn say_chips(chips: u32) -> Vec<Piece> {
    text_pieces(format!("{chips} chips"))
}

fn price_text(risk: u32, purchase: u32, sell: u32) -> String {
    format!("risk {risk}, purchase {purchase}, sell {sell}")
}

fn rotation_text(rotation: u8) -> String {
    format!("turned by {rotation}")
}

fn slot_text(slot: u8) -> String {
    format!("for slot {slot}")
}

const fn free_suffix(free: bool) -> &'static str {
    if free { ", free" } else { "" }
}

fn slot_list(slots: SlotSet) -> String {
    let numbers: Vec<String> = slots.iter().map(|slot| format!("{slot}")).collect();
    numbers.join(" ")
}

fn push_discard(discarded: Option<Face>, pieces: &mut Vec<Piece>) {
    if let Some(one) = discarded {
        pieces.extend([text_piece("parting with"), face_piece(one)]);
    }
}

fn bribe_pieces(chips: u32, offered: CardSet) -> Vec<Piece> {
    if offered.is_empty() { say_chips(chips) } else { card_pieces(offered) }
}

fn asset_pieces(assets: &Assets) -> Vec<Piece> {
    assets.iter().map(|asset| asset.map_or_else(|| text_piece("–"), card_piece)).collect()
}

fn card_pieces(cards: CardSet) -> Vec<Piece> {
    cards.iter().map(card_piece).collect()
}

fn face_piece(face: Face) -> Piece {
    match face {
        Face::Up(up) => card_piece(up),
        Face::Asset => text_piece("an asset"),
        Face::Acquire => text_piece("an acquire card"),
    }
}

/// Returns a card as text: an asset by its number and colour, an acquire card by its kind.
fn card_piece(card: Card) -> Piece {
    let is_red = card.colour() == Some(Colour::Red);
    let text = match (card.number(), card.colour(), card.kind()) {
        (Some(number), Some(colour), _) => format!("{number} {}", colour.word()),
        (_, _, Some(Acquire::Wild)) => "wild".into(),
        (_, _, Some(Acquire::Free)) => "free purchase".into(),
        (_, _, Some(Acquire::Reveal)) => "reveal".into(),
        (_, _, Some(Acquire::Dividend)) => "dividend".into(),
        (_, _, Some(Acquire::Audit)) => "audit".into(),
        (_, _, None) => "card".into(),
    };
    Piece::Token { text, is_red }
}
