//! The public state of a game, and its update by events.
//!
//! The game and each viewer's view hold a [`PublicState`] and update it by the same
//! [`PublicState::apply`], so that a view cannot drift from the game. The next prompt follows from
//! the public state alone, so the order of the phases is defined here too:
//!
//! `Dealer` → `Assets` → `Acquires` → `Deal` (chance) → per round `Open` → `Risk` of each seat →
//! `Stop` (chance) → `Assess` of each seat → the next round. From an assessment, or from `Open`
//! after the last round, to `Confront` → `Showdown` → `Over`, or, if the confront fails, over
//! `Debts` back to `Open`. When one seat is left: `LastIn` → `Over`. `Showdown` and `LastIn` never
//! wait.
//!
//! Face-down cards are deliberately absent.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use crate::chance::Request;
use crate::game::{Prompt, Turn};
use crate::games::tongo_assets::card::{ACQUIRES, ASSETS};
use crate::games::tongo_assets::event::{AcquireDestination, Event, Face};
use crate::games::tongo_assets::phase::{GameResult, Offer, Phase, PlayerState, ShownHand};
use crate::games::tongo_assets::ring::Ring;
use crate::games::tongo_assets::rules::{ACQUIRE_SLOTS, DEALT, Rules, SLOTS};
use crate::games::tongo_assets::slots::{Section, SlotSet};
use crate::seat::{Seat, SeatSet};

/// The public state. Amounts are in chips.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TongoAssetsPublic"))]
pub struct PublicState {
    pub rules: Rules,
    pub phase: Phase,
    /// The number of the current prompt; see [`Prompt`].
    pub prompt: u32,
    /// The number of the running countdown; see [`Prompt`].
    pub countdown: u32,
    /// The number of paid openings (rule 6.4).
    pub rounds: u8,
    /// The opener of this round, or the dealer (rule 2.1).
    pub opener: Option<Seat>,
    /// The rotation of the table (rule 1.6).
    pub rotation: u8,
    pub risk: u32,
    pub purchase: u32,
    pub sell: u32,
    /// The number of raises in this round of risking, or in this confront.
    pub raises: u8,
    /// The risk before this confront's first margin (rule 4.4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unindexed: Option<u32>,
    pub pot: u32,
    /// The seats that have not retreated.
    pub playing: SeatSet,
    pub players: Ring<PlayerState>,
    pub sections: Ring<Section>,
    pub asset_deck: u8,
    pub acquire_deck: u8,
    /// The pending bribe (rule 4.6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<Offer>,
    /// True if the seat has already offered a bribe before this decision (rule 4.6).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub offered: bool,
    /// The shown hands by seat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Box<Ring<Option<ShownHand>>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<GameResult>,
}

impl PublicState {
    pub(super) fn new(rules: &Rules, seats: u8, dealer: Option<Seat>) -> Self {
        let mut players = Ring::<PlayerState>::new(seats);
        for player in players.as_mut_slice() {
            player.chips = rules.latinum;
        }
        Self {
            rules: *rules,
            phase: if dealer.is_some() { Phase::Assets } else { Phase::Dealer },
            prompt: 0,
            countdown: 0,
            rounds: 0,
            opener: dealer,
            rotation: 0,
            risk: 0,
            purchase: 0,
            sell: 0,
            raises: 0,
            unindexed: None,
            pot: 0,
            playing: SeatSet::first_seats(seats),
            players,
            sections: Ring::new(rules.sections),
            asset_deck: ASSETS,
            acquire_deck: ACQUIRES,
            offer: None,
            offered: false,
            shown: None,
            end: None,
        }
    }

    pub fn seats(&self) -> u8 {
        self.players.as_slice().len().to_le_bytes()[0]
    }

    /// Returns the section before a seat (rule 1.6).
    pub fn section_of(&self, seat: Seat) -> u8 {
        self.section_at(seat, self.rotation)
    }

    /// Returns the section before a seat once the table is turned by this rotation (rule 1.6).
    pub(super) fn section_at(&self, seat: Seat, rotation: u8) -> u8 {
        let place = seat.number() * self.rules.sections / self.seats().max(1);
        (place + rotation) % self.rules.sections
    }

    /// Returns whether no more openings are paid (rule 6.4).
    pub const fn is_last(&self) -> bool {
        self.rounds >= self.rules.rounds_max
    }

    /// Returns the minimum and the maximum of the next opening risk (rules 2.1 and 3.7).
    pub const fn opening_risk(&self) -> (u32, u32) {
        if self.rounds == 0 {
            (1, self.rules.opening_max)
        } else {
            (self.risk, self.risk.saturating_add(self.rules.raise_max))
        }
    }

    /// Returns the cost of an evasion (rule 4.1).
    pub const fn evasion_cost(&self) -> u32 {
        self.purchase.saturating_mul(3).div_ceil(2)
    }

    /// Returns the first seat still in after this one.
    pub fn next_playing_seat(&self, seat: Seat) -> Option<Seat> {
        let others = seat.others(self.seats());
        others.chain([seat]).find(|other| self.playing.contains(*other))
    }

    pub fn turn(&self) -> Turn {
        let countdowns = &self.rules.countdowns;
        let (seat, countdown_ms) = match self.phase {
            Phase::Dealer => return Turn::Chance(Request::Number(u32::from(self.seats()))),
            Phase::Assets => return Turn::Chance(Request::Order(ASSETS)),
            Phase::Acquires => return Turn::Chance(Request::Order(ACQUIRES)),
            Phase::Deal | Phase::Stop => {
                return Turn::Chance(Request::Number(u32::from(self.rules.sections)));
            }
            Phase::Open { seat } | Phase::Risk { seat } => (seat, countdowns.risk_ms),
            Phase::Assess { seat, .. } => (seat, countdowns.assess_ms),
            Phase::Confront { seat, .. } | Phase::Debts { seat, .. } => {
                (seat, countdowns.answer_ms)
            }
            Phase::Showdown { confronter: seat } | Phase::LastIn { seat } => (seat, 0),
            Phase::Over => return Turn::Over,
        };
        let (seat, countdown_ms) = match self.offer {
            Some(offer) => (offer.to, countdowns.answer_ms),
            None => (seat, countdown_ms),
        };
        let Self { prompt: number, countdown, .. } = *self;
        Turn::Players(Prompt { number, seats: SeatSet::only(seat), countdown, countdown_ms })
    }

    /// Returns the open prompt; `None` while chance decides and when the game is over.
    pub fn prompt(&self) -> Option<Prompt> {
        self.turn().prompt()
    }

    /// Updates the public state by an event, complete or redacted.
    pub(super) fn apply(&mut self, event: &Event) {
        if let Some((seat, taken)) = event.taken_slots() {
            let section = self.section_of(seat);
            let slots = &mut self.sections[section].slots;
            *slots = slots.difference(taken);
        }
        match event {
            Event::DealerChosen { seat } => {
                self.opener = Some(*seat);
                self.phase = Phase::Assets;
            }
            Event::AssetsShuffled { .. } => self.phase = Phase::Acquires,
            Event::AcquiresShuffled { .. } => self.phase = Phase::Deal,
            Event::Dealt { rotation, .. } => self.deal(*rotation),
            Event::Opened { seat, risk, purchase, sell } => {
                self.rounds += 1;
                self.opener = Some(*seat);
                self.begin_payments();
                self.set_prices(*risk, *purchase, *sell);
                self.pay(*seat, *risk);
                self.refill();
                self.next_risk(*seat);
            }
            Event::Paid { seat, chips } => {
                self.pay(*seat, *chips);
                self.advance_after_payment(*seat);
            }
            Event::Raised { seat, chips, risk, purchase, sell } => {
                self.raises += 1;
                self.set_prices(*risk, *purchase, *sell);
                self.pay(*seat, *chips);
                self.advance_after_payment(*seat);
            }
            Event::Retreated { seat } => self.retreat(*seat),
            Event::Stopped { rotation } => {
                self.rotation = *rotation;
                let first = self.opener.and_then(|opener| self.next_playing_seat(opener));
                self.begin_assessment(first.expect("two seats are still in"));
            }
            Event::Assessing { .. } => {
                if let Phase::Assess { began, .. } = &mut self.phase {
                    *began = true;
                }
            }
            Event::Swapped { seat, .. } => {
                self.players[*seat].pile_assets += 1;
                if let Phase::Assess { swapped, .. } = &mut self.phase {
                    *swapped = true;
                }
                self.ask_again();
            }
            Event::Purchased { seat, discarded, chips, .. } => {
                self.spend(*seat, *chips);
                self.players[*seat].assets += 1;
                discarded.iter().for_each(|face| self.discard(*seat, *face));
                self.ask_again();
            }
            Event::Acquired { seat, to, discarded, chips, .. } => {
                self.spend(*seat, *chips);
                let section = self.section_of(*seat);
                self.sections[section].acquires -= 1;
                let player = &mut self.players[*seat];
                match to {
                    AcquireDestination::Hand => player.wilds += 1,
                    AcquireDestination::Kept => player.kept += 1,
                    AcquireDestination::Pile => player.pile_acquires += 1,
                }
                discarded.iter().for_each(|face| self.discard(*seat, *face));
                self.ask_again();
            }
            Event::FreeSpent { seat } => self.play_kept(*seat),
            Event::Audited { seat, chips } => self.spend(*seat, *chips),
            Event::Sold { seat, slots, chips, .. } => self.sell(*seat, *slots, *chips),
            Event::Revealed { seat, section, .. } => {
                self.play_kept(*seat);
                if let Phase::Assess { revealed, .. } = &mut self.phase {
                    *revealed = Some(*section);
                }
                self.ask_again();
            }
            Event::DividendTaken { seat, chips, .. } => {
                self.play_kept(*seat);
                self.pot -= chips;
                self.players[*seat].chips += chips;
                self.ask_again();
            }
            Event::Done { seat } => self.next_assessment(*seat),
            Event::Confronted { seat, chips } => {
                self.begin_payments();
                self.pay(*seat, *chips);
                self.next_answer(*seat, *seat);
            }
            Event::Evaded { seat, chips, discarded } => {
                self.spend(*seat, *chips);
                discarded.iter().for_each(|face| self.discard(*seat, *face));
                if let Phase::Confront { confronter, .. } = self.phase {
                    self.next_debt(confronter, *seat);
                }
            }
            Event::Indexed { seat, margin, chips, risk, purchase, sell } => {
                self.unindexed.get_or_insert(self.risk);
                self.raises += 1;
                self.set_prices(*risk, *purchase, *sell);
                self.pay(*seat, *chips);
                let player = &mut self.players[*seat];
                player.margin = *margin;
                player.owes = risk - chips;
                self.advance_after_payment(*seat);
            }
            Event::Leveraged { seat, percent, chips } => {
                self.pay(*seat, *chips);
                self.players[*seat].leverage = *percent;
                self.advance_after_payment(*seat);
            }
            Event::BribeOffered { seat, to, chips, cards } => {
                self.offer = Some(Offer { from: *seat, to: *to, chips: *chips, cards: *cards });
                self.prompt += 1;
                self.countdown += 1;
            }
            Event::BribeAnswered { accepted, .. } => self.answer_bribe(*accepted),
            Event::Shown { hands } => self.shown = Some(hands.clone()),
            Event::Over { ending, winner, awards } => {
                self.phase = Phase::Over;
                self.pot = 0;
                self.end = Some(GameResult { ending: *ending, winner: *winner, awards: *awards });
            }
        }
    }

    /// Deals the sections and hands (rule 1.4).
    fn deal(&mut self, rotation: u8) {
        self.rotation = rotation;
        self.refill();
        let taken: SlotSet = (0..DEALT).collect();
        for seat in Seat::all(self.seats()) {
            let section = self.section_of(seat);
            let slots = &mut self.sections[section].slots;
            *slots = slots.difference(taken);
            self.players[seat].assets = DEALT;
        }
        let dealer = self.opener.expect("the dealer is known before the deal");
        self.enter_phase(Phase::Open { seat: dealer });
    }

    /// Refills the sections in ascending order of section and slot, while the decks last (rule
    /// 1.4).
    fn refill(&mut self) {
        for section in self.sections.as_mut_slice() {
            for slot in 0..SLOTS {
                if self.asset_deck > 0 && !section.slots.contains(slot) {
                    section.slots = section.slots.with(slot);
                    self.asset_deck -= 1;
                }
            }
            let more = (ACQUIRE_SLOTS - section.acquires).min(self.acquire_deck);
            section.acquires += more;
            self.acquire_deck -= more;
        }
    }

    const fn set_prices(&mut self, risk: u32, purchase: u32, sell: u32) {
        self.risk = risk;
        self.purchase = purchase;
        self.sell = sell;
    }

    /// Resets the payments, which count from zero in each round and in each confront (rule 2.2).
    fn begin_payments(&mut self) {
        self.raises = 0;
        self.unindexed = None;
        for player in self.players.as_mut_slice() {
            *player =
                PlayerState { paid: 0, acted: false, margin: 0, owes: 0, leverage: 0, ..*player };
        }
    }

    /// Records a payment that counts towards the risk.
    fn pay(&mut self, seat: Seat, chips: u32) {
        self.spend(seat, chips);
        let player = &mut self.players[seat];
        player.paid += chips;
        player.acted = true;
    }

    fn spend(&mut self, seat: Seat, chips: u32) {
        self.players[seat].chips -= chips;
        self.pot += chips;
    }

    fn advance_after_payment(&mut self, seat: Seat) {
        match self.phase {
            Phase::Risk { .. } => self.next_risk(seat),
            Phase::Confront { confronter, .. } if seat == confronter => {
                self.phase = Phase::Showdown { confronter };
            }
            Phase::Confront { confronter, .. } => self.next_answer(seat, confronter),
            Phase::Debts { confronter, opener, .. } => {
                self.players[seat].owes = 0;
                self.next_debt(confronter, opener);
            }
            variants!(Phase: Dealer, Assets, Acquires, Deal, Open, Stop, Assess, Showdown, LastIn,
                Over) => {}
        }
    }

    /// Removes a seat from the game (rule 2.2).
    fn retreat(&mut self, seat: Seat) {
        let player = &mut self.players[seat];
        self.asset_deck += player.assets + player.pile_assets;
        self.acquire_deck += player.wilds + player.kept + player.pile_acquires;
        *player = PlayerState { chips: player.chips, ..PlayerState::default() };
        self.playing = self.playing.without(seat);
        let next = self.next_playing_seat(seat).expect("the last seat does not retreat");
        if self.playing.len() == 1 {
            self.phase = Phase::LastIn { seat: next };
            return;
        }
        match self.phase {
            Phase::Open { .. } => self.enter_phase(Phase::Open { seat: next }),
            Phase::Risk { .. } => self.next_risk(seat),
            Phase::Assess { .. } => self.next_assessment(seat),
            Phase::Confront { confronter, .. } => self.next_debt(confronter, next),
            Phase::Debts { confronter, opener, .. } => self.next_debt(confronter, opener),
            variants!(Phase: Dealer, Assets, Acquires, Deal, Stop, Showdown, LastIn, Over) => {}
        }
    }

    /// Prompts the next seat that has not paid the risk, or stops the table (rules 2.2 and 2.3).
    fn next_risk(&mut self, after: Seat) {
        let owes =
            |seat: &Seat| self.playing.contains(*seat) && self.players[*seat].paid < self.risk;
        match after.others(self.seats()).find(owes) {
            Some(seat) => self.enter_phase(Phase::Risk { seat }),
            None => self.phase = Phase::Stop,
        }
    }

    /// Prompts the next seat to assess: each seat once, the opener last if it is still in (rules
    /// 2.3 and 3).
    fn next_assessment(&mut self, after: Seat) {
        let opener = self.opener.expect("a round that is assessed was opened");
        let seats = self.seats();
        let left = (opener.number() + seats - after.number()) % seats;
        let mut others = after.others(seats).take(usize::from(left));
        match others.find(|seat| self.playing.contains(*seat)) {
            Some(seat) => self.begin_assessment(seat),
            None => self.begin_opening(opener.next(seats)),
        }
    }

    fn begin_assessment(&mut self, seat: Seat) {
        self.enter_phase(Phase::Assess {
            seat,
            began: false,
            swapped: false,
            sold: false,
            revealed: None,
        });
    }

    /// Prompts the seat to open the next round, or the first one after it that is still in.
    fn begin_opening(&mut self, seat: Seat) {
        let seat =
            if self.playing.contains(seat) { Some(seat) } else { self.next_playing_seat(seat) };
        self.enter_phase(Phase::Open { seat: seat.expect("somebody is still in") });
    }

    /// Prompts the next seat to answer the confront, or begins the showdown (rules 4.1 and 4.3).
    fn next_answer(&mut self, after: Seat, confronter: Seat) {
        let seat = self.next_playing_seat(after).expect("the confronter is still in");
        if seat == confronter && self.players[confronter].paid >= self.risk {
            self.phase = Phase::Showdown { confronter };
        } else {
            self.enter_phase(Phase::Confront { seat, confronter });
        }
    }

    /// Settles a failed confront from the confronter's left, before the opener continues (rules
    /// 4.2, 4.4 and 4.5).
    fn next_debt(&mut self, confronter: Seat, opener: Seat) {
        let settles = |seat: &Seat| {
            let player = &self.players[*seat];
            self.playing.contains(*seat) && (player.owes > 0 || player.leverage > 0)
        };
        match confronter.others(self.seats()).find(settles) {
            Some(seat) if self.players[seat].leverage > 0 => {
                self.phase = Phase::Debts { seat, confronter, opener };
            }
            Some(seat) => self.enter_phase(Phase::Debts { seat, confronter, opener }),
            None => {
                self.begin_payments();
                self.begin_opening(opener);
            }
        }
    }

    fn discard(&mut self, seat: Seat, face: Face) {
        let player = &mut self.players[seat];
        if face.is_asset() {
            player.assets -= 1;
            player.pile_assets += 1;
        } else {
            player.wilds -= 1;
            player.pile_acquires += 1;
        }
    }

    fn play_kept(&mut self, seat: Seat) {
        let player = &mut self.players[seat];
        player.kept -= 1;
        player.pile_acquires += 1;
    }

    /// Sells the hand of a seat for these slots (rule 3.4).
    fn sell(&mut self, seat: Seat, slots: SlotSet, chips: u32) {
        self.spend(seat, chips);
        let player = &mut self.players[seat];
        player.pile_assets += player.assets;
        player.pile_acquires += player.wilds;
        player.assets = slots.len();
        player.wilds = 0;
        if let Phase::Assess { sold, .. } = &mut self.phase {
            *sold = true;
        }
        self.ask_again();
    }

    /// Applies the answer to a bribe: an accepted offer changes hands, and the seat continues its
    /// turn (rule 4.6).
    fn answer_bribe(&mut self, accepted: bool) {
        self.prompt += 1;
        self.countdown += 1;
        self.offered = true;
        let Some(offer) = self.offer.take().filter(|_| accepted) else { return };
        let assets = offer.cards.assets().count();
        let wilds = offer.cards.wilds().count();
        let kept = offer.cards.count() - assets - wilds;
        let from = &mut self.players[offer.from];
        from.chips -= offer.chips;
        (from.assets, from.wilds, from.kept) =
            (from.assets - assets, from.wilds - wilds, from.kept - kept);
        let to = &mut self.players[offer.to];
        to.chips += offer.chips;
        (to.assets, to.wilds, to.kept) = (to.assets + assets, to.wilds + wilds, to.kept + kept);
    }

    fn enter_phase(&mut self, phase: Phase) {
        self.phase = phase;
        self.prompt += 1;
        self.countdown += 1;
        self.offered = false;
    }

    /// Prompts for another decision of the same assessment, within its countdown.
    const fn ask_again(&mut self) {
        self.prompt += 1;
        self.offered = false;
    }
}
