//! Scenarios of Tongo (options), each from the beginning of a turn. `docs/rules/tongo_options.md`
//! explains the notation under "Scenarios".

mod notation;

use std::collections::BTreeSet;

use bahay_engine::chance::ChanceAnswer;
use bahay_engine::game::{Game, Turn};
use bahay_engine::games::tongo_options::{
    Action, BySeat, Card, CardSet, Costs, Dice, Die, GameSetup, Hidden, Payments, Phase,
    PlayerState, PreviousTurn, Rules, ShownHand, TongoOptions,
};
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::testing::legal_actions;

use self::notation::{costs, dice, floor_cards, previous, three_cards, viewer_of};
use super::finds_wrong_lines;
use super::run::{
    CaseResult, Scenario, cards, equal, list, number, owes, play_action, require, seat, seats, set,
};
use crate::support::serialized_name;

/// A position at the beginning of a turn.
#[derive(Default)]
pub struct Position {
    dealer: Option<Seat>,
    turn: Option<Seat>,
    round: Option<u8>,
    costs: Option<Costs>,
    dice: Option<Dice>,
    hands: [CardSet; 8],
    deck: Vec<Card>,
    /// The named cards by floor and slot, and which of them lie face up.
    floors: [Option<([Card; 3], [bool; 3])>; 8],
    free: [Option<[Card; 3]>; 8],
    chips: [Option<u8>; 8],
    previous: [PreviousTurn; 8],
    without_token: SeatSet,
    leveraged: SeatSet,
    folded: SeatSet,
    facing: [u8; 8],
}

impl Scenario for Position {
    type Game = TongoOptions;

    const SHOWN_ELSEWHERE: &'static [&'static str] = &[];

    const RULE_SET: &'static str = "seed";
    const SEATS: u8 = 3;

    fn set_up(&mut self, what: &[&str], text: &str) -> CaseResult<()> {
        match what {
            ["dealer"] => self.dealer = Some(seat(text)?),
            ["turn"] => self.turn = Some(seat(text)?),
            ["round"] => self.round = Some(number(text)?),
            ["costs"] => self.costs = Some(costs(text)?),
            ["dice"] => self.dice = Some(dice(text)?),
            ["hand", who] => self.hands[seat(who)?.index()] = set(text)?,
            ["deck"] => self.deck = cards(text)?,
            ["floor", floor] => self.floors[number::<usize>(floor)?] = Some(floor_cards(text)?),
            ["free", floor] => self.free[number::<usize>(floor)?] = Some(three_cards(text)?),
            ["chips", who] => self.chips[seat(who)?.index()] = Some(number(text)?),
            ["facing", who] => self.facing[seat(who)?.index()] = number(text)?,
            ["previous", who] => self.previous[seat(who)?.index()] = previous(text)?,
            ["no", "token"] => self.without_token = seats(text)?,
            ["leveraged"] => self.leveraged = seats(text)?,
            ["folded"] => self.folded = seats(text)?,
            _ => return Err(format!("no set-up is called {}", what.join(" "))),
        }
        Ok(())
    }

    fn build_game(&self, rules: &Rules, seats: u8) -> CaseResult<TongoOptions> {
        let turn = self.turn.unwrap_or(SEAT_0);
        let start = rules.start_cost.into();
        let highest = rules.dice().iter().map(|(lowest, sides)| lowest + sides - 1);
        let mut setup = GameSetup {
            rules: *rules,
            dealer: self.dealer.unwrap_or(turn.previous(seats)),
            turn,
            round: self.round.unwrap_or(1),
            costs: self.costs.unwrap_or(Costs { buy: start, sell: start, exchange: start }),
            players: self.players(rules, seats)?,
            hands: self.hands.into_iter().take(seats.into()).collect(),
            hidden: Hidden::default(),
            up: [[false, false, true]; 8],
            // Dice that are not named all lie on floor 7, none with a number below its highest.
            dice: self
                .dice
                .unwrap_or_else(|| highest.map(|value| Die { value, place: 14 }).collect()),
        };
        self.complete_hands(&mut setup.hands);
        self.lay(&mut setup);
        setup.build_game().map_err(|error| error.to_string())
    }

    fn action(text: &str) -> CaseResult<Action> {
        notation::action(text)
    }

    /// Also `dice 1@0 5@3 9@7` for the positions of rolled dice; `top KD KH` for the top cards of a
    /// shuffled deck.
    fn play(
        &mut self,
        game: &TongoOptions,
        step: &str,
        refused: Option<&str>,
    ) -> CaseResult<TongoOptions> {
        match step.split_once(' ') {
            Some(("dice", text)) => let_dice_fall(game, &dice(text)?),
            Some(("top", text)) => shuffle(game, &cards(text)?),
            _ => play_action::<Self>(game, step, refused),
        }
    }

    fn turn(game: &TongoOptions) -> String {
        match game.public().phase {
            Phase::Deal => "deal".into(),
            Phase::Stop { seat } => format!("{seat} stop"),
            Phase::Turn(turn) => format!("{} turn", turn.seat),
            Phase::Roll(turn) => format!("{} roll", turn.seat),
            Phase::Shuffle { seat, count, .. } => format!("{seat} draws {count}"),
            Phase::Challenge(challenge) => format!("{} answers {}", challenge.asked, challenge.by),
            Phase::Showdown(_) => "showdown".into(),
            Phase::Over => "over".into(),
        }
    }

    fn expect(game: &TongoOptions, what: &[&str], text: &str) -> CaseResult<()> {
        let public = game.public();
        match what {
            ["may", who] => expect_may(game, seat(who)?, text),
            ["round"] => equal(&public.round.to_string(), text),
            ["dealer"] => equal(&public.dealer, &Some(seat(text)?)),
            ["costs"] => equal(&public.costs, &costs(text)?),
            ["risk"] => equal(&public.risk().to_string(), text),
            ["pot"] => equal(&public.pot.to_string(), text),
            ["chips"] => {
                equal(&list(public.players.iter().map(|player| player.chips), " ", ""), text)
            }
            ["still", "in"] => equal(&public.seats_still_in(), &seats(text)?),
            ["hand", who] => equal(&game.hands()[seat(who)?.index()], &set(text)?),
            ["sees", viewer, "hand", whose] => {
                let hand = game.view(viewer_of(viewer)?).hands[seat(whose)?.index()];
                equal(&hand.map_or("nothing".into(), |hand| hand.to_string()), text)
            }
            ["deck"] => {
                let expected = cards(text)?;
                equal(&game.hidden().deck.get(..expected.len()), &Some(&*expected))
            }
            ["deck", "count"] => equal(&game.hidden().deck.len().to_string(), text),
            ["dice"] => equal(&public.dice, &dice(text)?),
            ["floor", floor] => {
                let floor: usize = number(floor)?;
                let (cards, up) = floor_cards(text)?;
                equal(&game.hidden().floors[floor], &cards)?;
                equal(&public.floors[floor].map(|card| card.is_some()), &up)
            }
            ["free", floor] => {
                equal(&game.hidden().exchanges[number::<usize>(floor)?], &three_cards(text)?)
            }
            ["sees", viewer, "floor", floor] => {
                let view = game.view(viewer_of(viewer)?);
                let cards = view.public.floors[number::<usize>(floor)?];
                let seen = cards.map(|card| card.map_or("-".into(), |card| card.to_string()));
                equal(&seen.join(" "), text)
            }
            ["over"] => {
                let end = public.end.ok_or("the game goes on")?;
                let ending = game.ending().ok_or("it has no ending")?;
                equal(&format!("{ending} {} pot {}", end.winner, end.pot), text)
            }
            ["shown"] => equal(&shown(game), text),
            ["owes", who] => equal(&owes(game, seat(who)?)?, text),
            _ => Err(format!("no check is called {}", what.join(" "))),
        }
    }
}

impl Position {
    fn players(&self, rules: &Rules, seats: u8) -> CaseResult<BySeat<PlayerState>> {
        let player = |seat: Seat| {
            let place = seat.index();
            let all = rules.chips - rules.buy_in;
            let chips = self.chips[place].unwrap_or(all);
            let spent = all.checked_sub(chips).ok_or("more chips than there are")?;
            Ok(PlayerState {
                chips,
                paid: Payments { buy_in: rules.buy_in, rates: spent, ..Payments::default() },
                facing: self.facing[place],
                evade_token: !self.without_token.contains(seat),
                leveraged: self.leveraged.contains(seat),
                folded: self.folded.contains(seat),
                previous: self.previous[place],
            })
        };
        Seat::all(seats).map(player).collect()
    }

    /// Assigns unnamed cards to the hands from the lowest index, and then to the deck.
    fn complete_hands(&self, hands: &mut BySeat<CardSet>) {
        let named = hands.iter().flat_map(|hand| hand.iter()).chain(self.deck.iter().copied());
        let named: CardSet = named.collect();
        let mut left = CardSet::ALL.difference(named).iter();
        for hand in hands.iter_mut() {
            while hand.len() < 4 {
                *hand = hand.with(left.next().expect("the deck has cards for all hands"));
            }
        }
    }

    fn lay(&self, setup: &mut GameSetup) {
        let hands = setup.hands.iter().flat_map(|hand| hand.iter());
        let dealt: CardSet = hands.chain(self.deck.iter().copied()).collect();
        let rest = CardSet::ALL.difference(dealt);
        setup.hidden.deck = self.deck.iter().copied().chain(rest.iter()).collect();
        let named = self.floors.iter().flatten().map(|(cards, _)| cards);
        let named: CardSet = named.chain(self.free.iter().flatten()).flatten().copied().collect();
        // From the highest index, so that unspecified floors differ from hands.
        let unnamed: Vec<Card> = CardSet::ALL.difference(named).iter().collect();
        let mut unnamed = unnamed.into_iter().rev();
        let mut next_three = || [(); 3].map(|()| unnamed.next().expect("48 cards"));
        for (place, given) in self.floors.into_iter().enumerate() {
            setup.hidden.floors[place] = given.map_or_else(&mut next_three, |(cards, _)| cards);
            setup.up[place] = given.map_or(setup.up[place], |(_, up)| up);
        }
        for (place, given) in self.free.into_iter().enumerate() {
            setup.hidden.exchanges[place] = given.unwrap_or_else(&mut next_three);
        }
    }
}

const SEAT_0: Seat = Seat::new(0).expect("every table has seat 0");

fn let_dice_fall(game: &TongoOptions, dice: &Dice) -> CaseResult<TongoOptions> {
    let kinds = game.public().rules.dice();
    require(dice.len() == kinds.len(), || format!("{} dice fall", kinds.len()))?;
    let mut fallen = game.clone();
    for (die, (lowest, _)) in dice.iter().zip(kinds) {
        let value = die.value.checked_sub(*lowest).ok_or("no such value of this die")?;
        for number in [value, die.place] {
            fallen = resolve(&fallen, ChanceAnswer::Number(number.into()))?;
        }
    }
    Ok(fallen)
}

fn shuffle(game: &TongoOptions, top: &[Card]) -> CaseResult<TongoOptions> {
    let deck = &game.hidden().deck;
    let place = |card: &Card| deck.iter().position(|other| other == card);
    let mut order: Vec<usize> =
        top.iter().map(place).collect::<Option<_>>().ok_or("a card is not in the deck")?;
    let rest: Vec<usize> = (0..deck.len()).filter(|place| !order.contains(place)).collect();
    order.extend(rest);
    let order = order.iter().filter_map(|place| u8::try_from(*place).ok()).collect();
    resolve(game, ChanceAnswer::Order(order))
}

fn resolve(game: &TongoOptions, answer: ChanceAnswer) -> CaseResult<TongoOptions> {
    let Turn::Chance(request) = game.turn() else { return Err("no chance is due".into()) };
    require(answer.fits(request), || format!("{request:?} is asked"))?;
    Ok(game.resolve(&answer, &mut Vec::new()))
}

/// Checks the kinds of legal actions, by name: `retreat fold pay_risk`.
fn expect_may(game: &TongoOptions, seat: Seat, text: &str) -> CaseResult<()> {
    let names: BTreeSet<String> = legal_actions(game, seat).iter().map(serialized_name).collect();
    let mut expected: Vec<&str> = text.split_whitespace().collect();
    expected.sort();
    equal(&list(names, " ", ""), &expected.join(" "))
}

/// `1 floor 2 chain 7D, pair KD | 0 floor 0 nothing`.
fn shown(game: &TongoOptions) -> String {
    let one = |shown: &ShownHand| {
        let matches = shown.matches.iter();
        let matches = matches.map(|one| format!("{} {}", serialized_name(&one.class), one.card));
        format!("{} floor {} {}", shown.seat, shown.floor, list(matches, ", ", "nothing"))
    };
    list(game.public().shown.iter().map(one), " | ", "nothing")
}

/// The canary: a scenario that is wrong in any part fails with its position.
#[test]
fn a_wrong_scenario_fails() {
    let position = "case 3.3 canary\ncosts: 1 3 1\nchips 0: 20\n";
    let right = "> 0 stop 2\n> 0 end refused risk_unpaid 3.3\n> 0 pay\n= chips: 18 95 95\n";
    finds_wrong_lines::<Position>(
        position,
        right,
        &[
            ("> 0 pay", "line 4: > 0 pay"),
            ("> 0 stop 2\n> 0 pay refused no_risk 3.3", "it is taken"),
            ("> 0 stop 2\n> 0 end refused risk_unpaid 3.2", "expected \"risk_unpaid 3.2\""),
            ("= turn: 1 stop", "found \"0 stop\""),
            ("= legal 0: stop 0", "legal too"),
            ("= may 0: retreat", "expected \"retreat\""),
            ("= over: confront 0 pot 15", "the game goes on"),
            ("= hand 1: KD", "expected"),
            ("= sees 1 hand 0: AD", "found \"nothing\""),
            ("= floor 0: AD 2D +3D", "expected"),
            ("= colour: red", "no check is called colour"),
            ("> 0 jump", "no action is written jump"),
            ("> dice 1@0 5@1 9@2", "no chance is due"),
            ("hand 1: AD AD", "names a card twice"),
            ("hand 0: KD\nhand 1: KD\n= turn: 0 stop", "in two places"),
            ("dice: 7@0 5@0 9@0\n= turn: 0 stop", "not the dice of the rules"),
            ("chips 0: 99\n= turn: 0 stop", "more chips than there are"),
            ("rules: seed chips=0", "chips"),
            ("", "a case checks nothing"),
        ],
    );
}
