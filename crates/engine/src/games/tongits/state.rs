//! A game of Tong-its as a value: what lies open, the hands, the stock, the unseen answers.
//!
//! Every change is an [`Event`] that is applied to what lies open and to the hands by the same
//! code that follows it in a view. The value is plain arrays: copying it is how an action leaves
//! the old one alone.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::cards::{Card, CardSet};
use crate::chance;
use crate::game::{
    Count, Game, GameKind, Imagined, Outcome, Piece, Prompt, Row, SeatRange, Skill, Turn,
    UnsoundRules, Viewer,
};
use crate::games::tongits::action::{Action, Illegal};
use crate::games::tongits::ahead;
use crate::games::tongits::arrange::deadwood;
use crate::games::tongits::bot;
use crate::games::tongits::describe;
use crate::games::tongits::event::{Answer, BySeat, Ending, Event, Shown, SpecialEnding};
use crate::games::tongits::imagine;
use crate::games::tongits::kind;
use crate::games::tongits::legal;
use crate::games::tongits::meld::{has_secret, is_set};
use crate::games::tongits::phase::{Phase, Public};
use crate::games::tongits::pile::Pile;
use crate::games::tongits::quick;
use crate::games::tongits::rules::{DealDirection, Rules, SEATS};
use crate::games::tongits::score;
use crate::games::tongits::view::View;
use crate::seat::{Seat, SeatSet};

/// Games that are imagined for who is taken over: what `strong` is measured with.
const IMAGINED: u32 = 500;

/// The answers to a fight in the order given; nobody fights alone against itself.
pub type Answers = ArrayVec<(Seat, Answer), { SEATS as usize - 1 }>;

/// A game of Tong-its, from before the deal to its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tongits {
    pub(super) public: Public,
    pub(super) hands: BySeat<CardSet>,
    pub(super) stock: Pile,
    pub(super) answers: Answers,
    /// What the seat whose turn it is drew in this turn, where the rules ask for it (rule 10.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) drawn: Option<Card>,
}

impl Tongits {
    /// What lies open, fights unmasked: see [`Game::view`] for what a viewer may know.
    pub const fn public(&self) -> &Public {
        &self.public
    }

    /// Every hand by seat.
    pub const fn hands(&self) -> &BySeat<CardSet> {
        &self.hands
    }

    pub const fn stock(&self) -> &Pile {
        &self.stock
    }

    /// Applies an event and notes it.
    fn happen(&mut self, event: Event, events: &mut Vec<Event>) {
        self.public.apply(&event);
        self.drawn = event.drawn_after(&self.public.rules, self.drawn);
        for (seat, hand) in Seat::all(SEATS).zip(&mut self.hands) {
            *hand = event.hand_after(seat, *hand);
        }
        events.push(event);
    }

    /// Plays a legal action and whatever follows from it without another's decision.
    fn play(&mut self, seat: Seat, action: &Action, events: &mut Vec<Event>) {
        match *action {
            Action::Draw => self.draw(seat, false, events),
            Action::Chow { cards } => {
                let discard = self.public.discards.top().expect("a legal chow has a discard");
                self.happen(Event::Chowed { seat, discard, cards }, events);
                self.end_if_empty(seat, events);
            }
            Action::Drop { cards, face_down: false } => {
                self.happen(Event::Dropped { seat, cards }, events);
                self.end_if_empty(seat, events);
            }
            Action::Drop { cards, face_down: true } => {
                let count = u8::try_from(cards.len()).expect("no more cards than the deck has");
                self.happen(Event::LaidFaceDown { seat, cards, count }, events);
                self.end_if_empty(seat, events);
            }
            Action::Sapaw { card, meld } => {
                let is_sagasa = self.is_sagasa(seat, card, meld);
                self.happen(Event::Sapawed { seat, card, meld }, events);
                if is_sagasa {
                    self.happen(Event::Sagasa { seat, meld }, events);
                }
                self.end_if_empty(seat, events);
            }
            Action::Dump { card } => self.dump(seat, card, events),
            Action::Tongits => {
                let is_spread = self.public.yet_to_act.contains(seat);
                self.happen(Event::TongitsDeclared { seat }, events);
                let special = is_spread.then_some(SpecialEnding::Spread);
                self.end_by_tongits(seat, special, events);
            }
            Action::Fight => self.fight(seat, events),
            Action::Challenge => self.answer(seat, Answer::Challenge, events),
            Action::Fold => self.answer(seat, Answer::Fold, events),
        }
    }

    fn draw(&mut self, seat: Seat, auto: bool, events: &mut Vec<Event>) {
        let card = self.stock.pop().expect("a turn begins only while there is stock");
        self.happen(Event::Drawn { seat, card: Some(card), auto }, events);
    }

    /// The dump, and then the end of the game or the next turn (rules 3.6, 3.8, 5.1, 3.1).
    fn dump(&mut self, seat: Seat, card: Card, events: &mut Vec<Event>) {
        self.happen(Event::Dumped { seat, card }, events);
        if self.has_nothing_left(seat) {
            self.end_by_tongits(seat, None, events);
        } else if self.stock.is_empty() {
            self.end_by_stock(events);
        } else if let Phase::Draw { seat, .. } = self.public.phase {
            let only_draw = legal::only_draw(&self.public, seat, self.hands[seat.index()]);
            if self.public.rules.auto_draw && only_draw {
                self.draw(seat, true, events);
            }
        }
    }

    /// Asks who may answer; when it is plain that nobody may, the fighter has won (rules 4.2, 4.3).
    fn fight(&mut self, seat: Seat, events: &mut Vec<Event>) {
        let rules = &self.public.rules;
        if rules.zero_count_fight && deadwood(self.hands[seat.index()]) == 0 {
            self.fight_at_zero(seat, events);
            return;
        }
        // What lies face down is seen to be secret.
        let is_seen = |other: &Seat| {
            let melds = &self.public.melds;
            melds.is_open(*other) || rules.secret_may_challenge && melds.has_face_down(*other)
        };
        let holds_secret = |other: &Seat| {
            let hand = self.hands[other.index()];
            rules.secret_may_challenge && has_secret(hand, rules.secret_run_min)
        };
        let asked = seat.others(SEATS).filter(is_seen).collect();
        let asked_secretly =
            seat.others(SEATS).filter(|other| !is_seen(other) && holds_secret(other)).collect();
        self.happen(Event::Fought { seat, asked, asked_secretly }, events);
        self.end_if_answered(false, events);
    }

    /// Nobody is asked (rule 11.2).
    fn fight_at_zero(&mut self, seat: Seat, events: &mut Vec<Event>) {
        let nobody = SeatSet::EMPTY;
        self.happen(Event::Fought { seat, asked: nobody, asked_secretly: nobody }, events);
        let hands = self.show(None);
        let special = Some(SpecialEnding::ZeroCountFight);
        self.end(Ending::Fight, Some(seat), nobody, special, hands, events);
    }

    fn answer(&mut self, seat: Seat, answer: Answer, events: &mut Vec<Event>) {
        self.answers.push((seat, answer));
        self.happen(Event::Answered { seat, answer }, events);
        self.end_if_answered(false, events);
    }

    /// Rules 4.3, 4.4.
    fn end_if_answered(&mut self, is_late: bool, events: &mut Vec<Event>) {
        let Phase::Fight { fighter, asked, asked_secretly, answered } = self.public.phase else {
            return;
        };
        let is_early = self.public.shows_answers_late() && !is_late;
        if is_early || asked.union(asked_secretly) != answered {
            return;
        }
        let challengers: ArrayVec<Seat, { SEATS as usize }> = self
            .answers
            .iter()
            .filter(|(_, answer)| *answer == Answer::Challenge)
            .map(|(seat, _)| *seat)
            .collect();
        let hands = self.show(None);
        let winner = score::showdown_winner(&self.public, &hands, fighter, &challengers);
        let mut showdown: SeatSet = challengers.iter().copied().collect();
        if !showdown.is_empty() {
            showdown = showdown.with(fighter);
        }
        self.end(Ending::Fight, Some(winner), showdown, None, hands, events);
    }

    /// Rule 3.8; jokers that are left do not count (rule 11.1).
    fn has_nothing_left(&self, seat: Seat) -> bool {
        self.hands[seat.index()].naturals().is_empty()
    }

    fn end_if_empty(&mut self, seat: Seat, events: &mut Vec<Event>) {
        if self.has_nothing_left(seat) {
            self.end_by_tongits(seat, None, events);
        }
    }

    /// Whether the card is the drawn fourth one on an own set of three (rule 10.2).
    fn is_sagasa(&self, seat: Seat, card: Card, meld: u8) -> bool {
        if self.drawn != Some(card) || card.is_joker() {
            return false;
        }
        let meld = self.public.melds.open().find(|(number, ..)| *number == meld);
        meld.is_some_and(|(_, cards, owner)| owner == seat && is_set(cards))
    }

    fn end_by_tongits(
        &mut self,
        seat: Seat,
        special: Option<SpecialEnding>,
        events: &mut Vec<Event>,
    ) {
        let hands = self.show(Some(seat));
        self.end(Ending::Tongits, Some(seat), SeatSet::EMPTY, special, hands, events);
    }

    /// Rules 5.1 to 5.3.
    fn end_by_stock(&mut self, events: &mut Vec<Event>) {
        let hands = self.show(None);
        let drew_last = self.public.drew_last.expect("somebody drew the last card");
        let winner = score::stock_winner(&self.public, &hands, drew_last);
        self.end(Ending::Stock, winner, SeatSet::EMPTY, None, hands, events);
    }

    fn end(
        &mut self,
        ending: Ending,
        winner: Option<Seat>,
        showdown: SeatSet,
        special: Option<SpecialEnding>,
        hands: Box<BySeat<Shown>>,
        events: &mut Vec<Event>,
    ) {
        self.happen(Event::Shown { hands }, events);
        self.happen(Event::Over { ending, winner, showdown, special }, events);
    }

    fn show(&self, has_tongits: Option<Seat>) -> Box<BySeat<Shown>> {
        Box::new(core::array::from_fn(|index| {
            let seat = Seat::all(SEATS).nth(index).expect("an index of a seat");
            score::show(&self.public, seat, self.hands[index], has_tongits == Some(seat))
        }))
    }

    /// Deals a shuffled deck (rule 2.3).
    fn deal(&mut self, starter: Seat, deck: &[u8], events: &mut Vec<Event>) {
        let mut deck = deck.iter().map(|index| Card::from_index(*index).expect("a deck of cards"));
        let mut hands = [CardSet::EMPTY; SEATS as usize];
        let mut seat = starter;
        for _ in 0..SEATS * self.public.rules.hand_cards + 1 {
            let hand = &mut hands[seat.index()];
            *hand = hand.with(deck.next().expect("checked rules leave a stock"));
            seat = match self.public.rules.deal {
                DealDirection::Clockwise => seat.previous(SEATS),
                DealDirection::Counterclockwise => seat.next(SEATS),
            };
        }
        // What is left lies with its first card on top, and a pile is listed from the bottom up.
        self.stock = deck.rev().collect();
        let (hands, stock) = (hands.map(Some), Some(self.stock));
        self.happen(Event::Dealt { starter, hands, stock }, events);
    }
}

impl Game for Tongits {
    type Rules = Rules;
    type Action = Action;
    type Event = Event;
    type View = View;
    type Illegal = Illegal;

    fn kind(_rules: &Rules) -> &'static str {
        Self::NAME
    }

    fn seats(_rules: &Rules) -> SeatRange {
        SeatRange::exactly(SEATS)
    }

    fn counts_max(rules: &Rules, _seats: u8) -> u32 {
        rules.counts_max()
    }

    fn may_have_short_stakes(_rules: &Rules) -> bool {
        true
    }

    fn check(rules: &Rules) -> Result<(), UnsoundRules> {
        kind::check(rules)
    }

    fn countdown_ms(rules: &Rules) -> RangeInclusive<u32> {
        rules.countdowns.range_ms()
    }

    fn new(rules: &Rules, _seats: u8, starter: Option<Seat>) -> Self {
        Self {
            public: Public::new(rules, starter.filter(|seat| seat.number() < SEATS)),
            hands: [CardSet::EMPTY; SEATS as usize],
            stock: Pile::EMPTY,
            answers: Answers::new(),
            drawn: None,
        }
    }

    fn turn(&self) -> Turn {
        self.public.turn()
    }

    fn legal_actions(&self, seat: Seat, actions: &mut Vec<Action>) {
        if let Some(hand) = self.hands.get(seat.index()) {
            legal::for_each(&self.public, seat, *hand, |action| actions.push(action));
        }
    }

    fn act(&self, seat: Seat, action: &Action, events: &mut Vec<Event>) -> Result<Self, Illegal> {
        let hand = self.hands.get(seat.index()).copied().unwrap_or_default();
        legal::check(&self.public, seat, hand, action)?;
        let mut next = self.clone();
        next.play(seat, action, events);
        Ok(next)
    }

    fn resolve(&self, answer: &chance::Answer, events: &mut Vec<Event>) -> Self {
        let Turn::Chance(request) = self.turn() else {
            panic!("no chance is due");
        };
        assert!(answer.fits(request), "the answer does not fit the request");
        let mut next = self.clone();
        match (self.public.phase, answer) {
            (Phase::Starter, chance::Answer::Number(number)) => {
                let seat = Seat::all(SEATS).nth(*number as usize).expect("the answer fits");
                next.happen(Event::StarterChosen { seat }, events);
            }
            (Phase::Deal { starter }, chance::Answer::Order(deck)) => {
                next.deal(starter, deck, events);
            }
            (
                Phase::Starter
                | Phase::Deal { .. }
                | Phase::Draw { .. }
                | Phase::Play { .. }
                | Phase::Fight { .. }
                | Phase::Over,
                _,
            ) => unreachable!("the answer fits the request of this phase"),
        }
        next
    }

    fn expire(&self, events: &mut Vec<Event>) -> Self {
        assert!(matches!(self.turn(), Turn::Wait(_)), "somebody is to act, or nothing waits");
        let mut next = self.clone();
        next.end_if_answered(true, events);
        next
    }

    fn default_action(&self, seat: Seat) -> Option<Action> {
        legal::default_action(&self.public, seat, *self.hands.get(seat.index())?)
    }

    fn outcome(&self) -> Option<Outcome> {
        score::outcome(&self.public)
    }

    fn ending(&self) -> Option<&'static str> {
        Some(kind::name_of(self.public.end?.ending))
    }

    fn counts(&self) -> Vec<Count> {
        kind::counts(&self.public)
    }

    fn view(&self, viewer: Viewer) -> View {
        let sees = |seat: Seat| match viewer {
            Viewer::Everything => true,
            Viewer::Seat(own) => own == seat,
            Viewer::Public => false,
        };
        let is_dealt = !matches!(self.public.phase, Phase::Starter | Phase::Deal { .. });
        let mut hands = self.hands.map(Some);
        for (seat, hand) in Seat::all(SEATS).zip(&mut hands) {
            *hand = hand.filter(|_| is_dealt && sees(seat));
        }
        View {
            viewer: match viewer {
                Viewer::Seat(seat) => Some(seat),
                Viewer::Public | Viewer::Everything => None,
            },
            public: self.public.masked(viewer),
            hands,
            answers: self.answers.iter().copied().filter(|(seat, _)| sees(*seat)).collect(),
            drawn: match self.public.phase {
                Phase::Play { seat } => self.drawn.filter(|_| sees(seat)),
                Phase::Starter
                | Phase::Deal { .. }
                | Phase::Draw { .. }
                | Phase::Fight { .. }
                | Phase::Over => None,
            },
            stock: (is_dealt && viewer == Viewer::Everything).then_some(self.stock),
        }
    }

    fn redact(event: &Event, viewer: Viewer) -> Option<Event> {
        event.redacted(viewer)
    }

    fn observe(view: &mut View, event: &Event) {
        view.observe(event);
    }

    fn prompt_in_view(view: &View) -> Option<Prompt> {
        view.prompt()
    }

    fn prompt_for(&self, viewer: Viewer) -> Option<Prompt> {
        match self.public.masked(viewer).turn() {
            Turn::Players(prompt) | Turn::Wait(prompt) => Some(prompt),
            Turn::Chance(_) | Turn::Over => None,
        }
    }

    fn legal_in_view(view: &View, actions: &mut Vec<Action>) {
        if let (Some(seat), Some(hand)) = (view.viewer, view.hand()) {
            legal::for_each(&view.public, seat, hand, |action| actions.push(action));
        }
    }

    fn advise(view: &View) -> Option<Action> {
        bot::advise(view)
    }

    fn advise_by(skill: Skill, view: &View) -> Option<Action> {
        match skill {
            Skill::Greedy => bot::advise(view),
            Skill::Quick => quick::advise(view),
        }
    }

    /// To call a fight.
    fn is_commitment(_view: &View, action: &Action) -> bool {
        matches!(action, Action::Fight)
    }

    fn games_to_imagine(view: &View) -> Option<u32> {
        quick::knows(&view.public.rules).then_some(IMAGINED)
    }

    fn judged(view: &View, quick: &[SeatSet]) -> Vec<(Action, i64)> {
        quick::judged(view, quick)
    }

    fn imagine(view: &View, dice: &mut chance::Dice) -> Option<Self> {
        imagine::game(view, dice)
    }

    fn imagine_likely(
        view: &View,
        heard: &[Event],
        count: u32,
        dice: &mut chance::Dice,
    ) -> Vec<Imagined<Self>> {
        imagine::likely(view, heard, count, dice)
    }

    fn look_ahead(&self, quick: SeatSet, seat: Seat, action: &Action) -> Option<i64> {
        ahead::play_on(self, quick, seat, action)
    }

    fn describe(view: &View) -> Vec<Row> {
        describe::view(view)
    }

    fn describe_action(action: &Action) -> Vec<Piece> {
        describe::action(action)
    }

    fn describe_event(event: &Event) -> Option<Row> {
        describe::event(event)
    }
}
