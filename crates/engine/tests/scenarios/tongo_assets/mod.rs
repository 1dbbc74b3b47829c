//! Scenarios of Tongo (assets). `docs/rules/tongo_assets.md` explains the notation under
//! "Scenarios".

use std::collections::VecDeque;

use bahay_engine::chance::ChanceAnswer;
use bahay_engine::game::{Game, Viewer};
use bahay_engine::games::tongo_assets::{
    Action, Assets, Card, CardSet, GameSetup, HandRank, Phase, Rules, SlotSet, TongoAssets,
};
use bahay_engine::seat::Seat;

use super::finds_wrong_lines;
use super::run::{
    CaseResult, Scenario, card, cards, equal, list, number, numbers, play_action, require, seat,
    seats, set,
};
use crate::support::serialized_name;

/// A position, whose rules and seats are those of the case.
pub struct Position {
    setup: GameSetup,
    /// The stopping points of the table's turns from the deal on; afterwards it does not turn.
    stops: VecDeque<u8>,
}

impl Default for Position {
    fn default() -> Self {
        let setup = GameSetup::new(Rules::standard(), 4, Seat::new(0).expect("a seat"));
        Self { setup, stops: VecDeque::new() }
    }
}

impl Scenario for Position {
    type Game = TongoAssets;

    /// The POT belongs to the table.
    const SHOWN_ELSEWHERE: &'static [&'static str] = &["7.3"];

    const RULE_SET: &'static str = "standard";
    const SEATS: u8 = 4;

    fn set_up(&mut self, what: &[&str], text: &str) -> CaseResult<()> {
        let setup = &mut self.setup;
        match what {
            ["dealer"] => setup.dealer = seat(text)?,
            ["assets"] => setup.assets = cards(text)?,
            ["acquires"] => setup.acquires = cards(text)?,
            ["rotation"] => setup.rotation = number(text)?,
            ["stops"] => {
                self.stops = text.split_whitespace().map(number).collect::<CaseResult<_>>()?;
            }
            ["hand", owner] => setup.hands.push((seat(owner)?, set(text)?)),
            ["kept", owner] => setup.kept.push((seat(owner)?, set(text)?)),
            ["pile", owner] => setup.piles.push((seat(owner)?, set(text)?)),
            ["section", at] => setup.sections.push((number(at)?, assets(text)?)),
            ["acquires", at] => setup.lying.push((number(at)?, cards(text)?)),
            ["decks"] => {
                let [assets, acquires] = numbers(text)?;
                setup.decks = Some((assets, acquires));
            }
            ["chips"] => {
                for (owner, chips) in Seat::all(8).zip(text.split_whitespace()) {
                    setup.chips.push((owner, number(chips)?));
                }
            }
            ["retreated"] => setup.retreated = seats(text)?.iter().collect(),
            ["prices"] => {
                let [risk, purchase, sell] = numbers(text)?;
                setup.prices = Some((risk, purchase, sell));
            }
            ["rounds"] => setup.rounds = Some(number(text)?),
            ["turn"] => {
                let (turn, phase) = text.split_once(' ').ok_or("a seat and open or assess")?;
                let assesses = match phase {
                    "open" => false,
                    "assess" => true,
                    other => return Err(format!("{other} is neither open nor assess")),
                };
                setup.turn = Some((seat(turn)?, assesses));
            }
            _ => return Err(format!("no set-up is called {}", what.join(" "))),
        }
        Ok(())
    }

    fn build_game(&self, rules: &Rules, seats: u8) -> CaseResult<TongoAssets> {
        let setup = GameSetup { rules: *rules, seats, ..self.setup.clone() };
        setup.build_game().map_err(|error| error.to_string())
    }

    fn action(text: &str) -> CaseResult<Action> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (words, free) = match words.as_slice() {
            [words @ .., "free"] => (words, true),
            words => (words, false),
        };
        Ok(match words {
            ["open", risk, purchase, sell] => Action::Open {
                risk: number(risk)?,
                purchase: number(purchase)?,
                sell: number(sell)?,
            },
            ["pay"] => Action::Pay,
            ["raise", risk, purchase, sell] => Action::Raise {
                risk: number(risk)?,
                purchase: number(purchase)?,
                sell: number(sell)?,
            },
            ["raise", risk] => Action::RaiseConfront { risk: number(risk)? },
            ["retreat"] => Action::Retreat,
            ["swap", discard, "for", slot] => {
                Action::Swap { discard: card(discard)?, slot: number(slot)? }
            }
            ["purchase", slot] => Action::Purchase { slot: number(slot)?, discard: None, free },
            ["purchase", slot, "for", discard] => {
                Action::Purchase { slot: number(slot)?, discard: Some(card(discard)?), free }
            }
            ["acquire"] => Action::Acquire { replace: None, free },
            ["acquire", "for", replace] => Action::Acquire { replace: Some(card(replace)?), free },
            ["sell", slots @ ..] => {
                let slots =
                    slots.iter().map(|slot| number::<u8>(slot)).collect::<CaseResult<Vec<u8>>>()?;
                require(slots.iter().all(|slot| *slot < 7), || "a slot is below 7".into())?;
                Action::Sell { slots: slots.into_iter().collect::<SlotSet>() }
            }
            ["reveal", section] => Action::Reveal { section: number(section)? },
            ["dividend"] => Action::Dividend,
            ["done"] => Action::Done,
            ["confront"] => Action::Confront,
            ["evade", discards @ ..] => Action::Evade { discards: set(&discards.join(" "))? },
            ["index", margin] => Action::Index { margin: number(margin)? },
            ["leverage", percent] => Action::Leverage { percent: number(percent)? },
            ["bribe", to, "chips", chips] => {
                Action::Bribe { to: seat(to)?, chips: number(chips)?, cards: CardSet::EMPTY }
            }
            ["bribe", to, "cards", cards @ ..] => {
                Action::Bribe { to: seat(to)?, chips: 0, cards: set(&cards.join(" "))? }
            }
            ["bribe", to, "both", chips, cards @ ..] => Action::Bribe {
                to: seat(to)?,
                chips: number(chips)?,
                cards: set(&cards.join(" "))?,
            },
            ["accept"] => Action::Accept,
            ["refuse"] => Action::Refuse,
            _ => return Err(format!("no action is written {text}")),
        })
    }

    /// Stops a table that is to be stopped.
    fn play(
        &mut self,
        game: &TongoAssets,
        step: &str,
        refused: Option<&str>,
    ) -> CaseResult<TongoAssets> {
        let next = play_action::<Self>(game, step, refused)?;
        if !matches!(next.public().phase, Phase::Stop) {
            return Ok(next);
        }
        let turned = self.stops.pop_front().unwrap_or(0);
        Ok(next.resolve(&ChanceAnswer::Number(turned.into()), &mut Vec::new()))
    }

    fn turn(game: &TongoAssets) -> String {
        let public = game.public();
        if let Some(offer) = public.offer {
            return format!("{} bribe", offer.to);
        }
        match public.phase {
            Phase::Dealer => "dealer".into(),
            Phase::Assets => "assets".into(),
            Phase::Acquires => "acquires".into(),
            Phase::Deal => "deal".into(),
            Phase::Open { seat } => format!("{seat} open"),
            Phase::Risk { seat } => format!("{seat} risk"),
            Phase::Stop => "stop".into(),
            Phase::Assess { seat, .. } => format!("{seat} assess"),
            Phase::Confront { seat, .. } => format!("{seat} confront"),
            Phase::Debts { seat, .. } => format!("{seat} debt"),
            Phase::Showdown { .. } | Phase::LastIn { .. } => "between".into(),
            Phase::Over => "over".into(),
        }
    }

    fn expect(game: &TongoAssets, what: &[&str], text: &str) -> CaseResult<()> {
        let public = game.public();
        match what {
            ["may", number] => expect_may(game, seat(number)?, text, true),
            ["may", "not", number] => expect_may(game, seat(number)?, text, false),
            ["chips"] => {
                equal(&list(public.players.iter().map(|player| player.chips), " ", ""), text)
            }
            ["pot"] => equal(&public.pot.to_string(), text),
            ["prices"] => {
                equal(&format!("{} {} {}", public.risk, public.purchase, public.sell), text)
            }
            ["rounds"] => equal(&public.rounds.to_string(), text),
            ["hand", number] => equal(&game.hidden().hands[seat(number)?], &set(text)?),
            ["kept", number] => equal(&game.hidden().kept[seat(number)?], &set(text)?),
            ["pile", number] => equal(&game.hidden().piles[seat(number)?], &set(text)?),
            ["section", at] => {
                let found = game.hidden().sections[number::<u8>(at)?].assets;
                equal(&found, &assets(text)?)
            }
            ["acquires", at] => {
                let lying = game.hidden().sections[number::<u8>(at)?].acquires;
                equal(&lying.into_iter().flatten().collect::<Vec<Card>>(), &cards(text)?)
            }
            ["decks"] => equal(&format!("{} {}", public.asset_deck, public.acquire_deck), text),
            ["under", "assets"] => expect_under(game.hidden().assets.iter(), text),
            ["under", "acquires"] => expect_under(game.hidden().acquires.iter(), text),
            ["front", number] => equal(&public.section_of(seat(number)?).to_string(), text),
            ["playing"] => equal(&public.playing, &seats(text)?),
            ["sees", viewer] => expect_sees(game, viewer, text),
            ["owes", number] => {
                let player = &public.players[seat(number)?];
                equal(&format!("{} margin {}", player.owes, player.margin), text)
            }
            ["reads", number] => equal(&reads(game, seat(number)?), text),
            ["over"] => {
                let end = public.end.ok_or("the game goes on")?;
                equal(&format!("{} {}", game.ending().unwrap_or_default(), end.winner), text)
            }
            ["awards"] => {
                let end = public.end.ok_or("the game goes on")?;
                equal(&list(end.awards.iter(), " ", ""), text)
            }
            ["debts"] => equal(&debts(game)?, text),
            _ => Err(format!("no check is called {}", what.join(" "))),
        }
    }
}

fn expect_may(game: &TongoAssets, seat: Seat, text: &str, may: bool) -> CaseResult<()> {
    for listed in text.split('|').map(str::trim) {
        let found = game.act(seat, &Position::action(listed)?, &mut Vec::new()).is_ok();
        require(found == may, || format!("{listed} is legal: {found}"))?;
    }
    Ok(())
}

/// Checks the cards at the bottom of a deck.
fn expect_under(deck: impl Iterator<Item = Card>, text: &str) -> CaseResult<()> {
    let (deck, expected) = (deck.collect::<Vec<Card>>(), cards(text)?);
    let from = deck.len().saturating_sub(expected.len());
    equal(&deck.get(from..).map(<[Card]>::to_vec), &Some(expected))
}

/// Checks the cards that a seat sees in front of it or by a reveal: `before 4Ra - …`, `look 3 …`,
/// `nothing`.
fn expect_sees(game: &TongoAssets, viewer: &str, text: &str) -> CaseResult<()> {
    let own = game.view(Viewer::Seat(seat(viewer)?)).own.ok_or("it sees nothing at all")?;
    if text == "nothing" {
        return equal(&(own.before, own.look), &(None, None));
    }
    match text.split_once(' ') {
        Some(("before", lying)) => equal(&own.before, &Some(assets(lying)?)),
        Some(("look", look)) => {
            let (section, lying) = look.split_once(' ').ok_or("a section and its assets")?;
            let found = own.look.map(|look| (look.section, look.assets));
            equal(&found, &Some((number(section)?, assets(lying)?)))
        }
        Some(_) | None => Err("before, look or nothing".into()),
    }
}

/// `treasury 7 R wilds 1`.
fn reads(game: &TongoAssets, seat: Seat) -> String {
    let HandRank { class, number, colour, wilds } = HandRank::from_hand(game.hidden().hands[seat]);
    let colour = colour.map_or("-".into(), |colour| serialized_name(&colour));
    format!("{} {number} {colour} wilds {wilds}", serialized_name(&class))
}

/// `1 to 0 pot 40, 2 to 0 pot 3`.
fn debts(game: &TongoAssets) -> CaseResult<String> {
    let outcome = game.outcome().ok_or("the game goes on")?;
    Ok(list(
        outcome.debts.iter().map(|debt| {
            let items = debt.items.iter().map(|item| format!("{} {}", item.name, item.counts));
            format!("{} to {} {}", debt.from, debt.to, list(items, " and ", ""))
        }),
        ", ",
        "none",
    ))
}

/// Parses seven slots, `-` for one without an asset; unnamed slots are empty.
fn assets(text: &str) -> CaseResult<Assets> {
    let mut assets = Assets::default();
    let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "none").collect();
    require(words.len() <= assets.len(), || "a section has seven slots".into())?;
    for (asset, word) in assets.iter_mut().zip(words) {
        *asset = if word == "-" { None } else { Some(card(word)?) };
    }
    Ok(assets)
}

/// The canary: a scenario that is wrong in any part fails with its position.
#[test]
fn a_wrong_scenario_fails() {
    let position = "case 2.1 canary\nseats: 4\n";
    let right = "> 0 open 6 3 1 refused risk_too_high 2.2\n> 0 open 5 3 7\n= turn: 1 risk\n";
    finds_wrong_lines::<Position>(
        position,
        right,
        &[
            ("> 0 open 6 3 1", "line 3: > 0 open 6 3 1"),
            ("> 0 open 6 3 1 refused risk_too_high 2.3", "expected \"risk_too_high 2.3\""),
            ("> 0 open 5 3 7 refused risk_too_high 2.2", "it is taken"),
            ("= turn: 1 open", "found \"0 open\""),
            ("= may 0: open 9 9 9", "is legal: false"),
            ("= may not 0: retreat", "is legal: true"),
            ("= over: last_in 0", "the game goes on"),
            ("= hand 0: 7Kb", "expected"),
            ("= colour: red", "no check is called colour"),
            ("> 0 jump", "no action is written jump"),
            ("hand 0: 4Ra", "a case checks nothing"),
            ("hand 0: 4Ra\nhand 1: 4Ra\n= turn: 0 open", "two places"),
            ("hand 9: 4Ra", "not a seat"),
            ("", "a case checks nothing"),
        ],
    );
}
