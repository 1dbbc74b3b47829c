//! The legality of an action, from the public state and the cards of the seat. The game and a
//! player's view share this code, because neither needs to know more.
//!
//! [`check`] decides on one action and gives the reason for a refusal; [`for_each_action`] lists the
//! actions that [`check`] accepts. A selection of values stands for a free number: the lowest and
//! the highest price, at most eleven risks of a long range, every fifth hundredth of a leverage, and
//! bribes of one chip or one card. Random play compares the two.

use arrayvec::ArrayVec;

use crate::game::require;
use crate::games::tongo_assets::action::{Action, Illegal};
use crate::games::tongo_assets::card::{Acquire, Card, CardSet};
use crate::games::tongo_assets::phase::Phase;
use crate::games::tongo_assets::public::PublicState;
use crate::games::tongo_assets::rules::{
    EVADE_CARDS, HAND_MAX, KEPT_MAX, LEVERAGE, MARGIN_MAX, MARGIN_STEP, PriceBounds,
};
use crate::games::tongo_assets::slots::SlotSet;
use crate::seat::Seat;

/// The maximum number of risks of a range that are listed.
pub(super) const RISKS: u8 = 11;

/// The step between the listed percentages of a leverage.
const LEVERAGE_STEP: usize = 5;

/// A seat with the cards that it holds, for which the legality of an action is checked.
#[derive(Clone, Copy, Debug)]
pub struct Actor<'a> {
    pub public: &'a PublicState,
    pub seat: Seat,
    pub hand: CardSet,
    pub kept: CardSet,
}

/// Checks that the seat may play this action now.
///
/// # Errors
/// The first reason for a refusal.
pub(super) fn check(actor: &Actor<'_>, action: &Action) -> Result<(), Illegal> {
    let PublicState { phase, playing, offer, .. } = actor.public;
    match phase {
        variants!(Phase: Dealer, Assets, Acquires, Deal) => return Err(Illegal::NotDealt),
        variants!(Phase: Over, Showdown, LastIn) => return Err(Illegal::GameOver),
        variants!(Phase: Open, Risk, Stop, Assess, Confront, Debts) => {}
    }
    require(playing.contains(actor.seat), Illegal::Retreated)?;
    if !matches!(action, Action::Accept | Action::Refuse) {
        require(offer.is_none(), Illegal::BribeOpen)?;
        require(phase.seat() == Some(actor.seat), Illegal::NotYourTurn)?;
    }
    actor.check_action(action)
}

/// Returns the action that the clock plays (rule 7.2); `None` for a seat that is not prompted.
pub fn default_action(actor: &Actor<'_>) -> Option<Action> {
    let public = actor.public;
    if let Some(offer) = public.offer {
        return (offer.to == actor.seat).then_some(Action::Refuse);
    }
    if public.phase.seat() != Some(actor.seat) {
        return None;
    }
    match public.phase {
        Phase::Open { .. } if public.is_last() => {
            let may = actor.check_confront().is_ok();
            Some(if may { Action::Confront } else { Action::Retreat })
        }
        Phase::Open { .. } => {
            let (risk, _) = public.opening_risk();
            let PriceBounds { purchase_min: purchase, max: sell } = PriceBounds::for_risk(risk);
            let opening = Action::Open { risk, purchase, sell };
            Some(if actor.can_pay(risk).is_ok() { opening } else { Action::Retreat })
        }
        Phase::Risk { .. } | Phase::Confront { .. } | Phase::Debts { .. } => {
            Some(if actor.can_pay_due() { Action::Pay } else { Action::Retreat })
        }
        Phase::Assess { .. } => Some(Action::Done),
        variants!(Phase: Dealer, Assets, Acquires, Deal, Stop, Showdown, LastIn, Over) => None,
    }
}

/// Returns whether the action commits a seat without a prompt to do so (rule 7.4): it confronts
/// during an assessment, purchases an acquire card, raises the risk, or offers a bribe. After the
/// last round a confront is prompted (rule 6.4).
pub(super) fn is_commitment(public: &PublicState, action: &Action) -> bool {
    match action {
        Action::Confront => matches!(public.phase, Phase::Assess { .. }),
        Action::Open { risk, .. } => *risk > public.opening_risk().0,
        variants!(Action: Acquire, Raise, RaiseConfront, Index, Bribe) => true,
        variants!(Action: Pay, Retreat, Swap, Purchase, Sell, Reveal, Dividend, Done, Evade,
            Leverage, Accept, Refuse) => false,
    }
}

impl Actor<'_> {
    pub fn chips(&self) -> u32 {
        self.public.players[self.seat].chips
    }

    /// Returns the missing part of the risk, or the debt; `None` if nothing is to be paid.
    pub fn amount_due(&self) -> Option<u32> {
        let player = &self.public.players[self.seat];
        match self.public.phase {
            Phase::Risk { .. } | Phase::Confront { .. } => Some(self.public.risk - player.paid),
            Phase::Debts { .. } => Some(player.owes),
            variants!(Phase: Dealer, Assets, Acquires, Deal, Open, Stop, Assess, Showdown, LastIn,
                Over) => None,
        }
    }

    fn check_answer(&self) -> Result<(), Illegal> {
        let offer = self.public.offer.ok_or(Illegal::NoBribe)?;
        require(offer.to == self.seat, Illegal::NotAsked)
    }

    fn check_action(&self, action: &Action) -> Result<(), Illegal> {
        match *action {
            Action::Open { risk, purchase, sell } => self.check_opening(risk, purchase, sell),
            Action::Pay => self.can_pay(self.amount_due().ok_or(Illegal::NothingToPay)?),
            Action::Raise { risk, purchase, sell } => {
                require(matches!(self.public.phase, Phase::Risk { .. }), Illegal::NotRisking)?;
                require(!self.public.players[self.seat].acted, Illegal::ActedAlready)?;
                self.check_raise(risk)?;
                check_prices(risk, purchase, sell)?;
                self.can_pay(risk - self.public.players[self.seat].paid)
            }
            Action::RaiseConfront { risk } => {
                self.check_circle()?;
                self.check_raise(risk)?;
                self.can_pay(risk)
            }
            Action::Retreat => Ok(()),
            Action::Swap { discard, slot } => self.check_swap(discard, slot),
            Action::Purchase { slot, discard, free } => {
                self.check_assessing()?;
                self.check_purchase_price(free)?;
                require(self.slots().contains(slot), Illegal::SlotEmpty)?;
                self.check_discard(discard)
            }
            Action::Acquire { replace, free } => {
                self.check_assessing()?;
                self.check_purchase_price(free)?;
                let section = self.public.section_of(self.seat);
                require(self.public.sections[section].acquires > 0, Illegal::NoAcquireCard)?;
                let kept = self.kept.count() - u8::from(free);
                require(kept < KEPT_MAX, Illegal::KeptFull)?;
                self.check_discard(replace)
            }
            Action::Sell { slots } => self.check_sale(slots),
            Action::Reveal { section } => {
                self.check_assessing()?;
                require(self.has_kept(Acquire::Reveal), Illegal::NoReveal)?;
                let is_other = section < self.public.rules.sections
                    && section != self.public.section_of(self.seat);
                require(is_other, Illegal::NoSuchSection)
            }
            Action::Dividend => {
                self.check_assessing()?;
                require(self.has_kept(Acquire::Dividend), Illegal::NoDividend)
            }
            Action::Done => self.check_assessing(),
            Action::Confront => self.check_confront(),
            Action::Evade { discards } => {
                self.check_circle()?;
                self.can_pay(self.public.evasion_cost())?;
                let fits = discards.count() == EVADE_CARDS && self.hand.contains_all(discards);
                require(fits, Illegal::EvadeCards)
            }
            Action::Index { margin } => self.check_margin(margin),
            Action::Leverage { percent } => self.check_leverage(percent),
            Action::Bribe { to, chips, cards } => self.check_bribe(to, chips, cards),
            Action::Accept | Action::Refuse => self.check_answer(),
        }
    }

    fn check_opening(&self, risk: u32, purchase: u32, sell: u32) -> Result<(), Illegal> {
        require(matches!(self.public.phase, Phase::Open { .. }), Illegal::NotOpening)?;
        require(!self.public.is_last(), Illegal::RoundsOver)?;
        let (least, most) = self.public.opening_risk();
        require(risk >= least, Illegal::RiskTooLow)?;
        require(risk <= most, Illegal::RiskTooHigh)?;
        check_prices(risk, purchase, sell)?;
        self.can_pay(risk)
    }

    /// Returns the minimum and the maximum of the opening risks that the seat can pay.
    pub(super) fn opening_risks(&self) -> (u32, u32) {
        let (least, most) = self.public.opening_risk();
        (least, most.min(self.chips()))
    }

    /// Returns the minimum and the maximum to which the seat can raise the risk, in a round of
    /// risking or in a confront (rules 2.2 and 4.1).
    pub(super) fn raised_risks(&self) -> (u32, u32) {
        let PublicState { rules, risk, phase, players, .. } = self.public;
        let is_risking = matches!(phase, Phase::Risk { .. });
        let paid = if is_risking { players[self.seat].paid } else { 0 };
        (risk + 1, (risk + rules.raise_max).min(self.chips() + paid))
    }

    fn check_raise(&self, risk: u32) -> Result<(), Illegal> {
        let PublicState { rules, raises, risk: before, .. } = self.public;
        require(*raises < rules.raises_max, Illegal::RaisesUsedUp)?;
        require(risk > *before, Illegal::RiskTooLow)?;
        require(risk - before <= rules.raise_max, Illegal::RiskTooHigh)
    }

    pub fn can_pay(&self, chips: u32) -> Result<(), Illegal> {
        require(self.chips() >= chips, Illegal::TooFewChips)
    }

    /// Returns whether something is to be paid, and the seat has the chips.
    pub(super) fn can_pay_due(&self) -> bool {
        self.amount_due().is_some_and(|missing| self.can_pay(missing).is_ok())
    }

    fn check_assessing(&self) -> Result<(), Illegal> {
        require(matches!(self.public.phase, Phase::Assess { .. }), Illegal::NotAssessing)
    }

    fn check_swap(&self, discard: Card, slot: u8) -> Result<(), Illegal> {
        let Phase::Assess { swapped, .. } = self.public.phase else {
            return Err(Illegal::NotAssessing);
        };
        require(self.hand.contains(discard), Illegal::CardNotInHand)?;
        require(discard.is_asset(), Illegal::NotAnAsset)?;
        require(self.slots().contains(slot), Illegal::SlotEmpty)?;
        require(!swapped, Illegal::SwappedAlready)
    }

    /// Returns the slots before the seat that hold an asset.
    pub fn slots(&self) -> SlotSet {
        self.public.sections[self.public.section_of(self.seat)].slots
    }

    pub fn has_kept(&self, kind: Acquire) -> bool {
        self.kept.first_of(kind).is_some()
    }

    fn check_purchase_price(&self, free: bool) -> Result<(), Illegal> {
        if free {
            require(self.has_kept(Acquire::Free), Illegal::NoFreePurchase)
        } else {
            self.can_pay(self.public.purchase)
        }
    }

    fn check_discard(&self, discard: Option<Card>) -> Result<(), Illegal> {
        match discard {
            None => require(self.hand.count() < HAND_MAX, Illegal::DiscardMissing),
            Some(card) => {
                require(self.hand.contains(card), Illegal::CardNotInHand)?;
                require(self.hand.count() == HAND_MAX, Illegal::DiscardNeedless)
            }
        }
    }

    fn check_sale(&self, slots: SlotSet) -> Result<(), Illegal> {
        let Phase::Assess { sold, .. } = self.public.phase else {
            return Err(Illegal::NotAssessing);
        };
        self.can_pay(self.public.sell)?;
        require(!sold, Illegal::SoldAlready)?;
        let wanted = self.sale_size();
        require(wanted > 0, Illegal::NothingToSell)?;
        let fits = self.slots().contains_all(slots) && slots.len() == wanted;
        require(fits, Illegal::SellSlots)
    }

    /// Returns the number of assets that a sale takes.
    pub fn sale_size(&self) -> u8 {
        self.hand.count().min(self.slots().len())
    }

    pub fn check_confront(&self) -> Result<(), Illegal> {
        let PublicState { rules, rounds, players, playing, .. } = self.public;
        match self.public.phase {
            Phase::Open { .. } => require(self.public.is_last(), Illegal::NotAssessing)?,
            Phase::Assess { .. } => {
                require(self.hand.count() == HAND_MAX, Illegal::HandNotFull)?;
                let all_full = playing.iter().all(|seat| players[seat].hand() == HAND_MAX);
                require(*rounds > rules.confront_all_rounds || all_full, Illegal::OthersNotFull)?;
            }
            variants!(Phase: Dealer, Assets, Acquires, Deal, Risk, Stop, Confront, Debts, Showdown,
                LastIn, Over) => return Err(Illegal::NotAssessing),
        }
        self.can_pay(self.public.risk)
    }

    /// Checks that the seat is one of those that answer a confront (rule 4.1).
    fn check_circle(&self) -> Result<(), Illegal> {
        let Phase::Confront { seat, confronter } = self.public.phase else {
            return Err(Illegal::NotConfronting);
        };
        require(seat != confronter, Illegal::ConfronterPays)
    }

    fn check_margin(&self, margin: u8) -> Result<(), Illegal> {
        let PublicState { rules, raises, risk, unindexed, .. } = self.public;
        require(rules.margins, Illegal::MarginsOff)?;
        self.check_circle()?;
        let is_step = margin.is_multiple_of(MARGIN_STEP) && (1..=MARGIN_MAX).contains(&margin);
        require(is_step, Illegal::MarginStep)?;
        require(*raises < rules.raises_max, Illegal::RaisesUsedUp)?;
        require(indexed_risk(*risk, margin) > *risk, Illegal::MarginNoRise)?;
        self.can_pay(unindexed.unwrap_or(*risk))
    }

    fn check_leverage(&self, percent: u8) -> Result<(), Illegal> {
        require(self.public.rules.leverage, Illegal::LeverageOff)?;
        self.check_circle()?;
        require(LEVERAGE.contains(&percent), Illegal::LeveragePercent)?;
        self.can_pay(leveraged_payment(self.public.risk, percent))
    }

    fn check_bribe(&self, to: Seat, chips: u32, cards: CardSet) -> Result<(), Illegal> {
        let PublicState { rules, offered, playing, .. } = self.public;
        require(rules.bribes, Illegal::BribesOff)?;
        require(!offered, Illegal::OfferedAlready)?;
        require(to != self.seat && playing.contains(to), Illegal::BribeTo)?;
        require((chips > 0) == cards.is_empty(), Illegal::BribeWhat)?;
        let holds = chips <= self.chips() && self.hand.union(self.kept).contains_all(cards);
        require(holds, Illegal::BribeNotHeld)?;
        require(self.has_room(to, cards), Illegal::BribeNoRoom)
    }

    /// Returns whether the other seat may hold these cards with its own (rules 1.5 and 4.6).
    pub fn has_room(&self, to: Seat, cards: CardSet) -> bool {
        let player = &self.public.players[to];
        let of_hand = cards.assets().count() + cards.wilds().count();
        let apart = cards.count() - of_hand;
        // An offer without cards of one sort needs no room for that sort.
        (of_hand == 0 || player.hand() + of_hand <= HAND_MAX)
            && (apart == 0 || player.kept + apart <= KEPT_MAX)
    }
}

/// Checks the prices of a risk (rule 2.1).
fn check_prices(risk: u32, purchase: u32, sell: u32) -> Result<(), Illegal> {
    let PriceBounds { purchase_min, max } = PriceBounds::for_risk(risk);
    require((purchase_min..=max).contains(&purchase), Illegal::PurchasePrice)?;
    require((1..=max).contains(&sell), Illegal::SellPrice)
}

/// Returns the risk after a margin was indexed (rule 4.4).
pub(super) fn indexed_risk(risk: u32, margin: u8) -> u32 {
    let indexed = u64::from(risk) * 100 / (100 - u64::from(margin.min(99)));
    u32::try_from(indexed).unwrap_or(u32::MAX)
}

/// Returns the payment of a leveraged buy-in (rule 4.5).
pub(super) fn leveraged_payment(risk: u32, percent: u8) -> u32 {
    let part = (u64::from(risk) * u64::from(percent)).div_ceil(100);
    u32::try_from(part).unwrap_or(u32::MAX)
}

/// Calls `each` with every action open to the seat.
pub fn for_each_action(actor: &Actor<'_>, each: &mut impl FnMut(Action)) {
    let public = actor.public;
    if let Some(offer) = public.offer {
        if offer.to == actor.seat {
            each(Action::Accept);
            each(Action::Refuse);
        }
        return;
    }
    if public.phase.seat() != Some(actor.seat) {
        return;
    }
    match public.phase {
        Phase::Open { .. } => list_openings(actor, each),
        Phase::Risk { .. } => list_risk_actions(actor, each),
        Phase::Assess { swapped, sold, .. } => list_assessment_actions(actor, swapped, sold, each),
        Phase::Confront { seat, confronter } => {
            list_payment(actor, each);
            if seat != confronter {
                list_confront_answers(actor, each);
            }
        }
        Phase::Debts { .. } => list_payment(actor, each),
        variants!(Phase: Dealer, Assets, Acquires, Deal, Stop, Showdown, LastIn, Over) => return,
    }
    each(Action::Retreat);
    list_bribes(actor, each);
}

fn list_payment(actor: &Actor<'_>, each: &mut impl FnMut(Action)) {
    if actor.can_pay_due() {
        each(Action::Pay);
    }
}

fn list_openings(actor: &Actor<'_>, each: &mut impl FnMut(Action)) {
    if actor.public.is_last() {
        if actor.check_confront().is_ok() {
            each(Action::Confront);
        }
        return;
    }
    for_each_risk(actor.opening_risks(), |risk| {
        for_each_price(risk, |purchase, sell| each(Action::Open { risk, purchase, sell }));
    });
}

fn list_risk_actions(actor: &Actor<'_>, each: &mut impl FnMut(Action)) {
    list_payment(actor, each);
    let PublicState { rules, raises, players, .. } = actor.public;
    if *raises < rules.raises_max && !players[actor.seat].acted {
        for_each_risk(actor.raised_risks(), |risk| {
            for_each_price(risk, |purchase, sell| each(Action::Raise { risk, purchase, sell }));
        });
    }
}

/// Calls `each` with every risk of a short range, or with [`RISKS`] evenly spaced risks of a long
/// one.
pub(super) fn for_each_risk((least, most): (u32, u32), mut each: impl FnMut(u32)) {
    let Some(span) = most.checked_sub(least) else { return };
    let risks = u32::from(RISKS);
    if span < risks {
        (least..=most).for_each(each);
    } else {
        (0..risks).for_each(|place| each(least + span / (risks - 1) * place));
    }
}

/// Iterates over the margins that can be indexed (rule 4.4).
pub(super) fn margins() -> impl Iterator<Item = u8> {
    (MARGIN_STEP..=MARGIN_MAX).step_by(usize::from(MARGIN_STEP))
}

/// Iterates over the listed leverages.
pub(super) fn leverages() -> impl Iterator<Item = u8> {
    LEVERAGE.step_by(LEVERAGE_STEP)
}

fn for_each_price(risk: u32, mut each: impl FnMut(u32, u32)) {
    let PriceBounds { purchase_min, max } = PriceBounds::for_risk(risk);
    let highest = Some(max).filter(|max| *max > purchase_min);
    for purchase in [purchase_min].into_iter().chain(highest) {
        each(purchase, max);
        if max > 1 {
            each(purchase, 1);
        }
    }
}

fn list_assessment_actions(
    actor: &Actor<'_>,
    swapped: bool,
    sold: bool,
    each: &mut impl FnMut(Action),
) {
    let public = actor.public;
    let slots = actor.slots();
    let full = actor.hand.count() == HAND_MAX;
    // A full hand parts with a card for a new one.
    let named = actor.hand.iter().filter(|_| full).map(Some);
    let discards: ArrayVec<Option<Card>, 7> = named.chain((!full).then_some(None)).collect();
    if !swapped {
        for discard in actor.hand.assets().iter() {
            slots.iter().for_each(|slot| each(Action::Swap { discard, slot }));
        }
    }
    for free in [false, true].into_iter().filter(|free| actor.check_purchase_price(*free).is_ok()) {
        for slot in slots.iter() {
            for discard in discards.iter().copied() {
                each(Action::Purchase { slot, discard, free });
            }
        }
        let acquires = public.sections[public.section_of(actor.seat)].acquires;
        if acquires > 0 && actor.kept.count() - u8::from(free) < KEPT_MAX {
            for replace in discards.iter().copied() {
                each(Action::Acquire { replace, free });
            }
        }
    }
    if !sold && actor.sale_size() > 0 && actor.chips() >= public.sell {
        slots.choices(actor.sale_size()).for_each(|slots| each(Action::Sell { slots }));
    }
    if actor.has_kept(Acquire::Reveal) {
        let own = public.section_of(actor.seat);
        let others = (0..public.rules.sections).filter(|section| *section != own);
        others.for_each(|section| each(Action::Reveal { section }));
    }
    if actor.has_kept(Acquire::Dividend) {
        each(Action::Dividend);
    }
    if actor.check_confront().is_ok() {
        each(Action::Confront);
    }
    each(Action::Done);
}

/// Lists the answers to a confront other than paying and retreating (rules 4.1, 4.4 and 4.5).
fn list_confront_answers(actor: &Actor<'_>, each: &mut impl FnMut(Action)) {
    let PublicState { rules, raises, .. } = actor.public;
    if *raises < rules.raises_max {
        for_each_risk(actor.raised_risks(), |risk| each(Action::RaiseConfront { risk }));
    }
    if actor.can_pay(actor.public.evasion_cost()).is_ok() {
        let cards: ArrayVec<Card, 7> = actor.hand.iter().collect();
        for bits in 0..1_u8 << cards.len() {
            if bits.count_ones() == u32::from(EVADE_CARDS) {
                let named = (0..).zip(&cards).filter(|(place, _)| bits >> place & 1 == 1);
                each(Action::Evade { discards: named.map(|(_, card)| *card).collect() });
            }
        }
    }
    for margin in margins().filter(|margin| actor.check_margin(*margin).is_ok()) {
        each(Action::Index { margin });
    }
    for percent in leverages().filter(|percent| actor.check_leverage(*percent).is_ok()) {
        each(Action::Leverage { percent });
    }
}

fn list_bribes(actor: &Actor<'_>, each: &mut impl FnMut(Action)) {
    let PublicState { rules, offered, playing, .. } = actor.public;
    if !rules.bribes || *offered {
        return;
    }
    for to in playing.without(actor.seat).iter() {
        let cards = actor.hand.union(actor.kept).iter().map(|card| (0, CardSet::only(card)));
        for (chips, cards) in [(1, CardSet::EMPTY)].into_iter().chain(cards) {
            if actor.check_bribe(to, chips, cards).is_ok() {
                each(Action::Bribe { to, chips, cards });
            }
        }
    }
}
