//! The list of the legal actions, each once. A selection of values stands for a free number: the
//! lowest and the highest price, at most eleven risks of a long range, every fifth hundredth of a
//! leverage, and bribes of one chip or one card.

use arrayvec::ArrayVec;

use crate::games::tongo_assets::action::Action;
use crate::games::tongo_assets::card::{Acquire, Card, CardSet};
use crate::games::tongo_assets::legal::{Actor, indexed_risk, leveraged_payment};
use crate::games::tongo_assets::phase::Phase;
use crate::games::tongo_assets::public::PublicState;
use crate::games::tongo_assets::rules::{
    EVADE_CARDS, HAND_MAX, KEPT_MAX, LEVERAGE, MARGIN_MAX, MARGIN_STEP, PriceBounds,
};

/// The maximum number of risks of a range that are listed.
pub(super) const RISKS: u8 = 11;

/// The step between the listed percentages of a leverage.
const LEVERAGE_STEP: usize = 5;

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
    let can_buy = actor.chips() >= public.purchase;
    let has_free = actor.has_kept(Acquire::Free);
    let full = actor.hand.count() == HAND_MAX;
    let frees = [(false, can_buy), (true, has_free)];
    // A full hand parts with a card for a new one.
    let named = actor.hand.iter().filter(|_| full).map(Some);
    let discards: ArrayVec<Option<Card>, 7> = named.chain((!full).then_some(None)).collect();
    if !swapped {
        for discard in actor.hand.assets().iter() {
            slots.iter().for_each(|slot| each(Action::Swap { discard, slot }));
        }
    }
    for (free, _) in frees.into_iter().filter(|(_, may)| *may) {
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
    let PublicState { rules, raises, risk, unindexed, .. } = actor.public;
    let risk = *risk;
    let chips = actor.chips();
    if *raises < rules.raises_max {
        for_each_risk(actor.raised_risks(), |risk| each(Action::RaiseConfront { risk }));
    }
    if chips >= actor.public.evasion_cost() {
        let cards: ArrayVec<Card, 7> = actor.hand.iter().collect();
        for bits in 0..1_u8 << cards.len() {
            if bits.count_ones() == u32::from(EVADE_CARDS) {
                let named = (0..).zip(&cards).filter(|(place, _)| bits >> place & 1 == 1);
                each(Action::Evade { discards: named.map(|(_, card)| *card).collect() });
            }
        }
    }
    if rules.margins && *raises < rules.raises_max && chips >= unindexed.unwrap_or(risk) {
        margins()
            .filter(|margin| indexed_risk(risk, *margin) > risk)
            .for_each(|margin| each(Action::Index { margin }));
    }
    if rules.leverage {
        leverages()
            .filter(|percent| chips >= leveraged_payment(risk, *percent))
            .for_each(|percent| each(Action::Leverage { percent }));
    }
}

fn list_bribes(actor: &Actor<'_>, each: &mut impl FnMut(Action)) {
    let PublicState { rules, offered, playing, .. } = actor.public;
    if !rules.bribes || *offered {
        return;
    }
    for to in playing.without(actor.seat).iter() {
        if actor.chips() > 0 {
            each(Action::Bribe { to, chips: 1, cards: CardSet::EMPTY });
        }
        for card in actor.hand.union(actor.kept).iter() {
            let cards = CardSet::only(card);
            if actor.has_room(to, cards) {
                each(Action::Bribe { to, chips: 0, cards });
            }
        }
    }
}
