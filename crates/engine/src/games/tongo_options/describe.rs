//! A game of Tongo (options) as people read it: what lies open and in the hands, and what was done.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::game::{Piece, Row};
use crate::games::tongo_options::action::{Action, Discards, NewCosts};
use crate::games::tongo_options::card::{Card, Suit};
use crate::games::tongo_options::dice::{Dice, Die};
use crate::games::tongo_options::event::{Answer, CostsChange, Ending, Event, Shown};
use crate::games::tongo_options::player::Player;
use crate::games::tongo_options::public::Costs;
use crate::games::tongo_options::rules::FLOORS;
use crate::games::tongo_options::strength::Class;
use crate::games::tongo_options::view::View;
use crate::seat::Seat;

pub(super) fn view(view: &View) -> Vec<Row> {
    let public = &view.public;
    let mut rows = Vec::new();
    for ((number, hand), player) in (0..).zip(view.hands.iter()).zip(public.players.iter()) {
        let mut pieces = match hand {
            Some(hand) => hand.iter().map(card).collect(),
            None => vec![text("4 cards")],
        };
        pieces.push(standing(player));
        rows.push(Row { seat: Seat::new(number), label: "hand".into(), pieces });
    }
    rows.push(row(
        "pot, round, costs",
        vec![
            text(format!("{} chips, round {},", public.pot, public.round)),
            costs(&public.costs, public.risk()),
        ],
    ));
    rows.push(row("dice", dice(&public.dice)));
    rows.extend((0_u8..).zip(&public.floors).map(|(number, cards)| {
        let hidden = view.hidden.as_ref().map(|hidden| hidden.floors[usize::from(number)]);
        let pieces = (0_u8..).zip(cards).map(|(slot, shown)| match (shown, hidden) {
            (Some(shown), _) => card(*shown),
            (None, Some(cards)) => text(format!("({})", plain(cards[usize::from(slot)]))),
            (None, None) => text("face down"),
        });
        row(format!("floor {number}"), pieces.collect())
    }));
    if let Some(hidden) = &view.hidden {
        let below = |(number, cards): (u8, &[Card; 3])| {
            row(format!("free exchange {number}"), cards.iter().copied().map(card).collect())
        };
        let exchanges = (0..).zip(&hidden.exchanges).filter(|_| public.rules.free_exchange);
        rows.extend(exchanges.map(below));
        let deck = hidden.deck.iter().copied().map(card).collect();
        rows.push(row("player deck, the next first", deck));
    }
    rows
}

pub(super) fn action(action: &Action) -> Vec<Piece> {
    match *action {
        Action::Stop { floor } => vec![text(format!("stops at floor {floor}"))],
        Action::Retreat => vec![text("retreats")],
        Action::Evade { discards } => with_cards("evades by token", &discards),
        Action::ConvertReserves => vec![text("converts reserves")],
        Action::Confront { target: Some(target) } => vec![text("confronts"), Piece::Seat(target)],
        Action::Confront { target: None } => vec![text("confronts the acquirer")],
        Action::Acquire => vec![text("acquires")],
        Action::Fold => vec![text("folds")],
        Action::PayRisk => vec![text("pays the risk")],
        Action::Lower(new) => vec![text(format!("lowers{}", named(&new)))],
        Action::Raise(new) => vec![text(format!("raises{}", named(&new)))],
        Action::IndexMargin { percent } => {
            vec![text(format!("indexes the margin by {percent} %"))]
        }
        Action::Buy { slot, leverage } => {
            vec![text(format!("buys slot {slot}{}", by_buy_in(leverage)))]
        }
        Action::Sell { slot, leverage } => {
            vec![text(format!("sells slot {slot}{}", by_buy_in(leverage)))]
        }
        Action::Exchange { slot, floor, other, leverage } => {
            let with = exchanged_with(floor, other);
            vec![text(format!("exchanges slot {slot} with {with}{}", by_buy_in(leverage)))]
        }
        Action::Roll => vec![text("rolls the dice")],
        Action::End => vec![text("ends the turn")],
        Action::PayToEvade { discards } => with_cards("pays to evade", &discards),
        Action::Stand => vec![text("stands")],
        Action::Join => vec![text("joins")],
    }
}

pub(super) fn event(event: &Event) -> Option<Row> {
    let (seat, label, pieces): (Option<Seat>, Cow<'static, str>, Vec<Piece>) = match event {
        Event::Dealt { dealer, .. } => (Some(*dealer), "deals".into(), Vec::new()),
        Event::Stopped { seat, floor } => {
            (Some(*seat), format!("stops at floor {floor}").into(), Vec::new())
        }
        Event::RiskPaid { seat, chips } => (Some(*seat), "pays the risk".into(), paid(*chips)),
        Event::Retreated { seat } => (Some(*seat), "retreats".into(), Vec::new()),
        Event::Folded { seat } => (Some(*seat), "folds".into(), Vec::new()),
        Event::CostsChanged { seat, how, costs: new, chips } => {
            let label = match how {
                CostsChange::Lower => "lowers",
                CostsChange::Raise => "raises",
                CostsChange::Index => "indexes the margin",
            };
            let mut pieces = vec![costs(new, new.sell.saturating_sub(new.buy))];
            pieces.extend(paid(*chips));
            (Some(*seat), label.into(), pieces)
        }
        Event::Bought { seat, slot, card: bought, chips, leverage } => {
            let mut pieces = vec![card(*bought)];
            pieces.extend(paid_by(*chips, *leverage));
            (Some(*seat), format!("buys slot {slot}").into(), pieces)
        }
        Event::Sold { seat, slot, chips, leverage } => {
            (Some(*seat), format!("sells slot {slot}").into(), paid_by(*chips, *leverage))
        }
        Event::Exchanged { seat, slot, floor, other, chips, leverage } => {
            let with = exchanged_with(*floor, *other);
            let label = format!("exchanges slot {slot} with {with}");
            (Some(*seat), label.into(), paid_by(*chips, *leverage))
        }
        Event::Rolling { seat } => (Some(*seat), "rolls".into(), Vec::new()),
        Event::Rolled { seat, dice: fallen } => (Some(*seat), "has rolled".into(), dice(fallen)),
        Event::Evaded { seat, token, chips, count, discards } => {
            let label = if *token { "evades by token" } else { "pays to evade" };
            let mut pieces = match discards {
                Some(discards) => discards.iter().copied().map(card).collect(),
                None => vec![text(format!("{count} cards discarded"))],
            };
            pieces.extend(paid(*chips));
            (Some(*seat), label.into(), pieces)
        }
        Event::Drew { seat, cards, .. } => {
            let pieces = cards.iter().flat_map(|cards| cards.iter().map(card)).collect();
            (Some(*seat), "draws".into(), pieces)
        }
        Event::ReservesConverted { seat, wager } => {
            let label = format!("converts reserves, {wager} chips");
            (Some(*seat), label.into(), Vec::new())
        }
        Event::Confronted { seat, target } => {
            (Some(*seat), "confronts".into(), vec![Piece::Seat(*target)])
        }
        Event::Acquired { seat, floor } => {
            (Some(*seat), format!("acquires floor {floor}").into(), Vec::new())
        }
        Event::Answered { seat, answer, chips } => {
            let label = match answer {
                Answer::Stand => "stands",
                Answer::Join => "joins",
                Answer::Confront => "confronts the acquirer",
            };
            (Some(*seat), label.into(), paid(*chips))
        }
        Event::Ended { seat, chips } => (Some(*seat), "ends the turn".into(), paid(*chips)),
        Event::Shown { hands } => (None, "shown".into(), hands.iter().flat_map(shown).collect()),
        Event::Over { ending, winner, pot } => {
            let label = match ending {
                Ending::LastIn => "wins, as all others folded",
                Ending::Confront => "wins the confrontation",
                Ending::Acquire => "wins the acquisition",
                Ending::Reserves => "wins the converted reserves",
                Ending::Rounds => "wins the last round",
            };
            (Some(*winner), label.into(), vec![text(format!("{pot} chips"))])
        }
    };
    Some(Row { seat, label, pieces })
}

fn row(label: impl Into<Cow<'static, str>>, pieces: Vec<Piece>) -> Row {
    Row { seat: None, label: label.into(), pieces }
}

fn text(what: impl Into<Cow<'static, str>>) -> Piece {
    Piece::Text(what.into())
}

fn standing(player: &Player) -> Piece {
    let marks = [
        (player.folded, "folded"),
        (player.evade_token, "evade token"),
        (player.leveraged, "buy-in used"),
    ];
    let marks = marks.into_iter().filter(|(holds, _)| *holds);
    text(marks.fold(format!("{} chips", player.chips), |told, (_, mark)| format!("{told}, {mark}")))
}

fn costs(costs: &Costs, risk: u16) -> Piece {
    let Costs { buy, sell, exchange } = costs;
    text(format!("buy {buy}, sell {sell}, exchange {exchange}, risk {risk}"))
}

fn named(new: &NewCosts) -> Cow<'static, str> {
    let names = [("buy", new.buy), ("sell", new.sell), ("exchange", new.exchange)];
    let named = names.into_iter().filter_map(|(name, cost)| Some((name, cost?)));
    named.fold("".into(), |told, (name, cost)| format!("{told} {name} to {cost}").into())
}

fn by_buy_in(leverage: bool) -> &'static str {
    if leverage { ", paid by the buy-in" } else { "" }
}

fn exchanged_with(floor: Option<u8>, other: u8) -> Cow<'static, str> {
    match floor {
        Some(floor) => format!("floor {floor} slot {other}").into(),
        None => format!("free exchange {other}").into(),
    }
}

fn paid(chips: u8) -> Vec<Piece> {
    let paid = (chips > 0).then(|| text(format!("{chips} chips")));
    paid.into_iter().collect()
}

fn paid_by(chips: u8, leverage: bool) -> Vec<Piece> {
    let mut pieces = paid(chips);
    pieces.extend(leverage.then(|| text("paid by the buy-in")));
    pieces
}

fn with_cards(what: &'static str, discards: &Discards) -> Vec<Piece> {
    let mut pieces = vec![text(what)];
    if !discards.is_empty() {
        pieces.push(text("and discards"));
        pieces.extend(discards.iter().copied().map(card));
    }
    pieces
}

/// `1 on floor 6, 7 between floors 2 and 3`.
fn dice(dice: &Dice) -> Vec<Piece> {
    let die = |die: &Die| {
        let floor = die.place / 2;
        if die.place.is_multiple_of(2) {
            format!("{} on floor {floor}", die.value)
        } else {
            format!("{} between floors {floor} and {}", die.value, (floor + 1) % FLOORS)
        }
    };
    let dice: Vec<String> = dice.iter().map(die).collect();
    vec![text(dice.join(", "))]
}

fn shown(shown: &Shown) -> Vec<Piece> {
    let mut pieces = vec![Piece::Seat(shown.seat)];
    pieces.extend(shown.hand.iter().map(card));
    pieces.push(text(format!("with floor {}", shown.floor)));
    if shown.matches.is_empty() {
        pieces.push(text("nothing"));
    }
    for one in shown.matches.iter() {
        let class = match one.class {
            Class::Pair => "pair",
            Class::ExactPair => "exact pair",
            Class::Chain => "chain",
            Class::ExactChain => "exact chain",
            Class::Four => "four",
            Class::ExactFour => "exact four",
        };
        pieces.extend([text(class), card(one.card)]);
    }
    pieces
}

/// As its number and its suit.
fn card(card: Card) -> Piece {
    let is_red = matches!(card.suit(), Suit::Diamonds | Suit::Hearts);
    Piece::Token { text: plain(card), is_red }
}

fn plain(card: Card) -> alloc::string::String {
    let suit = match card.suit() {
        Suit::Diamonds => '♦',
        Suit::Hearts => '♥',
        Suit::Spades => '♠',
        Suit::Clubs => '♣',
    };
    match card.number() {
        1 => format!("A{suit}"),
        11 => format!("J{suit}"),
        12 => format!("K{suit}"),
        number => format!("{number}{suit}"),
    }
}
