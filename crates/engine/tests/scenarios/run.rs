//! The runner of scenario files: cases that name their rule, set a position up, play, and state
//! expectations. The meaning of the lines is each game's own; the notation that all games share is
//! parsed here.

use std::fmt::Debug;
use std::str::FromStr;

use bahay_bots::Ai;
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, GameKind, GameRules, Refusal, Turn, Viewer};
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::table::{PotPayout, Price, Settlement};

/// A value, or an error message about the line.
pub type CaseResult<T> = Result<T, String>;

/// A case in progress.
pub trait Case: Default {
    type Game: GameKind;

    /// Rules of the page that other tests cover, because they belong to the table and not to the
    /// game.
    const SHOWN_ELSEWHERE: &'static [&'static str];

    /// `hand 0: 8H 9H`.
    fn set_up(&mut self, what: &str, text: &str) -> CaseResult<()>;

    /// `> 1 dump KS`, and perhaps `refused card_addable 3.6`.
    fn play(&mut self, step: &str, refused: Option<&str>) -> CaseResult<()>;

    /// `= turn: 1 draw`.
    fn expect(&mut self, what: &str, text: &str) -> CaseResult<()>;
}

/// Runs every case of a file's text and returns their number.
///
/// # Errors
///
/// Fails at the first line that contradicts the rules, with its number.
pub fn run<C: Case>(text: &str) -> CaseResult<usize> {
    // Each with its number of expectations: a case without any is a mistake.
    let mut cases: Vec<(C, usize)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let outcome = match (line.strip_prefix("case "), cases.last_mut()) {
            (Some(title), _) => {
                cases.push((C::default(), 0));
                check_rule_number(title)
            }
            (None, Some((case, checks))) => follow(case, checks, line),
            (None, None) => Err("a file begins with a case".into()),
        };
        outcome.map_err(|what| format!("line {number}: {line}\n  {what}"))?;
    }
    match cases.iter().find(|(_, checks)| *checks == 0) {
        Some(_) => Err("a case checks nothing".into()),
        None => Ok(cases.len()),
    }
}

fn check_rule_number(title: &str) -> CaseResult<()> {
    let number = title.split_whitespace().next().unwrap_or_default();
    let is_rule = number
        .split_once('.')
        // A rule that was inserted between two others has a letter.
        .map(|(chapter, rule)| (chapter, rule.strip_suffix('a').unwrap_or(rule)))
        .is_some_and(|(chapter, rule)| chapter.parse::<u8>().is_ok() && rule.parse::<u8>().is_ok());
    require(is_rule, || format!("{number} is not the number of a rule"))
}

fn follow(case: &mut impl Case, checks: &mut usize, line: &str) -> CaseResult<()> {
    if let Some(step) = line.strip_prefix("> ") {
        *checks += 1;
        return match step.split_once(" refused ") {
            Some((step, refused)) => case.play(step, Some(refused.trim())),
            None => case.play(step, None),
        };
    }
    if let Some(expected) = line.strip_prefix("= ") {
        *checks += 1;
        let (what, text) = expected.split_once(':').unwrap_or((expected, ""));
        return case.expect(what.trim(), text.trim());
    }
    let (what, text) = line.split_once(':').ok_or("neither a set-up, a step nor a check")?;
    case.set_up(what.trim(), text.trim())
}

/// Returns the game after an action, or unchanged after an expected refusal.
pub fn played<G: Ai + Game>(
    game: &G,
    seat: Seat,
    action: &G::Action,
    refused: Option<&str>,
) -> CaseResult<G> {
    match (game.act(seat, action, &mut Vec::new()), refused) {
        (Ok(next), None) => Ok(next),
        (Err(illegal), Some(expected)) => {
            equal(&format!("{} {}", illegal.code(), illegal.rule()), expected)?;
            Ok(game.clone())
        }
        (Ok(_), Some(_)) => Err("it is taken".into()),
        (Err(illegal), None) => {
            Err(format!("refused {} {}: {illegal}", illegal.code(), illegal.rule()))
        }
    }
}

/// `fight | draw`: legal actions by which the seat commits itself, or does not (rule 8.3 of
/// Tong-its).
pub fn expect_commitments<G: Ai + Game>(
    game: &G,
    seat: Seat,
    text: &str,
    commits: bool,
    read: impl Fn(&str) -> CaseResult<G::Action>,
) -> CaseResult<()> {
    let view = game.view(Viewer::Seat(seat));
    for text in text.split('|').map(str::trim) {
        let action = read(text)?;
        played(game, seat, &action, None)?;
        let found = G::is_commitment(&view, &action);
        require(found == commits, || format!("{text} is a commitment: {found}"))?;
    }
    Ok(())
}

/// Returns the action that the AI plays for a player who is away (rule 8.3 of Tong-its).
pub fn played_while_away<G: Ai + Game>(game: &G, seat: Seat) -> Option<G::Action> {
    let view = game.view(Viewer::Seat(seat));
    let advised = G::choose_uncommitted_action(&view, &mut std::iter::empty());
    advised.or_else(|| game.default_action(seat))
}

/// `4 countdown 2 20000 ms`.
pub fn prompt(game: &impl Game) -> String {
    match game.turn() {
        Turn::Players(prompt) | Turn::Wait(prompt) => {
            format!("{} countdown {} {} ms", prompt.number, prompt.countdown, prompt.countdown_ms)
        }
        Turn::Chance(_) | Turn::Over => "nothing".into(),
    }
}

/// `normal 1, special 2`.
pub fn owes(game: &impl Game, seat: Seat) -> CaseResult<String> {
    let outcome = game.outcome().ok_or("the game goes on")?;
    let debts = outcome.debts.iter().filter(|debt| debt.from == seat);
    let items: Vec<String> = debts
        .flat_map(|debt| &debt.items)
        .map(|item| format!("{} {}", item.name, item.counts))
        .collect();
    Ok(if items.is_empty() { "nothing".into() } else { items.join(", ") })
}

/// `bet 1 pot 6: -3.00 +11.70 -3.00` without the colon: each seat's change of balance after the
/// fee, at a table with or without that POT.
pub fn expect_settled<G: Ai + Game>(
    game: &G,
    rules: &G::Rules,
    seats: u8,
    text: &str,
) -> CaseResult<()> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (bet, pot, nets) = match words.as_slice() {
        ["bet", bet, "pot", pot, nets @ ..] => (bet, Some(whole_coins(pot)?), nets),
        ["bet", bet, nets @ ..] => (bet, None, nets),
        _ => return Err("a bet, perhaps a POT, and what each seat gains".into()),
    };
    let price = Price { bet: whole_coins(bet)?, multiplier: 1, fee_basis_points: 500 };
    let outcome = game.outcome().ok_or("the game goes on")?;
    let stake = price.bet.checked_mul(rules.counts_max(seats)).ok_or("a smaller bet")?;
    let stakes = vec![stake; usize::from(seats)];
    let pot = pot.and_then(|amount| Some(PotPayout { seat: outcome.winner?, amount }));
    let settlement = Settlement::new(&outcome, &price, rules.counts_per_bet(), &stakes, 0, pot);
    let settlement = settlement.ok_or("it does not settle")?;
    let found = Seat::all(seats).map(|seat| settlement.net(seat).map(|net| format!("{net:+}")));
    equal(&found.collect::<Option<Vec<String>>>().map(|nets| nets.join(" ")), &Some(nets.join(" ")))
}

fn whole_coins(text: &str) -> CaseResult<Coins> {
    text.parse().ok().and_then(Coins::from_whole).ok_or_else(|| "whole coins".into())
}

pub fn number<T: FromStr>(text: &str) -> CaseResult<T> {
    text.parse().map_err(|_| format!("{text} is not such a number"))
}

pub fn seat(text: &str) -> CaseResult<Seat> {
    text.parse().ok().and_then(Seat::new).ok_or_else(|| format!("{text} is not a seat"))
}

pub fn seats(text: &str) -> CaseResult<SeatSet> {
    text.split_whitespace().filter(|word| *word != "nobody").map(seat).collect()
}

/// Parses cards in order; `none` is no card.
pub fn cards<C: FromStr>(text: &str) -> CaseResult<Vec<C>> {
    text.split_whitespace().filter(|word| *word != "none").map(card).collect()
}

pub fn card<C: FromStr>(text: &str) -> CaseResult<C> {
    text.parse().map_err(|_| format!("{text} is not a card"))
}

/// Parses a set of cards in any order.
pub fn set<C: FromStr + Copy + PartialEq, S: FromIterator<C>>(text: &str) -> CaseResult<S> {
    let cards: Vec<C> = cards(text)?;
    let again = (1..).zip(&cards).any(|(next, card)| cards.iter().skip(next).any(|c| c == card));
    require(!again, || format!("{text} names a card twice"))?;
    Ok(cards.into_iter().collect())
}

pub fn equal<T, E>(found: &T, expected: &E) -> CaseResult<()>
where
    T: PartialEq<E> + Debug,
    E: Debug + ?Sized,
{
    require(found == expected, || format!("found {found:?}, expected {expected:?}"))
}

pub fn require(holds: bool, otherwise: impl FnOnce() -> String) -> CaseResult<()> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
