//! The runner of scenario files: cases that name their rule, set a position up, play, and state
//! expectations. The lines that all games share are parsed here; each game adds its own.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use bahay_bots::Ai;
use bahay_engine::chance::{Contribution, Key, ServerSeed, Stream};
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, GameKind, GameRules, Refusal, Turn, Viewer};
use bahay_engine::hex::Hex;
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::table::{PotPayout, Price, Settlement};
use bahay_engine::testing::{legal_actions, parse_rules};

use super::desk::Desk;

/// A value, or an error message about the line.
pub type CaseResult<T> = Result<T, String>;

type Rules<S> = <<S as Scenario>::Game as Game>::Rules;
type Action<S> = <<S as Scenario>::Game as Game>::Action;

/// A position of one game while its case sets it up, and the meaning of the game's own lines.
pub trait Scenario: Default {
    type Game: Ai + GameKind;

    /// Rules of the page that other tests cover, because they belong to the table and not to the
    /// game.
    const SHOWN_ELSEWHERE: &'static [&'static str];

    /// The rule set, and the number of seats, of a case that names none.
    const RULE_SET: &'static str;
    const SEATS: u8;

    /// Sets up a part of the position: `hand 0: 8H 9H`.
    fn set_up(&mut self, what: &[&str], text: &str) -> CaseResult<()>;

    /// Builds the game in the position.
    fn build_game(&self, rules: &Rules<Self>, seats: u8) -> CaseResult<Self::Game>;

    /// Parses an action: `dump KS`.
    fn action(text: &str) -> CaseResult<Action<Self>>;

    /// Plays a step, which may be expected to be refused. A game may have steps other than actions.
    fn play(
        &mut self,
        game: &Self::Game,
        step: &str,
        refused: Option<&str>,
    ) -> CaseResult<Self::Game> {
        play_action::<Self>(game, step, refused)
    }

    /// Returns whose turn it is, and in which phase: `1 draw`.
    fn turn(game: &Self::Game) -> String;

    /// Checks a part of the game: `hand 0: 8H 9H`.
    fn expect(game: &Self::Game, what: &[&str], text: &str) -> CaseResult<()>;
}

/// A case in progress. Its game is set up, dealt, or opened at a table.
struct Case<S: Scenario> {
    rules: Rules<S>,
    seats: u8,
    position: S,
    /// The game once the first step needs it.
    game: Option<S::Game>,
    /// The table at which the game is dealt.
    desk: Option<Desk<S::Game>>,
}

impl<S: Scenario> Case<S> {
    fn new() -> CaseResult<Self> {
        let rules = parse_rules::<S::Game>("", S::RULE_SET)?;
        Ok(Self { rules, seats: S::SEATS, position: S::default(), game: None, desk: None })
    }

    fn set_up(&mut self, what: &str, text: &str) -> CaseResult<()> {
        require(self.game.is_none(), || "the game has begun".into())?;
        let words: Vec<&str> = what.split_whitespace().collect();
        match words.as_slice() {
            ["rules"] => self.rules = parse_rules::<S::Game>(text, S::RULE_SET)?,
            ["seats"] => self.seats = number(text)?,
            ["undealt", starter] => self.game = Some(self.new_game(starter)?),
            ["deal", starter] => self.game = Some(self.deal(starter, text)?),
            ["opened"] => {
                let desk = Desk::opened(self.rules.clone(), self.seats, text)?;
                self.game = desk.dealt().cloned();
                self.desk = Some(desk);
            }
            words => self.position.set_up(words, text)?,
        }
        Ok(())
    }

    /// `> 1 dump KS`, and perhaps `refused card_addable 3.6`; `> expire` ends a countdown without a
    /// prompted seat.
    fn play(&mut self, step: &str, refused: Option<&str>) -> CaseResult<()> {
        if let Some(desk) = self.desk.as_mut().filter(|_| step != "expire") {
            let told = desk.step(step);
            self.game = desk.dealt().cloned();
            return match (told, refused) {
                (told, None) => told,
                (Ok(()), Some(_)) => Err("it is taken".into()),
                (Err(refusal), Some(expected)) => equal(&refusal.trim(), &expected),
            };
        }
        let game = self.game()?.clone();
        self.game = Some(if step == "expire" {
            require(matches!(game.turn(), Turn::Wait(_)), || "somebody is to act".into())?;
            game.expire(&mut Vec::new())
        } else {
            self.position.play(&game, step, refused)?
        });
        Ok(())
    }

    /// `= turn: 1 draw`.
    fn expect(&mut self, what: &str, text: &str) -> CaseResult<()> {
        let words: Vec<&str> = what.split_whitespace().collect();
        match (words.as_slice(), &self.desk) {
            (["phase"], Some(desk)) => return equal(&desk.phase(), text),
            (["dealt", "with"], Some(desk)) => return equal(&desk.dealt_with()?, text),
            _ => {}
        }
        let game = self.game()?.clone();
        match words.as_slice() {
            ["turn"] => equal(&S::turn(&game), text),
            ["prompt"] => equal(&prompt(&game), text),
            ["legal", who] => expect_legal::<S>(&game, seat(who)?, text),
            ["commits", who] => expect_commitments::<S>(&game, seat(who)?, text, true),
            ["commits", "not", who] => expect_commitments::<S>(&game, seat(who)?, text, false),
            ["away", who] => equal(&played_while_away(&game, seat(who)?), &Some(S::action(text)?)),
            ["clock", who] => {
                let played = game.default_action(seat(who)?);
                equal(&played, &(text != "nothing").then(|| S::action(text)).transpose()?)
            }
            ["counts", "max"] => equal(&self.rules.counts_max(self.seats).to_string(), text),
            ["settled"] => expect_settled(&game, &self.rules, self.seats, text),
            words => S::expect(&game, words, text),
        }
    }

    /// Creates a game before its deal; `random` leaves the starter to chance.
    fn new_game(&self, starter: &str) -> CaseResult<S::Game> {
        let starter = if starter == "random" { None } else { Some(seat(starter)?) };
        Ok(S::Game::new(&self.rules, self.seats, starter))
    }

    /// Deals fairly.
    fn deal(&self, starter: &str, text: &str) -> CaseResult<S::Game> {
        let mut stream = Stream::new(deal_key(text, self.seats)?);
        let mut game = self.new_game(starter)?;
        while let Turn::Chance(request) = game.turn() {
            game = game.resolve(&stream.draw(request), &mut Vec::new());
        }
        Ok(game)
    }

    /// Returns the game, built from the position if it has not begun.
    fn game(&mut self) -> CaseResult<&S::Game> {
        if self.game.is_none() {
            self.game = Some(self.position.build_game(&self.rules, self.seats)?);
        }
        self.game.as_ref().ok_or_else(|| "there is no game".into())
    }
}

/// Runs every case of a file's text and returns their number.
///
/// # Errors
///
/// Fails at the first line that contradicts the rules, with its number.
pub fn run<S: Scenario>(text: &str) -> CaseResult<usize> {
    // Each with its number of expectations: a case without any is a mistake.
    let mut cases: Vec<(Case<S>, usize)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let outcome = match (line.strip_prefix("case "), cases.last_mut()) {
            (Some(title), _) => {
                cases.push((Case::new()?, 0));
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

fn follow<S: Scenario>(case: &mut Case<S>, checks: &mut usize, line: &str) -> CaseResult<()> {
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

/// Reads the key of a deal: itself, or a server seed, a game's id and the clients' texts (chapter 9
/// of Tong-its): `-` for a client that takes no part, and a `?` after a text that was not revealed.
fn deal_key(text: &str, seats: u8) -> CaseResult<Key> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["key", key] => Ok(Key(key.parse::<Hex<32>>().map_err(|error| error.to_string())?)),
        ["seed", server, "game", game, "clients", clients @ ..] => {
            let server: Hex<32> = server.parse().map_err(|_| "a seed is 64 digits")?;
            let game: Hex<16> = game.parse().map_err(|_| "an id is 32 digits")?;
            let client = |word: &&str| match (*word, word.strip_suffix('?')) {
                ("-", _) => Contribution::none(),
                (_, Some(text)) => {
                    Contribution::new(Contribution::from_text(text).commitment, None)
                }
                (text, None) => Contribution::from_text(text),
            };
            let clients: Vec<Contribution> = clients.iter().map(client).collect();
            require(clients.len() == usize::from(seats), || "one client a seat".into())?;
            Ok(ServerSeed(server).key(&game.0, &clients))
        }
        _ => Err("a deal is by key, or by seed, game and clients".into()),
    }
}

/// Plays `1 dump KS`. Returns the game after the action, or unchanged after an expected refusal.
pub fn play_action<S: Scenario>(
    game: &S::Game,
    step: &str,
    refused: Option<&str>,
) -> CaseResult<S::Game> {
    let (who, text) = step.split_once(' ').ok_or("a seat and an action")?;
    let (seat, action) = (seat(who)?, S::action(text)?);
    match (game.act(seat, &action, &mut Vec::new()), refused) {
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

/// Parses `fight | draw`; `nothing` is no action.
fn actions<S: Scenario>(text: &str) -> CaseResult<Vec<Action<S>>> {
    let listed = text.split('|').map(str::trim).filter(|text| *text != "nothing");
    listed.map(S::action).collect()
}

fn expect_legal<S: Scenario>(game: &S::Game, seat: Seat, text: &str) -> CaseResult<()> {
    let expected = actions::<S>(text)?;
    let legal = legal_actions(game, seat);
    let missing: Vec<_> = expected.iter().filter(|action| !legal.contains(action)).collect();
    let more: Vec<_> = legal.iter().filter(|action| !expected.contains(action)).collect();
    require(missing.is_empty() && more.is_empty() && legal.len() == expected.len(), || {
        format!("expected, but not legal: {missing:?}; legal too: {more:?}")
    })
}

/// `fight | draw`: legal actions by which the seat commits itself, or does not (rule 8.3 of
/// Tong-its).
fn expect_commitments<S: Scenario>(
    game: &S::Game,
    seat: Seat,
    text: &str,
    commits: bool,
) -> CaseResult<()> {
    let view = game.view(Viewer::Seat(seat));
    for action in actions::<S>(text)? {
        if let Err(illegal) = game.act(seat, &action, &mut Vec::new()) {
            return Err(format!("{action:?} is refused: {illegal}"));
        }
        let found = S::Game::is_commitment(&view, &action);
        require(found == commits, || format!("{action:?} is a commitment: {found}"))?;
    }
    Ok(())
}

/// Returns the action that the AI plays for a player who is away (rule 8.3 of Tong-its).
fn played_while_away<G: Ai + Game>(game: &G, seat: Seat) -> Option<G::Action> {
    let view = game.view(Viewer::Seat(seat));
    let advised = G::choose_uncommitted_action(&view, &mut std::iter::empty());
    advised.or_else(|| game.default_action(seat))
}

/// `4 countdown 2 20000 ms`.
fn prompt(game: &impl Game) -> String {
    let Some(prompt) = game.turn().prompt() else { return "nothing".into() };
    format!("{} countdown {} {} ms", prompt.number, prompt.countdown, prompt.countdown_ms)
}

/// `normal 1, special 2`.
pub fn owes(game: &impl Game, seat: Seat) -> CaseResult<String> {
    let outcome = game.outcome().ok_or("the game goes on")?;
    let debts = outcome.debts.iter().filter(|debt| debt.from == seat);
    let items = debts.flat_map(|debt| &debt.items);
    Ok(list(items.map(|item| format!("{} {}", item.name, item.counts)), ", ", "nothing"))
}

/// `bet 1 pot 6: -3.00 +11.70 -3.00` without the colon: each seat's change of balance after the
/// fee, at a table with or without that POT.
fn expect_settled<G: Game>(game: &G, rules: &G::Rules, seats: u8, text: &str) -> CaseResult<()> {
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

/// Writes the items with a separator between them, or `none` if there are none.
pub fn list<T: Display>(items: impl IntoIterator<Item = T>, separator: &str, none: &str) -> String {
    let texts: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    if texts.is_empty() { none.into() } else { texts.join(separator) }
}

pub fn numbers<T: FromStr, const N: usize>(text: &str) -> CaseResult<[T; N]> {
    let read = text.split_whitespace().map(number).collect::<CaseResult<Vec<T>>>()?;
    read.try_into().map_err(|_| format!("{text} is not {N} numbers"))
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
