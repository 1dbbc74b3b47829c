//! The public state of a game, and its update by events. In addition a player knows only its own
//! hand, so the legality of actions depends on these two alone.
//!
//! The game and each viewer's view hold a [`PublicState`] and update it by the same
//! [`PublicState::apply`], so that a view cannot drift from the game.
//!
//! Hands, discards, the player deck, and every face-down options card, even one that was face up
//! before (rule 3.6), are deliberately absent.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::game::Prompt;
use crate::games::list::BySeat;
use crate::games::tongo_options::card::{Card, CardSet};
use crate::games::tongo_options::dice::Dice;
use crate::games::tongo_options::event::{ChallengeAnswer, Event, ShownHand};
use crate::games::tongo_options::phase::{
    Challenge, Costs, GameEnding, Phase, Showdown, Step, TurnState,
};
use crate::games::tongo_options::player::{PaymentPurpose, PlayerState};
use crate::games::tongo_options::rules::{FLOORS, Rules, SLOTS};
use crate::seat::{Seat, SeatSet};

/// The face-up cards of each floor by slot; `None` for a face-down card.
pub type Floors = [[Option<Card>; SLOTS as usize]; FLOORS as usize];

/// The public state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsPublic"))]
pub struct PublicState {
    pub rules: Rules,
    /// The winner of the last game, or a seat by chance (rule 2.1).
    pub dealer: Option<Seat>,
    pub phase: Phase,
    /// The number of the current prompt; see [`Prompt`].
    pub prompt: u32,
    /// The number of the running countdown; see [`Prompt`].
    pub countdown: u32,
    /// The number of the round, from 1 (rule 4.2).
    pub round: u8,
    pub costs: Costs,
    pub pot: u16,
    pub players: BySeat<PlayerState>,
    pub floors: Floors,
    pub dice: Dice,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserves: Option<Reserves>,
    /// The hands of a showdown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<ShownHand>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<GameResult>,
}

/// Converted reserves (chapter 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoOptionsReserves"))]
pub struct Reserves {
    pub by: Seat,
    /// The wager of the seats that answer, as far as they have the chips.
    pub wager: u8,
}

/// The result of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TongoOptionsEnd"))]
pub struct GameResult {
    pub ending: GameEnding,
    pub winner: Seat,
    pub pot: u16,
}

impl PublicState {
    pub(super) fn new(rules: &Rules, seats: u8, dealer: Option<Seat>) -> Self {
        let start = u16::from(rules.start_cost);
        let mut players: BySeat<PlayerState> =
            Seat::all(seats).map(|_| PlayerState::new(rules.chips)).collect();
        for player in players.iter_mut() {
            player.pay(rules.buy_in, |paid| &mut paid.buy_in);
        }
        Self {
            rules: *rules,
            dealer,
            phase: Phase::Deal,
            prompt: 0,
            countdown: 0,
            round: 1,
            costs: Costs { buy: start, sell: start, exchange: start },
            pot: u16::from(rules.buy_in) * u16::from(seats),
            players,
            floors: Floors::default(),
            dice: Dice::new(),
            reserves: None,
            shown: Vec::new(),
            end: None,
        }
    }

    /// Returns the number of seats.
    pub fn seats(&self) -> u8 {
        u8::try_from(self.players.len()).expect("a table has at most eight seats")
    }

    /// Returns the seats that have not folded.
    pub fn seats_still_in(&self) -> SeatSet {
        let seats = Seat::all(self.seats());
        seats.filter(|seat| !self.player(*seat).folded).collect()
    }

    /// Returns the risk (rule 1.6); zero once reserves were converted (rule 5.1).
    pub fn risk(&self) -> u16 {
        if self.reserves.is_some() { 0 } else { self.costs.sell.saturating_sub(self.costs.buy) }
    }

    /// Returns the face-up cards of each floor.
    pub fn face_up_cards(&self) -> [CardSet; FLOORS as usize] {
        self.floors.map(|floor| floor.into_iter().flatten().collect())
    }

    /// Returns the open prompt; `None` while chance decides and when the game is over.
    pub fn prompt(&self) -> Option<Prompt> {
        let countdowns = &self.rules.countdowns;
        let (seat, countdown_ms) = match self.phase {
            Phase::Stop { seat } => (seat, countdowns.stop_ms),
            Phase::Turn(turn) => (turn.seat, countdowns.turn_ms),
            Phase::Challenge(challenge) => (challenge.asked, countdowns.answer_ms),
            variants!(Phase: Deal, Roll, Shuffle, Showdown, Over) => return None,
        };
        let number = self.prompt;
        let seats = SeatSet::only(seat);
        Some(Prompt { number, seats, countdown: self.countdown, countdown_ms })
    }

    /// Returns the progress of the turn, if a seat has to continue its turn.
    pub(super) const fn turn(&self) -> Option<TurnState> {
        if let Phase::Turn(turn) = self.phase { Some(turn) } else { None }
    }

    /// Returns the confronted seat while a confrontation is answered.
    pub(super) const fn target(&self) -> Option<Seat> {
        if let Phase::Challenge(challenge) = self.phase { challenge.target } else { None }
    }

    /// Returns the facing floor of the turn.
    pub(super) fn facing_floor(&self) -> Option<u8> {
        self.turn().map(|turn| turn.floor)
    }

    /// Returns the public state of a seat.
    pub fn player(&self, seat: Seat) -> &PlayerState {
        &self.players[seat.index()]
    }

    /// Updates the public state by an event, complete or redacted.
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::Dealt { dealer, up, dice, .. } => {
                self.dealer = Some(*dealer);
                self.dice = *dice;
                for (floor, card) in self.floors.iter_mut().zip(up) {
                    floor[usize::from(SLOTS) - 1] = Some(*card);
                }
                self.start_prompt(Phase::Stop { seat: dealer.next(self.seats()) });
            }
            Event::Stopped { seat, floor } => {
                self.player_mut(*seat).facing = *floor;
                self.start_prompt(Phase::Turn(TurnState::new(*seat, *floor)));
            }
            Event::RiskPaid { seat, chips } => {
                self.pay(*seat, *chips, |paid| &mut paid.risk);
                self.continue_turn(|turn| turn.step = Step::Begun);
            }
            Event::Retreated { seat } => {
                self.player_mut(*seat).begin_previous().retreated = true;
                self.pass_turn(*seat);
            }
            Event::Folded { seat } => self.fold(*seat),
            Event::CostsChanged { seat, how, costs, chips } => {
                let old = core::mem::replace(&mut self.costs, *costs);
                self.pay(*seat, *chips, |paid| &mut paid.rates);
                self.continue_turn(|turn| turn.change_costs(*how, &old, costs));
            }
            Event::Bought { seat, slot, card, chips, leverage } => {
                self.turn_card(*slot, Some(*card));
                self.record_trade(*seat, *chips, *leverage, |paid| &mut paid.buys);
                self.continue_turn(|turn| turn.bought = true);
            }
            Event::Sold { seat, slot, chips, leverage } => {
                self.turn_card(*slot, None);
                self.record_trade(*seat, *chips, *leverage, |paid| &mut paid.sells);
                self.continue_turn(|turn| turn.sold = true);
            }
            Event::Exchanged { seat, chips, leverage, .. } => {
                self.record_trade(*seat, *chips, *leverage, |paid| &mut paid.exchanges);
                self.continue_turn(|turn| turn.exchanged = true);
            }
            Event::Rolling { .. } => {
                if let Phase::Turn(turn) = self.phase {
                    self.phase = Phase::Roll(TurnState { step: Step::Rolled, ..turn });
                }
            }
            Event::Rolled { dice, .. } => {
                self.dice = *dice;
                if let Phase::Roll(turn) = self.phase {
                    self.phase = Phase::Turn(turn);
                    self.prompt += 1;
                }
            }
            Event::Evaded { seat, token, chips, count, .. } => {
                self.evade(*seat, *token, *chips, *count);
            }
            Event::Drew { .. } => {
                if let Phase::Shuffle { turn, .. } = self.phase {
                    self.pass_turn(turn);
                }
            }
            Event::ReservesConverted { seat, wager } => {
                self.reserves.get_or_insert(Reserves { by: *seat, wager: *wager });
                self.continue_turn(|turn| turn.convert_reserves(*wager));
            }
            Event::Confronted { seat, target } => self.confront(*seat, *target),
            Event::Acquired { seat, .. } => {
                let by = *seat;
                let joined = SeatSet::EMPTY;
                self.ask_next(Challenge { by, target: None, asked: by, joined });
            }
            Event::Answered { seat, answer, chips } => self.apply_answer(*seat, *answer, *chips),
            Event::Ended { seat, chips } => {
                self.pay(*seat, *chips, |paid| &mut paid.reserves);
                self.player_mut(*seat).begin_previous();
                self.pass_turn(*seat);
            }
            Event::Shown { hands } => self.shown.clone_from(hands),
            Event::Over { ending, winner, pot } => {
                self.phase = Phase::Over;
                self.end = Some(GameResult { ending: *ending, winner: *winner, pot: *pot });
            }
        }
    }

    fn player_mut(&mut self, seat: Seat) -> &mut PlayerState {
        &mut self.players[seat.index()]
    }

    /// Starts a new prompt in a new countdown.
    fn start_prompt(&mut self, phase: Phase) {
        self.phase = phase;
        self.prompt += 1;
        self.countdown += 1;
    }

    /// Continues the turn with a new prompt in the running countdown.
    fn continue_turn(&mut self, change: impl FnOnce(&mut TurnState)) {
        if let Phase::Turn(turn) = &mut self.phase {
            change(turn);
        }
        self.prompt += 1;
    }

    fn pay(&mut self, seat: Seat, chips: u8, purpose: PaymentPurpose) {
        self.player_mut(seat).pay(chips, purpose);
        self.pot += u16::from(chips);
        if let Phase::Turn(TurnState { wager: Some(wager), .. }) = &mut self.phase {
            *wager -= chips;
        }
    }

    /// Turns a card of the facing floor.
    fn turn_card(&mut self, slot: u8, card: Option<Card>) {
        if let Phase::Turn(turn) = self.phase {
            self.floors[usize::from(turn.floor)][usize::from(slot)] = card;
        }
    }

    fn record_trade(&mut self, seat: Seat, chips: u8, leverage: bool, purpose: PaymentPurpose) {
        self.pay(seat, chips, purpose);
        self.player_mut(seat).leveraged |= leverage;
        if let Phase::Turn(turn) = &mut self.phase {
            turn.step = Step::Traded;
        }
    }

    /// Folds a seat (rules 3.2, 5.2, 6.2 and 7.1).
    fn fold(&mut self, seat: Seat) {
        self.player_mut(seat).folded = true;
        match self.phase {
            Phase::Turn(_) => self.pass_turn(seat),
            Phase::Challenge(challenge) => self.ask_next(challenge),
            variants!(Phase: Deal, Stop, Roll, Shuffle, Showdown, Over) => {}
        }
    }

    /// Records an evasion (rules 3.2, 3.5 and 6.2).
    fn evade(&mut self, seat: Seat, token: bool, chips: u8, count: u8) {
        self.pay(seat, chips, |paid| &mut paid.evasion);
        self.player_mut(seat).evade_token &= !token;
        let turn = if let Phase::Challenge(Challenge { by, .. }) = self.phase {
            self.player_mut(seat).previous.evaded = true;
            self.player_mut(by).begin_previous().confronted = true;
            by
        } else {
            let previous = self.player_mut(seat).begin_previous();
            (previous.evaded, previous.paid_to_evade) = (token, !token);
            seat
        };
        if count == 0 {
            self.pass_turn(turn);
        } else {
            self.phase = Phase::Shuffle { seat, count, turn };
        }
    }

    fn confront(&mut self, by: Seat, target: Seat) {
        let challenge = Challenge { by, target: Some(target), asked: by, joined: SeatSet::EMPTY };
        if self.player(target).may_evade_by_token() {
            self.start_prompt(Phase::Challenge(Challenge { asked: target, ..challenge }));
        } else {
            self.ask_next(challenge);
        }
    }

    fn apply_answer(&mut self, seat: Seat, answer: ChallengeAnswer, chips: u8) {
        self.pay(seat, chips, |paid| &mut paid.answer);
        if let Phase::Challenge(mut challenge) = self.phase {
            match answer {
                // The others are prompted after the target, from the left of the challenger.
                ChallengeAnswer::Stand => challenge.asked = challenge.by,
                ChallengeAnswer::Join | ChallengeAnswer::Confront => {
                    challenge.joined = challenge.joined.with(seat)
                }
            }
            self.ask_next(challenge);
        }
    }

    /// Prompts the next seat from the left of the challenger after the one that was prompted last,
    /// or begins the showdown.
    fn ask_next(&mut self, challenge: Challenge) {
        let Challenge { by, target, asked, joined } = challenge;
        let seats = self.seats();
        let answered = (asked.number() + seats - by.number()) % seats;
        let still_in = self.seats_still_in();
        let mut left = by.others(seats).skip(usize::from(answered));
        if let Some(asked) = left.find(|seat| Some(*seat) != target && still_in.contains(*seat)) {
            self.start_prompt(Phase::Challenge(Challenge { asked, ..challenge }));
            return;
        }
        let ending = if target.is_some() { GameEnding::Confront } else { GameEnding::Acquire };
        let seats = target.into_iter().fold(joined.with(by), SeatSet::with);
        self.phase = Phase::Showdown(Showdown { by, seats, ending });
    }

    /// Passes the turn, or begins the showdown (rules 2.2, 4.1, 4.2 and 5.3).
    fn pass_turn(&mut self, after: Seat) {
        let seats = self.seats();
        let still_in = self.seats_still_in();
        let mut order = after.others(seats).chain([after]);
        let next = order.find(|seat| still_in.contains(*seat)).expect("somebody is in");
        let steps = (next.number() + seats - after.number() - 1) % seats + 1;
        let first = self.dealer.map(|dealer| dealer.next(seats));
        let mut passed = after.others(seats).take(usize::from(steps));
        let is_new_round = passed.any(|seat| Some(seat) == first);
        let ending = if still_in.len() == 1 {
            Some(GameEnding::LastIn)
        } else if let Some(reserves) = self.reserves {
            (reserves.by == next).then_some(GameEnding::Reserves)
        } else {
            (is_new_round && self.round >= self.rules.rounds_max).then_some(GameEnding::Rounds)
        };
        if let Some(ending) = ending {
            self.phase = Phase::Showdown(Showdown { by: next, seats: still_in, ending });
        } else {
            self.round = self.round.saturating_add(u8::from(is_new_round));
            self.start_prompt(Phase::Stop { seat: next });
        }
    }
}
