//! Descriptions of Tongo (options) for people: views, actions and events.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::game::{Describe, Item, Piece, Row};
use crate::games::description::{playing_card_text, row, table_row, text_piece, text_pieces};
use crate::games::tongo_options::action::{Action, Discards, NewCosts};
use crate::games::tongo_options::card::Card;
use crate::games::tongo_options::dice::{Dice, Die};
use crate::games::tongo_options::event::{ChallengeAnswer, Event, ShownHand};
use crate::games::tongo_options::phase::{Costs, CostsChange, GameEnding};
use crate::games::tongo_options::player::PlayerState;
use crate::games::tongo_options::public::PublicState;
use crate::games::tongo_options::rules::FLOORS;
use crate::games::tongo_options::state::TongoOptions;
use crate::games::tongo_options::strength::Class;
use crate::games::tongo_options::view::View;
use crate::seat::Seat;

impl Describe for TongoOptions {
    fn describe(view: &View) -> Vec<Row> {
        let public = &view.public;
        let mut rows = Vec::new();
        for ((number, hand), player) in (0..).zip(view.hands.iter()).zip(public.players.iter()) {
            let mut pieces = match hand {
                Some(hand) => hand.iter().map(card_piece).collect(),
                None => text_pieces("4 cards"),
            };
            pieces.push(player_piece(player));
            rows.push(Row { seat: Seat::new(number), label: "hand".into(), pieces });
        }
        rows.push(table_row(
            "pot, round, costs",
            vec![
                text_piece(format!("{} chips, round {},", public.pot, public.round)),
                cost_piece(&public.costs, public.risk()),
            ],
        ));
        rows.push(table_row("dice", dice_pieces(&public.dice)));
        rows.extend((0_u8..).zip(&public.floors).map(|(number, cards)| {
            let hidden = view.hidden.as_ref().map(|hidden| hidden.floors[usize::from(number)]);
            let pieces = (0_u8..).zip(cards).map(|(slot, shown)| match (shown, hidden) {
                (Some(shown), _) => card_piece(*shown),
                (None, Some(cards)) => {
                    let (text, _) = playing_card_text(cards[usize::from(slot)]);
                    text_piece(format!("({text})"))
                }
                (None, None) => text_piece("face down"),
            });
            table_row(format!("floor {number}"), pieces.collect())
        }));
        if let Some(hidden) = &view.hidden {
            let exchanges = (0_u8..).zip(&hidden.exchanges).filter(|_| public.rules.free_exchange);
            rows.extend(exchanges.map(|(number, cards)| {
                let cards = cards.iter().copied().map(card_piece).collect();
                table_row(format!("free exchange {number}"), cards)
            }));
            let deck = hidden.deck.iter().copied().map(card_piece).collect();
            rows.push(table_row("player deck, the next first", deck));
        }
        rows
    }

    fn describe_action(action: &Action) -> Vec<Piece> {
        match *action {
            Action::Stop { floor } => text_pieces(format!("stops at floor {floor}")),
            Action::Retreat => text_pieces("retreats"),
            Action::Evade { discards } => discard_pieces("evades by token", &discards),
            Action::ConvertReserves => text_pieces("converts reserves"),
            Action::Confront { target: Some(target) } => {
                vec![text_piece("confronts"), Piece::Seat(target)]
            }
            Action::Confront { target: None } => text_pieces("confronts the acquirer"),
            Action::Acquire => text_pieces("acquires"),
            Action::Fold => text_pieces("folds"),
            Action::PayRisk => text_pieces("pays the risk"),
            Action::Lower(new) => text_pieces(format!("lowers{}", new_cost_text(&new))),
            Action::Raise(new) => text_pieces(format!("raises{}", new_cost_text(&new))),
            Action::IndexMargin { percent } => {
                text_pieces(format!("indexes the margin by {percent} %"))
            }
            Action::Buy { slot, leverage } => {
                text_pieces(format!("buys slot {slot}{}", leverage_suffix(leverage)))
            }
            Action::Sell { slot, leverage } => {
                text_pieces(format!("sells slot {slot}{}", leverage_suffix(leverage)))
            }
            Action::Exchange { slot, floor, other, leverage } => {
                let with = exchange_text(floor, other);
                text_pieces(format!(
                    "exchanges slot {slot} with {with}{}",
                    leverage_suffix(leverage)
                ))
            }
            Action::Roll => text_pieces("rolls the dice"),
            Action::End => text_pieces("ends the turn"),
            Action::PayToEvade { discards } => discard_pieces("pays to evade", &discards),
            Action::Stand => text_pieces("stands"),
            Action::Join => text_pieces("joins"),
        }
    }

    fn describe_event(event: &Event) -> Option<Row> {
        Some(match event {
            Event::Dealt { dealer, .. } => row(*dealer, "deals", Vec::new()),
            Event::Stopped { seat, floor } => {
                row(*seat, format!("stops at floor {floor}"), Vec::new())
            }
            Event::RiskPaid { seat, chips } => row(*seat, "pays the risk", chips_pieces(*chips)),
            Event::Retreated { seat } => row(*seat, "retreats", Vec::new()),
            Event::Folded { seat } => row(*seat, "folds", Vec::new()),
            Event::CostsChanged { seat, how, costs: new, chips } => {
                let label = match how {
                    CostsChange::Lower => "lowers",
                    CostsChange::Raise => "raises",
                    CostsChange::Index => "indexes the margin",
                };
                let mut pieces = vec![cost_piece(new, new.sell.saturating_sub(new.buy))];
                pieces.extend(chips_pieces(*chips));
                row(*seat, label, pieces)
            }
            Event::Bought { seat, slot, card: bought, chips, leverage } => {
                let mut pieces = vec![card_piece(*bought)];
                pieces.extend(payment_pieces(*chips, *leverage));
                row(*seat, format!("buys slot {slot}"), pieces)
            }
            Event::Sold { seat, slot, chips, leverage } => {
                row(*seat, format!("sells slot {slot}"), payment_pieces(*chips, *leverage))
            }
            Event::Exchanged { seat, slot, floor, other, chips, leverage } => {
                let with = exchange_text(*floor, *other);
                let label = format!("exchanges slot {slot} with {with}");
                row(*seat, label, payment_pieces(*chips, *leverage))
            }
            Event::Rolling { seat } => row(*seat, "rolls", Vec::new()),
            Event::Rolled { seat, dice: fallen } => row(*seat, "has rolled", dice_pieces(fallen)),
            Event::Evaded { seat, token, chips, count, discards } => {
                let label = if *token { "evades by token" } else { "pays to evade" };
                let mut pieces = match discards {
                    Some(discards) => discards.iter().copied().map(card_piece).collect(),
                    None => text_pieces(format!("{count} cards discarded")),
                };
                pieces.extend(chips_pieces(*chips));
                row(*seat, label, pieces)
            }
            Event::Drew { seat, cards, .. } => {
                let pieces = cards.iter().flat_map(|cards| cards.iter().map(card_piece)).collect();
                row(*seat, "draws", pieces)
            }
            Event::ReservesConverted { seat, wager } => {
                let label = format!("converts reserves, {wager} chips");
                row(*seat, label, Vec::new())
            }
            Event::Confronted { seat, target } => {
                row(*seat, "confronts", vec![Piece::Seat(*target)])
            }
            Event::Acquired { seat, floor } => {
                row(*seat, format!("acquires floor {floor}"), Vec::new())
            }
            Event::Answered { seat, answer, chips } => {
                let label = match answer {
                    ChallengeAnswer::Stand => "stands",
                    ChallengeAnswer::Join => "joins",
                    ChallengeAnswer::Confront => "confronts the acquirer",
                };
                row(*seat, label, chips_pieces(*chips))
            }
            Event::Ended { seat, chips } => row(*seat, "ends the turn", chips_pieces(*chips)),
            Event::Shown { hands } => {
                table_row("shown", hands.iter().flat_map(shown_hand_pieces).collect())
            }
            Event::Over { ending, winner, pot } => {
                let label = match ending {
                    GameEnding::LastIn => "wins, as all others folded",
                    GameEnding::Confront => "wins the confrontation",
                    GameEnding::Acquire => "wins the acquisition",
                    GameEnding::Reserves => "wins the converted reserves",
                    GameEnding::Rounds => "wins the last round",
                };
                row(*winner, label, text_pieces(format!("{pot} chips")))
            }
        })
    }

    fn describe_result(view: &View) -> Vec<Row> {
        let public = &view.public;
        let Some(end) = public.end else { return Vec::new() };
        let rows = Seat::all(public.seats()).map(|seat| {
            let won = if seat == end.winner { end.pot } else { 0 };
            let chips = u16::from(public.player(seat).chips) + won;
            let mut pieces = text_pieces(format!("{chips} chips"));
            pieces.extend(end_pieces(public, seat));
            row(seat, "ends with", pieces)
        });
        rows.collect()
    }

    /// Describes the hands that decided the game. The item of the buy-in stands for all payments of
    /// a seat, because every seat makes it.
    fn describe_item(view: &View, payer: Seat, receiver: Seat, item: &Item) -> Vec<Piece> {
        if item.name != "buy_in" || view.public.end.is_none() {
            return Vec::new();
        }
        let mut pieces = vec![Piece::Seat(receiver)];
        pieces.extend(end_pieces(&view.public, receiver));
        pieces.extend([text_piece("against"), Piece::Seat(payer)]);
        pieces.extend(end_pieces(&view.public, payer));
        pieces
    }
}

/// Describes the end of a game for a seat: the shown hand, or that the seat has folded.
fn end_pieces(public: &PublicState, seat: Seat) -> Vec<Piece> {
    match public.shown.iter().find(|shown| shown.seat == seat) {
        Some(shown) => hand_pieces(shown),
        None if public.player(seat).folded => text_pieces("folded"),
        None => text_pieces("not shown"),
    }
}

fn player_piece(player: &PlayerState) -> Piece {
    let marks = [
        (player.folded, "folded"),
        (player.evade_token, "evade token"),
        (player.leveraged, "buy-in used"),
    ];
    let marks = marks.into_iter().filter(|(holds, _)| *holds);
    text_piece(
        marks.fold(format!("{} chips", player.chips), |text, (_, mark)| format!("{text}, {mark}")),
    )
}

fn cost_piece(costs: &Costs, risk: u16) -> Piece {
    let Costs { buy, sell, exchange } = costs;
    text_piece(format!("buy {buy}, sell {sell}, exchange {exchange}, risk {risk}"))
}

fn new_cost_text(new: &NewCosts) -> Cow<'static, str> {
    let names = [("buy", new.buy), ("sell", new.sell), ("exchange", new.exchange)];
    let named = names.into_iter().filter_map(|(name, cost)| Some((name, cost?)));
    named.fold("".into(), |text, (name, cost)| format!("{text} {name} to {cost}").into())
}

fn leverage_suffix(leverage: bool) -> &'static str {
    if leverage { ", paid by the buy-in" } else { "" }
}

fn exchange_text(floor: Option<u8>, other: u8) -> Cow<'static, str> {
    match floor {
        Some(floor) => format!("floor {floor} slot {other}").into(),
        None => format!("free exchange {other}").into(),
    }
}

fn chips_pieces(chips: u8) -> Vec<Piece> {
    let paid = (chips > 0).then(|| text_piece(format!("{chips} chips")));
    paid.into_iter().collect()
}

fn payment_pieces(chips: u8, leverage: bool) -> Vec<Piece> {
    let mut pieces = chips_pieces(chips);
    pieces.extend(leverage.then(|| text_piece("paid by the buy-in")));
    pieces
}

fn discard_pieces(text: &'static str, discards: &Discards) -> Vec<Piece> {
    let mut pieces = text_pieces(text);
    if !discards.is_empty() {
        pieces.push(text_piece("and discards"));
        pieces.extend(discards.iter().copied().map(card_piece));
    }
    pieces
}

/// Describes dice, such as `1 on floor 6, 7 between floors 2 and 3`.
fn dice_pieces(dice: &Dice) -> Vec<Piece> {
    let die = |die: &Die| {
        let floor = die.place / 2;
        if die.place.is_multiple_of(2) {
            format!("{} on floor {floor}", die.value)
        } else {
            format!("{} between floors {floor} and {}", die.value, (floor + 1) % FLOORS)
        }
    };
    let dice: Vec<String> = dice.iter().map(die).collect();
    text_pieces(dice.join(", "))
}

fn shown_hand_pieces(shown: &ShownHand) -> Vec<Piece> {
    let mut pieces = vec![Piece::Seat(shown.seat)];
    pieces.extend(hand_pieces(shown));
    pieces
}

fn hand_pieces(shown: &ShownHand) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = shown.hand.iter().map(card_piece).collect();
    pieces.push(text_piece(format!("with floor {}", shown.floor)));
    if shown.matches.is_empty() {
        pieces.push(text_piece("nothing"));
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
        pieces.extend([text_piece(class), card_piece(one.card)]);
    }
    pieces
}

/// Returns a card as its number and its suit.
fn card_piece(card: Card) -> Piece {
    let (text, is_red) = playing_card_text(card);
    Piece::Token { text, is_red }
}
