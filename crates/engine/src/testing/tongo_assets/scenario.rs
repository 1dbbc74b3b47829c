//! The runner of Tongo's (assets) scenario files: rules as examples, in text that people read.
//!
//! A file holds cases; a case names its rule, sets a position up, plays, and says what must be.
//! `docs/rules/tongo_assets.md` explains the notation under "Scenarios".

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use crate::chance::{Answer, Key, Stream};
use crate::coins::Coins;
use crate::game::{Game, GameKind, Refusal, Turn, Viewer};
use crate::games::tongo_assets::{
    Action, Assets, Card, CardSet, Colour, Phase, Public, Reading, Rules, Setup, SlotSet,
    TongoAssets,
};
use crate::hex::Hex;
use crate::seat::{Seat, SeatSet};
use crate::table::{Price, Settlement};

type Told<T> = Result<T, String>;

/// Runs every case of a file's text and gives how many there are.
///
/// # Errors
/// The first line that is not as the rules have it, with its number.
pub fn run_tongo_assets_scenarios(text: &str) -> Result<usize, String> {
    let mut cases: Vec<Case> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let outcome = match (line.strip_prefix("case "), cases.last_mut()) {
            (Some(title), _) => {
                cases.push(Case::new());
                check_rule_number(title)
            }
            (None, Some(case)) => case.line(line),
            (None, None) => Err("a file begins with a case".into()),
        };
        outcome.map_err(|what| format!("line {number}: {line}\n  {what}"))?;
    }
    match cases.iter().find(|case| case.checks == 0) {
        Some(_) => Err("a case checks nothing".into()),
        None => Ok(cases.len()),
    }
}

fn check_rule_number(title: &str) -> Told<()> {
    let number = title.split_whitespace().next().unwrap_or_default();
    let (chapter, rule) = number.split_once('.').unwrap_or((number, "0"));
    let is_rule = chapter.parse::<u8>().is_ok() && rule.parse::<u8>().is_ok();
    require(is_rule, || format!("{number} is not the number of a rule"))
}

/// One case as it goes on: its set-up, and its game once the first step needs it.
struct Case {
    setup: Setup,
    /// How the table turns from the deal on; then it does not turn.
    stops: VecDeque<u8>,
    game: Option<TongoAssets>,
    checks: usize,
}

impl Case {
    fn new() -> Self {
        let setup = Setup::new(Rules::standard(), 4, Seat::new(0).expect("a seat"));
        Self { setup, stops: VecDeque::new(), game: None, checks: 0 }
    }

    fn line(&mut self, line: &str) -> Told<()> {
        if let Some(step) = line.strip_prefix("> ") {
            self.checks += 1;
            return self.play(step);
        }
        if let Some(expected) = line.strip_prefix("= ") {
            self.checks += 1;
            return self.expect(expected);
        }
        let (what, text) = line.split_once(':').ok_or("neither a set-up, a step nor a check")?;
        self.set_up(what.trim(), text.trim())
    }

    fn set_up(&mut self, what: &str, text: &str) -> Told<()> {
        require(self.game.is_none(), || "the game has begun".into())?;
        let words: Vec<&str> = what.split_whitespace().collect();
        let setup = &mut self.setup;
        match words.as_slice() {
            ["rules"] => setup.rules = rules(text)?,
            ["seats"] => setup.seats = number(text)?,
            ["dealer"] => setup.dealer = seat(text)?,
            ["assets"] => setup.assets = cards(text)?,
            ["acquires"] => setup.acquires = cards(text)?,
            ["rotation"] => setup.rotation = number(text)?,
            ["stops"] => {
                self.stops = text.split_whitespace().map(number).collect::<Told<_>>()?;
            }
            ["hand", owner] => setup.hands.push((seat(owner)?, set(text)?)),
            ["kept", owner] => setup.kept.push((seat(owner)?, set(text)?)),
            ["pile", owner] => setup.piles.push((seat(owner)?, set(text)?)),
            ["section", at] => setup.sections.push((number(at)?, assets(text)?)),
            ["acquires", at] => setup.lying.push((number(at)?, cards(text)?)),
            ["decks"] => {
                let (assets, acquires) = text.split_once(' ').ok_or("two numbers")?;
                setup.decks = Some((number(assets)?, number(acquires)?));
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
            ["undealt"] => {
                let dealer = seat(text).ok();
                self.game = Some(TongoAssets::new(&setup.rules, setup.seats, dealer));
            }
            ["deal", dealer] => self.deal(dealer, text)?,
            _ => return Err(format!("no set-up is called {what}")),
        }
        Ok(())
    }

    /// Deals fairly by a key (rule 1.7).
    fn deal(&mut self, dealer: &str, key: &str) -> Told<()> {
        let dealer = if dealer == "random" { None } else { Some(seat(dealer)?) };
        let key = Key(key.parse::<Hex<32>>().map_err(|error| error.to_string())?);
        let mut stream = Stream::new(key);
        let mut game = TongoAssets::new(&self.setup.rules, self.setup.seats, dealer);
        while let Turn::Chance(request) = game.turn() {
            game = game.resolve(&stream.draw(request), &mut Vec::new());
        }
        self.game = Some(game);
        Ok(())
    }

    /// The game, from the set-up when it has not begun.
    fn game(&mut self) -> Told<&TongoAssets> {
        if self.game.is_none() {
            self.game = Some(self.setup.game().map_err(|error| error.to_string())?);
        }
        self.game.as_ref().ok_or_else(|| "there is no game".into())
    }

    /// `1 pay`, and perhaps `refused too_few_chips 2.2`. A table that is to be stopped stops.
    fn play(&mut self, step: &str) -> Told<()> {
        let (step, refused) = match step.split_once(" refused ") {
            Some((step, refused)) => (step, Some(refused.trim())),
            None => (step, None),
        };
        let (number, text) = step.split_once(' ').ok_or("a seat and an action")?;
        let (seat, action) = (seat(number)?, action(text)?);
        let game = self.game()?;
        match (game.act(seat, &action, &mut Vec::new()), refused) {
            (Ok(next), None) => {
                let stop = matches!(next.public().phase, Phase::Stop);
                let turned = if stop { self.stops.pop_front().unwrap_or(0) } else { 0 };
                let turned = Answer::Number(u32::from(turned));
                self.game = Some(if stop { next.resolve(&turned, &mut Vec::new()) } else { next });
                Ok(())
            }
            (Err(illegal), Some(expected)) => {
                equal(&format!("{} {}", illegal.code(), illegal.rule()), expected)
            }
            (Ok(_), Some(_)) => Err("it is taken".into()),
            (Err(illegal), None) => {
                Err(format!("refused {} {}: {illegal}", illegal.code(), illegal.rule()))
            }
        }
    }

    fn expect(&mut self, expected: &str) -> Told<()> {
        let (what, text) = expected.split_once(':').unwrap_or((expected, ""));
        let (what, text) = (what.trim(), text.trim());
        let game = self.game()?;
        let public = game.public();
        let words: Vec<&str> = what.split_whitespace().collect();
        match words.as_slice() {
            ["turn"] => equal(&turn(public), text),
            ["may", number] => expect_may(game, seat(number)?, text, true),
            ["may", "not", number] => expect_may(game, seat(number)?, text, false),
            ["clock", number] => {
                let played = game.default_action(seat(number)?);
                equal(&played, &(text != "nothing").then(|| action(text)).transpose()?)
            }
            ["prompt"] => equal(&prompt(game), text),
            ["chips"] => {
                let chips: Vec<String> =
                    public.players.iter().map(|player| player.chips.to_string()).collect();
                equal(&chips.join(" "), text)
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
            ["reads", number] => equal(&reads(game, seat(number)?)?, text),
            ["over"] => {
                let end = public.end.ok_or("the game goes on")?;
                equal(&format!("{} {}", game.ending().unwrap_or_default(), end.winner), text)
            }
            ["awards"] => {
                let end = public.end.ok_or("the game goes on")?;
                let awards: Vec<String> =
                    end.awards.iter().map(|halves| halves.to_string()).collect();
                equal(&awards.join(" "), text)
            }
            ["debts"] => equal(&debts(game)?, text),
            ["counts", "max"] => {
                equal(&TongoAssets::counts_max(&public.rules, public.seats()).to_string(), text)
            }
            ["settled"] => expect_settled(game, text),
            _ => Err(format!("no check is called {what}")),
        }
    }
}

fn turn(public: &Public) -> String {
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

fn prompt(game: &TongoAssets) -> String {
    match game.turn() {
        Turn::Players(prompt) | Turn::Wait(prompt) => {
            format!("{} countdown {} {} ms", prompt.number, prompt.countdown, prompt.countdown_ms)
        }
        Turn::Chance(_) | Turn::Over => "nothing".into(),
    }
}

fn expect_may(game: &TongoAssets, seat: Seat, text: &str, may: bool) -> Told<()> {
    for listed in text.split('|').map(str::trim) {
        let found = game.act(seat, &action(listed)?, &mut Vec::new()).is_ok();
        require(found == may, || format!("{listed} is legal: {found}"))?;
    }
    Ok(())
}

/// The cards at the bottom of a deck.
fn expect_under(deck: impl Iterator<Item = Card>, text: &str) -> Told<()> {
    let (deck, expected) = (deck.collect::<Vec<Card>>(), cards(text)?);
    let from = deck.len().saturating_sub(expected.len());
    equal(&deck.get(from..).map(<[Card]>::to_vec), &Some(expected))
}

/// What a seat sees before it, or by a reveal: `before 4Ra - …`, `look 3 …`, `nothing`.
fn expect_sees(game: &TongoAssets, viewer: &str, text: &str) -> Told<()> {
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
fn reads(game: &TongoAssets, seat: Seat) -> Told<String> {
    let Reading { class, number, colour, wilds } = Reading::of(game.hidden().hands[seat]);
    let word = |value: &Value| value.as_str().unwrap_or("-").to_string();
    let value = |value: Result<Value, serde_json::Error>| value.map_err(|error| error.to_string());
    let class = word(&value(serde_json::to_value(class))?);
    let colour = word(&value(serde_json::to_value::<Option<Colour>>(colour))?);
    Ok(format!("{class} {number} {colour} wilds {wilds}"))
}

/// `1 to 0 pot 40, 2 to 0 pot 3`.
fn debts(game: &TongoAssets) -> Told<String> {
    let outcome = game.outcome().ok_or("the game goes on")?;
    let told: Vec<String> = outcome
        .debts
        .iter()
        .map(|debt| {
            let items: Vec<String> =
                debt.items.iter().map(|item| format!("{} {}", item.name, item.counts)).collect();
            format!("{} to {} {}", debt.from, debt.to, items.join(" and "))
        })
        .collect();
    Ok(if told.is_empty() { "none".into() } else { told.join(", ") })
}

/// `bet 1: -3.00 +11.70 …` without the colon: what the game changes for each seat, after the fee.
fn expect_settled(game: &TongoAssets, text: &str) -> Told<()> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let ["bet", bet, nets @ ..] = words.as_slice() else {
        return Err("bet 1 and what each seat gains".into());
    };
    let bet = bet.parse().ok().and_then(Coins::from_whole).ok_or("whole coins")?;
    let price = Price { bet, multiplier: 1, fee_basis_points: 500 };
    let outcome = game.outcome().ok_or("the game goes on")?;
    let public = game.public();
    let stake = bet.checked_mul(public.rules.latinum).ok_or("a smaller bet")?;
    let stakes: Vec<Coins> = public.players.iter().map(|_| stake).collect();
    let per_bet = TongoAssets::counts_per_bet(&public.rules);
    let settlement = Settlement::new(&outcome, &price, per_bet, &stakes, 0, None);
    let settlement = settlement.ok_or("it does not settle")?;
    let found =
        Seat::all(public.seats()).map(|seat| settlement.net(seat).map(|net| format!("{net:+}")));
    equal(&found.collect::<Option<Vec<String>>>().map(|nets| nets.join(" ")), &Some(nets.join(" ")))
}

/// `advanced bribes=true countdowns.risk_ms=5`: a rule set, `standard` if none is named, and what
/// differs.
fn rules(text: &str) -> Told<Rules> {
    let mut words = text.split_whitespace().peekable();
    let preset = |name: &&str| TongoAssets::rule_sets().iter().find(|set| set.name == *name);
    let named = words.peek().and_then(preset);
    let changes = words.skip(usize::from(named.is_some()));
    let base = named.map_or(Rules::standard(), |set| (set.rules)());
    let mut rules = serde_json::to_value(base).map_err(|error| error.to_string())?;
    for change in changes {
        let (name, value) = change.split_once('=').ok_or("name=value")?;
        let value = serde_json::from_str(value).map_err(|error| error.to_string())?;
        let field = name.split('.').try_fold(&mut rules, |value, name| value.get_mut(name));
        *field.ok_or_else(|| format!("no rule is called {name}"))? = value;
    }
    let rules: Rules = serde_json::from_value(rules).map_err(|error| error.to_string())?;
    rules.check().map_err(|error| error.to_string())?;
    Ok(rules)
}

fn action(text: &str) -> Told<Action> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (words, free) = match words.as_slice() {
        [words @ .., "free"] => (words, true),
        words => (words, false),
    };
    Ok(match words {
        ["open", risk, purchase, sell] => {
            Action::Open { risk: number(risk)?, purchase: number(purchase)?, sell: number(sell)? }
        }
        ["pay"] => Action::Pay,
        ["raise", risk, purchase, sell] => {
            Action::Raise { risk: number(risk)?, purchase: number(purchase)?, sell: number(sell)? }
        }
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
            let slots = slots.iter().map(|slot| number::<u8>(slot)).collect::<Told<Vec<u8>>>()?;
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
        ["bribe", to, "both", chips, cards @ ..] => {
            Action::Bribe { to: seat(to)?, chips: number(chips)?, cards: set(&cards.join(" "))? }
        }
        ["accept"] => Action::Accept,
        ["refuse"] => Action::Refuse,
        _ => return Err(format!("no action is written {text}")),
    })
}

fn number<T: core::str::FromStr>(text: &str) -> Told<T> {
    text.parse().map_err(|_| format!("{text} is not a number"))
}

fn numbers<const N: usize>(text: &str) -> Told<[u32; N]> {
    let read = text.split_whitespace().map(number).collect::<Told<Vec<u32>>>()?;
    read.try_into().map_err(|_| format!("{text} is not {N} numbers"))
}

fn seat(text: &str) -> Told<Seat> {
    text.parse().ok().and_then(Seat::new).ok_or_else(|| format!("{text} is not a seat"))
}

fn seats(text: &str) -> Told<SeatSet> {
    text.split_whitespace().filter(|word| *word != "nobody").map(seat).collect()
}

fn card(text: &str) -> Told<Card> {
    text.parse().map_err(|_| format!("{text} is not a card"))
}

fn cards(text: &str) -> Told<Vec<Card>> {
    text.split_whitespace().filter(|word| *word != "none").map(card).collect()
}

fn set(text: &str) -> Told<CardSet> {
    let cards = cards(text)?;
    let set: CardSet = cards.iter().copied().collect();
    require(usize::from(set.len()) == cards.len(), || format!("{text} names a card twice"))?;
    Ok(set)
}

/// Seven slots, `-` where no asset lies; what is not told is empty.
fn assets(text: &str) -> Told<Assets> {
    let mut assets = Assets::default();
    let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "none").collect();
    require(words.len() <= assets.len(), || "a section has seven slots".into())?;
    for (asset, word) in assets.iter_mut().zip(words) {
        *asset = if word == "-" { None } else { Some(card(word)?) };
    }
    Ok(assets)
}

fn equal<T, E>(found: &T, expected: &E) -> Told<()>
where
    T: PartialEq<E> + core::fmt::Debug,
    E: core::fmt::Debug + ?Sized,
{
    require(found == expected, || format!("found {found:?}, expected {expected:?}"))
}

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Told<()> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
