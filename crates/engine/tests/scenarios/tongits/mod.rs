//! Scenarios of Tong-its. `docs/rules/tongits.md` explains the notation under "Scenarios".

use bahay_engine::cards::{Card, CardSet};
use bahay_engine::game::{Game, Viewer};
use bahay_engine::games::tongits::{
    Action, Arrangement, BySeat, EndingKind, ExposedMeld, GameSetup, Phase, PublicState, Rules,
    SEATS, SetupPhase, SpecialEnding, Tongits,
};
use bahay_engine::seat::{Seat, SeatSet};

use super::finds_wrong_lines;
use super::run::{CaseResult, Scenario, card, cards, equal, list, owes, run, seats, set};

/// A position at the beginning of a draw or play phase.
#[derive(Default)]
pub struct Position {
    turn: Option<(Seat, SetupPhase)>,
    hands: BySeat<CardSet>,
    /// From the top down, as written.
    stock: Vec<Card>,
    /// Unnamed cards lie under the discards, not under the stock.
    is_stock_all: bool,
    discards: Vec<Card>,
    melds: Vec<ExposedMeld>,
    added_to: SeatSet,
    yet_to_act: SeatSet,
    drawn: Option<Card>,
}

impl Scenario for Position {
    type Game = Tongits;

    /// Antes, the starter, the POT, readiness, absence, bots and practice belong to the table; key
    /// derivation and the proof by a record are tested against vectors and by the verifiers.
    const SHOWN_ELSEWHERE: &'static [&'static str] = &[
        "2.1", "2.2", "7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "8.1", "8.4", "8.5", "8.6", "8.7",
        "9.3", "9.5",
    ];

    const RULE_SET: &'static str = "kingdom";
    const SEATS: u8 = SEATS;

    fn set_up(&mut self, what: &[&str], text: &str) -> CaseResult<()> {
        match what {
            ["turn"] => {
                let (number, phase) = text.split_once(' ').ok_or("a seat and draw or play")?;
                let phase = match phase {
                    "draw" => SetupPhase::Draw,
                    "play" => SetupPhase::Play,
                    other => return Err(format!("{other} is neither draw nor play")),
                };
                self.turn = Some((seat(number)?, phase));
            }
            ["hand", number] => self.hands[seat(number)?.index()] = set(text)?,
            ["stock"] => self.stock = cards(text)?,
            ["stock", "only"] => (self.stock, self.is_stock_all) = (cards(text)?, true),
            ["discards"] => self.discards = cards(text)?,
            ["meld", number] => self.melds.push(meld(seat(number)?, text)?),
            ["meld", number, "face", "down"] => {
                let cards = meld(seat(number)?, text)?;
                let face_down = Some(u8::try_from(cards.cards.len()).map_err(|_| "too many")?);
                self.melds.push(ExposedMeld { face_down, ..cards });
            }
            ["added", "to"] => self.added_to = seats(text)?,
            ["yet", "to", "act"] => self.yet_to_act = seats(text)?,
            ["drawn"] => self.drawn = Some(card(text)?),
            _ => return Err(format!("no set-up is called {}", what.join(" "))),
        }
        Ok(())
    }

    fn build_game(&self, rules: &Rules, _seats: u8) -> CaseResult<Tongits> {
        let (turn, phase) = self.turn.ok_or("the case does not say whose turn it is")?;
        let named: CardSet = self.hands.iter().flat_map(|hand| hand.iter()).collect();
        let named =
            self.stock.iter().chain(&self.discards).fold(named, |sum, card| sum.with(*card));
        let named = self.melds.iter().fold(named, |sum, meld| sum.union(meld.cards));
        let unnamed = rules.deck().difference(named);
        let (mut stock, mut discards) = (Vec::new(), Vec::new());
        if self.is_stock_all { &mut discards } else { &mut stock }.extend(unnamed.iter());
        stock.extend(self.stock.iter().rev());
        discards.extend(&self.discards);
        let setup = GameSetup {
            rules: *rules,
            turn,
            phase,
            hands: self.hands,
            stock,
            discards,
            melds: self.melds.clone(),
            added_to: self.added_to,
            yet_to_act: self.yet_to_act,
            drawn: self.drawn,
        };
        setup.game().map_err(|error| error.to_string())
    }

    fn action(text: &str) -> CaseResult<Action> {
        let words: Vec<&str> = text.split_whitespace().collect();
        Ok(match words.as_slice() {
            ["draw"] => Action::Draw,
            ["chow", cards @ ..] => Action::Chow { cards: set(&cards.join(" "))? },
            ["fight"] => Action::Fight,
            ["drop", cards @ .., "face", "down"] => {
                Action::Drop { cards: set(&cards.join(" "))?, face_down: true }
            }
            ["drop", cards @ ..] => {
                Action::Drop { cards: set(&cards.join(" "))?, face_down: false }
            }
            ["sapaw", added, "on", meld] => Action::Sapaw {
                card: card(added)?,
                meld: meld.parse().map_err(|_| format!("{meld} is not the number of a meld"))?,
            },
            ["dump", dumped] => Action::Dump { card: card(dumped)? },
            ["tongits"] => Action::Tongits,
            ["challenge"] => Action::Challenge,
            ["fold"] => Action::Fold,
            _ => return Err(format!("no action is written {text}")),
        })
    }

    fn turn(game: &Tongits) -> String {
        match game.public().phase {
            Phase::Starter => "starter".into(),
            Phase::Deal { .. } => "deal".into(),
            Phase::Draw { seat, .. } => format!("{seat} draw"),
            Phase::Play { seat } => format!("{seat} play"),
            Phase::Fight { fighter, .. } => format!("{fighter} fight"),
            Phase::Over => "over".into(),
        }
    }

    fn expect(game: &Tongits, what: &[&str], text: &str) -> CaseResult<()> {
        match what {
            ["asked", number] => {
                let view = game.view(Viewer::Seat(seat(number)?));
                let seen = Tongits::prompt_in_view(&view).map(|prompt| prompt.seats);
                equal(&seen, &Some(seats(text)?))
            }
            ["hand", number] => equal(&game.hands()[seat(number)?.index()], &set(text)?),
            ["hands"] => equal(&list(game.public().hand_counts, " ", ""), text),
            ["stock"] => {
                let top: Vec<Card> = game.stock().cards().iter().rev().copied().collect();
                let expected = cards(text)?;
                equal(&top.get(..expected.len()).map(<[Card]>::to_vec), &Some(expected))
            }
            ["stock", "count"] => equal(&game.stock().len().to_string(), text),
            ["discards"] => equal(&game.public().discards.cards().last(), &cards(text)?.last()),
            ["meld", number] => {
                let found = nth_meld(game.public(), number)?;
                let sagasa = text.ends_with(" sagasa");
                let cards = text.strip_suffix(" sagasa").unwrap_or(text);
                equal(&found, &ExposedMeld { sagasa, ..meld(found.owner, cards)? })
            }
            ["meld", number, "face", "down"] => {
                let found = nth_meld(game.public(), number)?;
                let expected = meld(found.owner, text)?;
                let count = u8::try_from(expected.cards.len()).ok();
                equal(&found, &ExposedMeld { face_down: count, ..expected })
            }
            ["seen", number, "by", viewer] => {
                let viewer = match *viewer {
                    "public" => Viewer::Public,
                    viewer => Viewer::Seat(seat(viewer)?),
                };
                let found = nth_meld(&game.view(viewer).public, number)?;
                let count = found.face_down.map(|count| format!("{count} face down"));
                let cards = if found.cards.is_empty() { "" } else { ": " };
                let seen = format!("{}{cards}{}", count.unwrap_or_default(), found.cards);
                equal(&seen, text)
            }
            ["open"] => {
                let open = Seat::all(SEATS).filter(|seat| game.public().melds.is_open(*seat));
                equal(&open.collect::<SeatSet>(), &seats(text)?)
            }
            ["arrangement", number] => {
                let secret_run_min = game.public().rules.secret_run_min;
                let hand = game.hands()[seat(number)?.index()];
                let arrangement = Arrangement::from_hand(hand, secret_run_min);
                expect_arrangement(&arrangement, text)
            }
            ["over"] => equal(&over(game)?, text),
            ["burned"] => equal(&burned(game)?, &seats(text)?),
            ["points"] => {
                let shown = game.public().shown.as_ref().ok_or("no hand is shown")?;
                equal(&list(shown.iter().map(|shown| shown.points), " ", ""), text)
            }
            ["takes", "pot"] => {
                let outcome = game.outcome().ok_or("the game goes on")?;
                equal(&String::from(if outcome.takes_pot { "yes" } else { "no" }), text)
            }
            ["owes", number] => equal(&owes(game, seat(number)?)?, text),
            _ => Err(format!("no check is called {}", what.join(" "))),
        }
    }
}

fn nth_meld(public: &PublicState, number: &str) -> CaseResult<ExposedMeld> {
    let place: usize = number.parse().map_err(|_| "the number of a meld")?;
    public.melds.iter().nth(place).ok_or_else(|| "there is no such meld".into())
}

/// `7C 7D 7H | 8H 9H TH / KS deadwood 10`.
fn expect_arrangement(arrangement: &Arrangement, text: &str) -> CaseResult<()> {
    let (text, deadwood) = text.split_once("deadwood").ok_or("deadwood must be told")?;
    let (melds, leftover) = text.split_once('/').unwrap_or((text, ""));
    let melds = melds.split('|').map(set).collect::<CaseResult<Vec<CardSet>>>()?;
    let melds: Vec<CardSet> = melds.into_iter().filter(|meld| !meld.is_empty()).collect();
    equal(&arrangement.melds.to_vec(), &melds)?;
    equal(&arrangement.leftover, &set(leftover)?)?;
    equal(&arrangement.deadwood.to_string(), deadwood.trim())
}

/// `fight 1 showdown 1 2`, `stock nobody`.
fn over(game: &Tongits) -> CaseResult<String> {
    let end = game.public().end.ok_or("the game goes on")?;
    let ending = match (end.special, end.ending) {
        (Some(SpecialEnding::Spread), _) => "spread",
        (Some(SpecialEnding::ZeroCountFight), _) => "zero-count fight",
        (None, EndingKind::Tongits) => "tongits",
        (None, EndingKind::Fight) => "fight",
        (None, EndingKind::Stock) => "stock",
    };
    let winner = end.winner.map_or("nobody".into(), |seat| seat.to_string());
    let showdown: String = end.showdown.iter().map(|seat| format!(" {seat}")).collect();
    let showdown = if showdown.is_empty() { showdown } else { format!(" showdown{showdown}") };
    Ok(format!("{ending} {winner}{showdown}"))
}

fn burned(game: &Tongits) -> CaseResult<SeatSet> {
    let shown = game.public().shown.as_ref().ok_or("no hand is shown")?;
    let seats = Seat::all(SEATS).zip(shown.iter());
    Ok(seats.filter(|(_, shown)| shown.burned).map(|(seat, _)| seat).collect())
}

/// `5H 6H 7H 1:8H`: the owner's cards, and those that others added.
fn meld(owner: Seat, text: &str) -> CaseResult<ExposedMeld> {
    let mut by = [CardSet::EMPTY; SEATS as usize];
    for word in text.split_whitespace() {
        let (who, put) = match word.split_once(':') {
            Some((who, put)) => (seat(who)?, put),
            None => (owner, word),
        };
        by[who.index()] = by[who.index()].with(card(put)?);
    }
    let cards = by.iter().fold(CardSet::EMPTY, |sum, by| sum.union(*by));
    Ok(ExposedMeld { owner, cards, by, face_down: None, sagasa: false })
}

fn seat(text: &str) -> CaseResult<Seat> {
    let number = text.parse().ok().filter(|number| *number < SEATS);
    number.and_then(Seat::new).ok_or_else(|| format!("{text} is not a seat"))
}

/// The canary: a scenario that is wrong in any part fails with its position.
#[test]
fn a_wrong_scenario_fails() {
    let position = "case 3.6 canary\nturn: 0 play\nhand 0: 8H 9H 2D\nhand 1: 2C\nhand 2: 3C\n\
                    meld 1: 5H 6H 7H\n";
    let right = "> 0 dump 8H refused card_addable 3.6\n> 0 dump 9H\n= turn: 1 draw\n";
    finds_wrong_lines::<Position>(
        position,
        right,
        &[
            ("> 0 dump 8H", "line 7: > 0 dump 8H"),
            ("> 0 dump 8H refused card_addable 3.5", "expected \"card_addable 3.5\""),
            ("> 0 dump 9H refused card_addable 3.6", "it is taken"),
            ("= turn: 1 draw", "found \"0 play\""),
            ("= legal 0: dump 9H", "expected"),
            ("= over: tongits 0", "the game goes on"),
            ("= hand 1: 2C 3C", "expected"),
            ("= colour: red", "no check is called colour"),
            ("> 0 jump 9H", "no action is written jump 9H"),
            ("hand 1: 4C", "a case checks nothing"),
            ("", "a case checks nothing"),
        ],
    );
    let opened = "case 9.1 canary\nopened: luck - swerte\n> 0 reveal luck\n";
    let right = "= phase: revealing asked 2 revealed 0";
    finds_wrong_lines::<Position>(
        opened,
        right,
        &[
            ("= phase: playing", "found \"revealing asked 2 revealed 0\""),
            ("= dealt with: luck zeros swerte", "it is not dealt"),
            ("> 2 reveal luck", "other_seed_text 9.1"),
            ("> 2 reveal luck refused other_seed_text 9.2", "expected \"other_seed_text 9.2\""),
            ("> 2 reveal swerte refused other_seed_text 9.1", "it is taken"),
            (
                "> 2 reveal swerte\n= dealt with: luck zeros commitment",
                "found \"luck zeros swerte\"",
            ),
            ("> waits 1999\n= phase: playing", "found \"revealing asked 2 revealed 0\""),
            ("> 2 jump", "nobody does jump at a table"),
        ],
    );
    for (set_up, complaint) in [
        ("case 3.6 twice\nturn: 0 play\nhand 0: 2C\nhand 1: 2C\nhand 2: 3C\n= turn: 0 play", "two"),
        ("case 3.6 none\nturn: 0 play\nhand 0: 2C\nhand 1: 4C\n= turn: 0 play", "no cards"),
        ("case 3.6 meld\nturn: 0 play\nmeld 0: 2C 4C\n= turn: 0 play", "not a meld"),
    ] {
        let failure = run::<Position>(set_up).expect_err(set_up);
        assert!(failure.contains(complaint), "{set_up}: {failure}");
    }
}
