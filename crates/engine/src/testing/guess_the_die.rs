//! Guess the Die: a small game that only tests play, to prove that a folder and a line of the
//! catalogue suffice to add a game. It differs from Tong-its wherever possible: two to five seats
//! that are all prompted at once, dice during the game, numbers in actions, several payers and
//! several receivers, no cards and possibly no winner.
//!
//! - 1.1 Two to five seats play a number of rounds; all seats are equal, so there is no starter.
//! - 1.2 In each round every seat bets 1 to `bet_max` counts on a face of a die, from 1 to 6.
//! - 1.3 No seat sees another's bet before all have bet. The clock bets 1 on face 1.
//! - 1.4 When all have bet, the die is rolled.
//! - 1.5 A seat that guessed wrong pays its bet to each seat that guessed right.
//! - 1.6 After the last round the seat that guessed right most often wins.
//! - 1.7 If several did, or no seat ever guessed right, nobody wins; all payments remain valid.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::chance::{ChanceAnswer, Request};
use crate::document::{Document, FromDocument, MalformedError};
use crate::game::{
    CounterIncrement, Debt, Describe, Game, GameKind, GameRules, Item, Outcome, Piece, Prompt, Row,
    RuleSet, RulesError, SeatRange, TitledName, Turn, Viewer, require,
};
use crate::games::description::{row, table_row, text_piece, text_pieces};
use crate::seat::{Seat, SeatSet};
use crate::spaces::{Field, SeatRotation, Spaces, Tensor, field};
use crate::testing::{Probe, TestRng};

const FACES: u32 = 6;
const BET_MAX: u32 = 3;
const ROUNDS_MAX: u32 = 20;

/// The parameters of a rule set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rules {
    pub rounds: u32,
    pub bet_max: u32,
    pub bet_ms: u32,
}

const fn rules<const ROUNDS: u32>() -> Rules {
    Rules { rounds: ROUNDS, bet_max: BET_MAX, bet_ms: 8_000 }
}

const RULE_SETS: [RuleSet<Rules>; 2] = [
    RuleSet { name: "short", title: "Two rounds", rules: rules::<2>, hits: None },
    RuleSet { name: "long", title: "Six rounds", rules: rules::<6>, hits: None },
];

/// A bet of a number of counts on a face (rule 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bet {
    pub face: u32,
    pub counts: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Action {
    Bet { bet: Bet },
}

impl FromDocument for Action {
    fn from_document(document: Document) -> Result<Self, MalformedError> {
        document.read()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Event {
    /// A seat has bet; other viewers do not see the bet (rule 1.3).
    Bet { seat: Seat, bet: Option<Bet> },
    /// The die was rolled, with all bets by seat.
    Rolled { face: u32, bets: Vec<Bet> },
}

refusals! {
    /// The reason for which a bet is refused.
    pub enum BetRefusal {
        GameOver => "game_over", "1.6", "the game is over";
        NotAsked => "bet_already", "1.3", "this seat has bet already";
        NoSuchFace => "no_such_face", "1.2", "a die has the faces 1 to 6";
        BetTooSmall => "bet_too_small", "1.2", "a bet is at least 1";
        BetTooLarge => "bet_too_large", "1.2", "the bet is higher than these rules let it be";
    }
}

/// The public state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublicBets {
    pub rules: Rules,
    pub seats: u8,
    /// The number of finished rounds.
    pub rounds: u32,
    pub has_bet: SeatSet,
    /// The number of right guesses by seat.
    pub right: Vec<u32>,
    /// The owed counts by payer and receiver.
    pub owed: Vec<Vec<u32>>,
}

impl PublicBets {
    fn is_over(&self) -> bool {
        self.rounds == self.rules.rounds
    }

    fn prompt(&self) -> Option<Prompt> {
        let seats = SeatSet::first_seats(self.seats).difference(self.has_bet);
        let prompt = Prompt {
            number: self.rounds,
            seats,
            countdown: self.rounds,
            countdown_ms: self.rules.bet_ms,
        };
        (!seats.is_empty() && !self.is_over()).then_some(prompt)
    }

    fn is_asked(&self, seat: Seat) -> bool {
        self.prompt().is_some_and(|prompt| prompt.seats.contains(seat))
    }

    fn apply(&mut self, event: &Event) {
        match event {
            Event::Bet { seat, .. } => self.has_bet = self.has_bet.with(*seat),
            Event::Rolled { face, bets } => {
                let is_right = |seat: &Seat| bets[seat.index()].face == *face;
                for right in Seat::all(self.seats).filter(is_right) {
                    self.right[right.index()] += 1;
                    for wrong in Seat::all(self.seats).filter(|seat| !is_right(seat)) {
                        self.owed[wrong.index()][right.index()] += bets[wrong.index()].counts;
                    }
                }
                self.has_bet = SeatSet::EMPTY;
                self.rounds += 1;
            }
        }
    }

    /// Returns the winner by rules 1.6 and 1.7.
    fn winner(&self) -> Option<Seat> {
        let most = self.right.iter().copied().max().filter(|most| *most > 0)?;
        let mut best = Seat::all(self.seats).filter(|seat| self.right[seat.index()] == most);
        best.next().filter(|_| best.next().is_none())
    }

    fn check(&self, seat: Seat, bet: Bet) -> Result<(), BetRefusal> {
        require(!self.is_over(), BetRefusal::GameOver)?;
        require(self.is_asked(seat), BetRefusal::NotAsked)?;
        require((1..=FACES).contains(&bet.face), BetRefusal::NoSuchFace)?;
        require(bet.counts > 0, BetRefusal::BetTooSmall)?;
        require(bet.counts <= self.rules.bet_max, BetRefusal::BetTooLarge)
    }

    fn legal(&self, seat: Seat, actions: &mut Vec<Action>) {
        if self.is_asked(seat) {
            let bets = (1..=FACES)
                .flat_map(|face| (1..=self.rules.bet_max).map(move |counts| Bet { face, counts }));
            actions.extend(bets.map(|bet| Action::Bet { bet }));
        }
    }
}

/// A game as a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuessTheDie {
    pub public: PublicBets,
    pub bets: Vec<Option<Bet>>,
}

/// The knowledge of one viewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct View {
    pub viewer: Option<Seat>,
    pub public: PublicBets,
    /// The bets by seat, as far as the viewer may see them.
    pub bets: Vec<Option<Bet>>,
}

fn apply_event(bets: &mut [Option<Bet>], event: &Event) {
    match event {
        Event::Bet { seat, bet } => bets[seat.index()] = *bet,
        Event::Rolled { .. } => bets.fill(None),
    }
}

impl GameRules for Rules {
    fn kind(&self) -> &'static str {
        GuessTheDie::NAME
    }

    fn seats(&self) -> SeatRange {
        SeatRange { least: 2, most: 5 }
    }

    fn counts_max(&self, seats: u8) -> u32 {
        self.rounds * self.bet_max * (u32::from(seats) - 1)
    }

    fn check(&self) -> Result<(), RulesError> {
        RulesError::require_in_range("rounds", self.rounds, 1..=ROUNDS_MAX)?;
        RulesError::require_in_range("bet_max", self.bet_max, 1..=BET_MAX)?;
        RulesError::require(self.bet_ms > 0, "bet_ms", "must be at least a millisecond")
    }

    fn countdown_ms(&self) -> RangeInclusive<u32> {
        self.bet_ms..=self.bet_ms
    }
}

impl GuessTheDie {
    /// Returns an action of a seat that is prompted, the same for all views.
    pub fn sample_action(view: &View) -> Option<Action> {
        view.public
            .is_asked(view.viewer?)
            .then_some(Action::Bet { bet: Bet { face: FACES, counts: 1 } })
    }

    fn apply_to_copy(&self, event: Event, events: &mut Vec<Event>) -> Self {
        let mut next = self.clone();
        next.public.apply(&event);
        apply_event(&mut next.bets, &event);
        events.push(event);
        next
    }
}

impl Game for GuessTheDie {
    type Rules = Rules;
    type Action = Action;
    type Event = Event;
    type View = View;
    type Refusal = BetRefusal;

    fn new(rules: &Rules, seats: u8, _starter: Option<Seat>) -> Self {
        let count = usize::from(seats);
        let public = PublicBets {
            rules: *rules,
            seats,
            rounds: 0,
            has_bet: SeatSet::EMPTY,
            right: vec![0; count],
            owed: vec![vec![0; count]; count],
        };
        Self { public, bets: vec![None; count] }
    }

    fn turn(&self) -> Turn {
        match self.public.prompt() {
            Some(prompt) => Turn::Players(prompt),
            None if self.public.is_over() => Turn::Over,
            None => Turn::Chance(Request::Number(FACES)),
        }
    }

    fn legal_actions(&self, seat: Seat, actions: &mut Vec<Action>) {
        self.public.legal(seat, actions);
    }

    fn act(
        &self,
        seat: Seat,
        Action::Bet { bet }: &Action,
        events: &mut Vec<Event>,
    ) -> Result<Self, BetRefusal> {
        self.public.check(seat, *bet)?;
        Ok(self.apply_to_copy(Event::Bet { seat, bet: Some(*bet) }, events))
    }

    fn resolve(&self, answer: &ChanceAnswer, events: &mut Vec<Event>) -> Self {
        let ChanceAnswer::Number(number) = answer else { panic!("a die is a number") };
        let bets = self.bets.iter().map(|bet| bet.expect("the die is rolled when all have bet"));
        self.apply_to_copy(Event::Rolled { face: number + 1, bets: bets.collect() }, events)
    }

    fn default_action(&self, seat: Seat) -> Option<Action> {
        self.public.is_asked(seat).then_some(Action::Bet { bet: Bet { face: 1, counts: 1 } })
    }

    fn outcome(&self) -> Option<Outcome> {
        if !self.public.is_over() {
            return None;
        }
        let mut debts = Vec::new();
        for from in Seat::all(self.public.seats) {
            let owed = Seat::all(self.public.seats).zip(&self.public.owed[from.index()]);
            for (to, &counts) in owed.filter(|(_, counts)| **counts > 0) {
                let items = vec![Item { name: "wrong_guess".into(), rule: "1.5".into(), counts }];
                debts.push(Debt { from, to, items });
            }
        }
        Some(Outcome { winner: self.public.winner(), takes_pot: false, debts })
    }

    fn ending(&self) -> Option<&'static str> {
        let ending = if self.public.winner().is_some() { "best_guess" } else { "nobody" };
        self.public.is_over().then_some(ending)
    }

    fn counts(&self) -> Vec<CounterIncrement> {
        let counted = Seat::all(self.public.seats).filter(|_| self.public.is_over());
        let count = |seat: Seat| {
            let more = self.public.right[seat.index()];
            (more > 0).then_some(CounterIncrement { seat, name: "right_guesses", more })
        };
        counted.filter_map(count).collect()
    }

    fn view(&self, viewer: Viewer) -> View {
        let seats = Seat::all(self.public.seats).zip(&self.bets);
        View {
            viewer: viewer.seat(),
            public: self.public.clone(),
            bets: seats.map(|(seat, bet)| bet.filter(|_| viewer.sees(seat))).collect(),
        }
    }

    fn redact(event: &Event, viewer: Viewer) -> Option<Event> {
        Some(match event {
            Event::Bet { seat, bet } => {
                Event::Bet { seat: *seat, bet: bet.filter(|_| viewer.sees(*seat)) }
            }
            Event::Rolled { .. } => event.clone(),
        })
    }

    fn observe(view: &mut View, event: &Event) {
        view.public.apply(event);
        apply_event(&mut view.bets, event);
    }

    fn prompt_in_view(view: &View) -> Option<Prompt> {
        view.public.prompt()
    }

    fn legal_in_view(view: &View, actions: &mut Vec<Action>) {
        if let Some(seat) = view.viewer {
            view.public.legal(seat, actions);
        }
    }

    fn refusal_in_view(view: &View, Action::Bet { bet }: &Action) -> Option<BetRefusal> {
        view.public.check(view.viewer?, *bet).err()
    }

    /// Returns false, because all seats bet in every round.
    fn is_commitment(_view: &View, _action: &Action) -> bool {
        false
    }
}

impl Describe for GuessTheDie {
    fn describe(view: &View) -> Vec<Row> {
        let bet_row = |seat: Seat| {
            row(seat, "bet", view.bets[seat.index()].into_iter().flat_map(pieces).collect())
        };
        Seat::all(view.public.seats).map(bet_row).collect()
    }

    fn describe_action(Action::Bet { bet }: &Action) -> Vec<Piece> {
        [text_pieces("bets"), pieces(*bet).into()].concat()
    }

    fn describe_event(event: &Event) -> Option<Row> {
        Some(match event {
            Event::Bet { seat, bet } => {
                row(*seat, "bets", bet.iter().flat_map(|bet| pieces(*bet)).collect())
            }
            Event::Rolled { face, .. } => table_row("the die shows", vec![face_piece(*face)]),
        })
    }
}

fn pieces(bet: Bet) -> [Piece; 2] {
    [text_piece(format!("{} on", bet.counts)), face_piece(bet.face)]
}

fn face_piece(face: u32) -> Piece {
    Piece::Token { text: format!("{face}"), is_red: false }
}

/// Numbers a bet by its face and its counts.
impl Spaces for GuessTheDie {
    const FIELDS: &'static [Field] = &[
        field("rounds", 1, 20, "rounds that are over"),
        field("right", 8, 20, "how often each seat guessed right, from the viewer on"),
        field("has_bet", 8, 1, "the seats that have bet in this round"),
    ];

    fn action_names() -> Vec<String> {
        let bets = (1..=FACES).flat_map(|face| (1..=BET_MAX).map(move |counts| (face, counts)));
        bets.map(|(face, counts)| format!("bet {counts} on {face}")).collect()
    }

    fn action_number(_view: &View, Action::Bet { bet }: &Action) -> Option<u16> {
        let place = bet.face.checked_sub(1)? * BET_MAX + bet.counts.checked_sub(1)?;
        u16::try_from(place).ok()
    }

    fn write_tensor(view: &View, tensor: &mut Tensor<'_>) {
        let PublicBets { rounds, seats, .. } = view.public;
        let round = SeatRotation::from_viewer(view.viewer, seats);
        tensor.push_number(rounds);
        round.write_numbers(tensor, |seat| view.public.right[seat.index()]);
        round.write_flags(tensor, view.public.has_bet);
    }
}

impl GameKind for GuessTheDie {
    const NAME: &'static str = "guess_the_die";
    const TITLE: &'static str = "Guess the Die";
    const UNIT: TitledName = TitledName { name: "count", title: "Counts" };
    const ENDINGS: &'static [TitledName] = &[
        TitledName { name: "best_guess", title: "Best guess" },
        TitledName { name: "nobody", title: "Nobody" },
    ];
    const COUNTERS: &'static [TitledName] =
        &[TitledName { name: "right_guesses", title: "Right guesses" }];

    fn rule_sets() -> &'static [RuleSet<Rules>] {
        &RULE_SETS
    }

    fn refusals() -> &'static [BetRefusal] {
        BetRefusal::ALL
    }

    short_events! { Event:
        "bet" => Bet { seat | bet = None },
    }
}

/// The conformance probe of Guess the Die.
#[derive(Clone, Copy, Debug)]
pub struct GuessTheDieProbe;

impl Probe<GuessTheDie> for GuessTheDieProbe {
    fn wild_action(&self, _game: &GuessTheDie, dice: &mut TestRng) -> Action {
        Action::Bet { bet: Bet { face: dice.below(9), counts: dice.below(6) } }
    }

    /// Returns the foreign bets, which are the only secrets, except those that equal the viewer's
    /// own.
    fn hidden_texts(&self, game: &GuessTheDie, viewer: Viewer) -> Vec<String> {
        let own = viewer.seat().and_then(|seat| *game.bets.get(seat.index())?);
        let secret = |bet: &Bet| serde_json::to_string(bet).expect("a bet can be written");
        let foreign = game.bets.iter().flatten().filter(|bet| own != Some(**bet));
        foreign.map(secret).collect()
    }

    fn broken_invariant(&self, game: &GuessTheDie) -> Option<String> {
        let wrong = |seat: usize| game.public.owed[seat][seat] > 0;
        (0..game.bets.len()).any(wrong).then(|| "a seat owes itself".into())
    }
}
