//! The notation of the scenarios of Tongo (options): cards, dice, costs, viewers, actions.

use bahay_engine::game::Viewer;
use bahay_engine::games::tongo_options::{
    Action, Card, Costs, Dice, Die, Discards, NewCosts, PreviousTurn,
};

use crate::scenarios::run::{CaseResult, cards, number, numbers, require, seat};

pub(super) fn viewer_of(text: &str) -> CaseResult<Viewer> {
    Ok(match text {
        "public" => Viewer::Public,
        "record" => Viewer::Everything,
        text => Viewer::Seat(seat(text)?),
    })
}

pub(super) fn action(text: &str) -> CaseResult<Action> {
    let (text, leverage) = match text.strip_suffix(" leverage") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    Ok(match words.as_slice() {
        ["stop", floor] => Action::Stop { floor: number(floor)? },
        ["retreat"] => Action::Retreat,
        ["evade", discards @ ..] => Action::Evade { discards: named_cards(discards)? },
        ["convert"] => Action::ConvertReserves,
        ["confront"] => Action::Confront { target: None },
        ["confront", target] => Action::Confront { target: Some(seat(target)?) },
        ["acquire"] => Action::Acquire,
        ["fold"] => Action::Fold,
        ["pay"] => Action::PayRisk,
        ["lower", costs @ ..] => Action::Lower(new_costs(costs)?),
        ["raise", costs @ ..] => Action::Raise(new_costs(costs)?),
        ["index", percent] => Action::IndexMargin { percent: number(percent)? },
        ["buy", slot] => Action::Buy { slot: number(slot)?, leverage },
        ["sell", slot] => Action::Sell { slot: number(slot)?, leverage },
        ["exchange", slot, "free", other] => {
            Action::Exchange { slot: number(slot)?, floor: None, other: number(other)?, leverage }
        }
        ["exchange", slot, "floor", floor, other] => Action::Exchange {
            slot: number(slot)?,
            floor: Some(number(floor)?),
            other: number(other)?,
            leverage,
        },
        ["roll"] => Action::Roll,
        ["end"] => Action::End,
        ["pay-to-evade", discards @ ..] => Action::PayToEvade { discards: named_cards(discards)? },
        ["stand"] => Action::Stand,
        ["join"] => Action::Join,
        _ => return Err(format!("no action is written {text}")),
    })
}

/// `buy=2 sell=5`.
pub(super) fn new_costs(words: &[&str]) -> CaseResult<NewCosts> {
    let mut costs = NewCosts::default();
    for word in words {
        let (name, cost) = word.split_once('=').ok_or("name=cost")?;
        let cost = Some(number(cost)?);
        match name {
            "buy" => costs.buy = cost,
            "sell" => costs.sell = cost,
            "exchange" => costs.exchange = cost,
            _ => return Err(format!("no cost is called {name}")),
        }
    }
    Ok(costs)
}

pub(super) fn costs(text: &str) -> CaseResult<Costs> {
    let [buy, sell, exchange] = numbers(text)?;
    Ok(Costs { buy, sell, exchange })
}

/// `1@0 5@3 12@15`: the values and positions of dice.
pub(super) fn dice(text: &str) -> CaseResult<Dice> {
    let die = |word: &str| {
        let (value, place) = word.split_once('@').ok_or("value@place")?;
        Ok(Die { value: number(value)?, place: number(place)? })
    };
    text.split_whitespace().map(die).collect()
}

/// `5D +6D 7D`: by slot, with a plus for a face-up card.
pub(super) fn floor_cards(text: &str) -> CaseResult<([Card; 3], [bool; 3])> {
    let cards = three_cards(&text.replace('+', ""))?;
    let up: Vec<bool> = text.split_whitespace().map(|word| word.starts_with('+')).collect();
    Ok((cards, up.try_into().map_err(|_| "three cards")?))
}

pub(super) fn three_cards(text: &str) -> CaseResult<[Card; 3]> {
    cards::<Card>(text)?.try_into().map_err(|_| "three cards".into())
}

pub(super) fn previous(text: &str) -> CaseResult<PreviousTurn> {
    let mut previous = PreviousTurn::default();
    for word in text.split_whitespace() {
        match word {
            "retreated" => previous.retreated = true,
            "evaded" => previous.evaded = true,
            "paid_to_evade" => previous.paid_to_evade = true,
            "confronted" => previous.confronted = true,
            _ => return Err(format!("no turn is called {word}")),
        }
    }
    Ok(previous)
}

pub(super) fn named_cards(words: &[&str]) -> CaseResult<Discards> {
    let cards = cards(&words.join(" "))?;
    require(cards.len() <= 4, || "four cards at most".into())?;
    Ok(cards.into_iter().collect())
}
