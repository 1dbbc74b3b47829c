//! The house's AI: sound play from nothing but a view, and the same for the same view.
//!
//! It knows that the risk never falls. Who cannot pay it a second time can neither confront nor open
//! the next round, and when nobody can, all retreat in turn until the last opener has the whole pot.
//! So it *presses*: it opens so high that nobody else can pay twice, raises no higher than what it
//! can still pay until it opens again, and leaves when it is pressed itself. Beside that it builds a
//! hand while cards are cheap, confronts with one that is likely the strongest, and shows when its
//! part of the pot is worth the risk.
//!
//! Chips and hundredths in integers. Deliberately absent: evasions, bribes of its own, memory of the
//! cards that it saw, and any search beyond the next card.

use crate::games::tongo_assets::action::Action;
use crate::games::tongo_assets::card::{Acquire, Card};
use crate::games::tongo_assets::clock;
use crate::games::tongo_assets::hidden::OwnKnowledge;
use crate::games::tongo_assets::legal::Actor;
use crate::games::tongo_assets::phase::Phase;
use crate::games::tongo_assets::public::PublicState;
use crate::games::tongo_assets::rules::{HAND_MAX, KEPT_MAX, LEVERAGE, PriceBounds};
use crate::games::tongo_assets::set::CardSet;
use crate::games::tongo_assets::slots::Assets;
use crate::games::tongo_assets::strength::{Class, HandRank, largest_group};
use crate::games::tongo_assets::view::View;
use crate::seat::Seat;

/// What the AI would play; `None` when the viewer is not to act.
pub(super) fn choose_action(view: &View) -> Option<Action> {
    let (actor, own) = (view.actor()?, view.own.as_ref()?);
    // Where it knows nothing better it plays as the clock does.
    let plain = clock::default_action(&actor)?;
    Some(BotPosition { actor, own }.choose_action().unwrap_or(plain))
}

/// A purchase is cheap up to this part of the chips.
const CHEAP: u32 = 25;

/// Chances are in hundredths.
const SURE: u32 = 100;

/// How likely a hand must be the strongest for a confront that nothing urges.
const CONFIDENT: u32 = 75;

/// What a class is worth while a hand is built, and each card of its largest group.
const CLASS_WORTH: u32 = 150;
const GROUP_WORTH: u32 = 120;

/// What a seat knows, made ready to think.
#[derive(Clone, Copy, Debug)]
struct BotPosition<'a> {
    actor: Actor<'a>,
    own: &'a OwnKnowledge,
}

impl BotPosition<'_> {
    fn choose_action(&self) -> Option<Action> {
        if self.public().offer.is_some() {
            // A bribe binds nobody (rule 4.6).
            return Some(Action::Accept);
        }
        match self.public().phase {
            Phase::Open { .. } if self.public().is_last() => None,
            Phase::Open { .. } => Some(self.choose_opening()),
            Phase::Risk { .. } => Some(self.choose_risk_action()),
            Phase::Assess { swapped, .. } => Some(self.choose_assessment_action(swapped)),
            Phase::Confront { .. } => Some(self.answer_confront()),
            Phase::Debts { .. } => self.settle_debt(),
            Phase::Dealer
            | Phase::Assets
            | Phase::Acquires
            | Phase::Deal
            | Phase::Stop
            | Phase::Showdown { .. }
            | Phase::LastIn { .. }
            | Phase::Over => None,
        }
    }

    const fn public(&self) -> &PublicState {
        self.actor.public
    }

    fn chips(&self) -> u32 {
        self.actor.chips()
    }

    fn others(&self) -> impl Iterator<Item = Seat> + Clone {
        self.public().playing.without(self.actor.seat).iter()
    }

    /// The seats still in.
    fn seats_in(&self) -> u32 {
        self.public().playing.iter().map(|_| 1).sum()
    }

    /// The most chips that another seat has after paying this risk.
    fn richest_after(&self, risk: u32) -> u32 {
        let left = |seat: Seat| {
            let player = &self.public().players[seat];
            player.chips.checked_sub(risk.saturating_sub(player.paid))
        };
        self.others().filter_map(left).max().unwrap_or(0)
    }

    /// Opens: pressing all others if that can be, else no higher than what can be paid again.
    fn choose_opening(&self) -> Action {
        let (least, most) = self.public().opening_risk();
        let (chips, others) = (self.chips(), self.others());
        let most = most.min(chips);
        if least > most {
            return Action::Retreat;
        }
        let chips_of = |seat: Seat| self.public().players[seat].chips;
        let richest = others.clone().map(chips_of).max().unwrap_or(0);
        let poorest = others.map(chips_of).min().unwrap_or(0);
        let pressing = (richest / 2 + 1).max(least);
        let risk = if pressing <= most {
            // As much as all can pay, so that the pot is large.
            poorest.clamp(pressing, most)
        } else if self.public().rounds == 0 {
            least
        } else if chips < 2 * least {
            return Action::Retreat;
        } else {
            (chips / (self.seats_in() + 1)).clamp(least, most)
        };
        let (purchase, sell) = lowest_prices(risk);
        Action::Open { risk, purchase, sell }
    }

    /// Pays, raises or leaves.
    fn choose_risk_action(&self) -> Action {
        let public = self.public();
        let player = &public.players[self.actor.seat];
        let missing = public.risk - player.paid;
        let is_opener = public.opener == Some(self.actor.seat);
        let Some(left) = player.chips.checked_sub(missing) else {
            return Action::Retreat;
        };
        if left < public.risk {
            let presses = is_opener && self.richest_after(public.risk) < public.risk;
            return if presses { Action::Pay } else { Action::Retreat };
        }
        let openings = self.openings_ahead();
        let all = player.chips + player.paid;
        let safe = all / (openings + 1);
        let most = (public.risk + public.rules.raise_max).min(safe);
        let may = !player.acted && public.raises < public.rules.raises_max;
        if may && public.rounds > 1 && most > public.risk {
            let (purchase, sell) = lowest_prices(most);
            return Action::Raise { risk: most, purchase, sell };
        }
        Action::Pay
    }

    /// After how many openings of a round this seat opens one: 1 if it opens the next.
    fn openings_ahead(&self) -> u32 {
        let public = self.public();
        let mut seat = public.opener;
        let mut openings = 0;
        while let Some(next) = seat.and_then(|seat| public.next_playing_seat(seat)) {
            openings += 1;
            if next == self.actor.seat {
                break;
            }
            seat = Some(next);
        }
        openings
    }

    /// Builds the hand, takes what is free, and confronts or is done.
    fn choose_assessment_action(&self, swapped: bool) -> Action {
        if self.actor.has_kept(Acquire::Dividend) {
            return Action::Dividend;
        }
        let Some(before) = self.own.before else {
            return Action::Done;
        };
        if let Some(swap) = self.best_swap(&before).filter(|_| !swapped) {
            return swap;
        }
        if let Some(purchase) = self.best_purchase(&before) {
            return purchase;
        }
        if self.actor.check_confront().is_ok() && self.should_confront() {
            return Action::Confront;
        }
        Action::Done
    }

    fn best_swap(&self, before: &Assets) -> Option<Action> {
        let hand = self.own.hand;
        let mut best = (hand_value(hand), None);
        for discard in hand.assets().iter() {
            for (slot, card) in laid_assets(before) {
                let worth = hand_value(hand.without(discard).with(card));
                if worth > best.0 {
                    best = (worth, Some(Action::Swap { discard, slot }));
                }
            }
        }
        best.1
    }

    /// A card for less than seven in hand, while it is cheap; or for nothing.
    fn best_purchase(&self, before: &Assets) -> Option<Action> {
        let public = self.public();
        let free = self.actor.has_kept(Acquire::Free);
        let reserve = (self.openings_ahead() + 1) * public.risk;
        let is_cheap = public.purchase <= (self.chips() / CHEAP).max(1);
        let may_pay = is_cheap && self.chips() >= public.purchase + reserve;
        if !free && !may_pay {
            return None;
        }
        let hand = self.own.hand;
        if hand.count() == HAND_MAX {
            return if free { self.best_exchange(before) } else { None };
        }
        let group = largest_group(hand);
        let fits = |card: Card| largest_group(hand.with(card)) > group;
        let best = laid_assets(before).max_by_key(|(_, card)| hand_value(hand.with(*card)));
        let fitting = best.filter(|(_, card)| fits(*card));
        let section = public.sections[public.section_of(self.actor.seat)];
        let kept = self.own.kept.count() - u8::from(free);
        // A wild fits wherever nothing that lies there does.
        let may_acquire = section.acquires > 0 && kept < KEPT_MAX;
        if fitting.is_none() && may_acquire && self.chips() >= public.risk + reserve {
            return Some(Action::Acquire { replace: None, free });
        }
        best.map(|(slot, _)| Action::Purchase { slot, discard: None, free })
    }

    /// With seven in hand, what a free purchase would better most.
    fn best_exchange(&self, before: &Assets) -> Option<Action> {
        let hand = self.own.hand;
        let mut best = (hand_value(hand), None);
        for discard in hand.iter() {
            for (slot, card) in laid_assets(before) {
                let worth = hand_value(hand.without(discard).with(card));
                if worth > best.0 {
                    let discard = Some(discard);
                    best = (worth, Some(Action::Purchase { slot, discard, free: true }));
                }
            }
        }
        best.1
    }

    /// Whether a confront is better than another round.
    fn should_confront(&self) -> bool {
        let public = self.public();
        let next = public.opener.and_then(|opener| public.next_playing_seat(opener));
        let is_next = next == Some(self.actor.seat);
        if is_next && self.can_press(self.actor.seat) {
            return false;
        }
        let urged = next.is_some_and(|next| !is_next && self.can_press(next));
        let chance = self.win_chance();
        let end = public.pot + self.seats_in() * public.risk;
        let wins = hundredths_of(end, u32::from(public.rules.winner_share));
        let rest = (end - wins) / (self.seats_in() - 1).max(1);
        let expected = hundredths_of(wins, chance) + hundredths_of(rest, SURE - chance);
        if urged {
            return expected >= public.risk;
        }
        // What the pot is worth to one that waits: an equal part.
        let waits = public.pot / self.seats_in().max(1) + public.risk;
        chance >= CONFIDENT && expected > waits
    }

    /// Whether a seat that opens next can open so that nobody else pays twice.
    fn can_press(&self, opener: Seat) -> bool {
        let public = self.public();
        let chips = |seat: Seat| public.players[seat].chips;
        let others = public.playing.without(opener).iter();
        let richest = others.map(chips).max().unwrap_or(0);
        let most = (public.risk + public.rules.raise_max).min(chips(opener));
        richest / 2 < most && public.risk <= most
    }

    /// How likely the hand is the strongest of all that are in, in hundredths.
    fn win_chance(&self) -> u32 {
        let class = HandRank::from_hand(self.own.hand).class;
        let against = |seat: Seat| {
            let hand = self.public().players[seat].hand();
            match class {
                Class::Nothing => 5,
                Class::Reserve => {
                    if hand < 5 {
                        50
                    } else {
                        15
                    }
                }
                Class::Treasury => {
                    if hand < 5 {
                        95
                    } else {
                        50
                    }
                }
                Class::MaterialContinuum => {
                    if hand < 5 {
                        97
                    } else {
                        75
                    }
                }
                Class::Consortium => 95,
                Class::FullConsortium => 98,
                Class::Monopoly | Class::FullMonopoly => 99,
            }
        };
        self.others().map(against).fold(SURE, hundredths_of)
    }

    /// Shows if the part of the pot that is to be had is worth the risk.
    fn answer_confront(&self) -> Action {
        let public = self.public();
        let missing = self.actor.amount_due().unwrap_or(0);
        let end = public.pot + missing;
        let chance = self.win_chance();
        let wins = hundredths_of(end, u32::from(public.rules.winner_share));
        let rest = (end - wins) / (self.seats_in() - 1).max(1);
        let expected = hundredths_of(wins, chance) + hundredths_of(rest, SURE - chance);
        if self.chips() >= missing {
            return if expected >= missing { Action::Pay } else { Action::Retreat };
        }
        let percent = self.chips() * 100 / public.risk.max(1);
        let percent = u8::try_from(percent).unwrap_or(*LEVERAGE.end()).min(*LEVERAGE.end());
        let is_circle =
            matches!(public.phase, Phase::Confront { seat, confronter } if seat != confronter);
        if is_circle && public.rules.leverage && LEVERAGE.contains(&percent) {
            return Action::Leverage { percent };
        }
        Action::Retreat
    }

    /// Pays a debt that is less than an equal part of the pot.
    fn settle_debt(&self) -> Option<Action> {
        let owes = self.public().players[self.actor.seat].owes;
        let is_dear = owes > self.public().pot / self.seats_in().max(1);
        is_dear.then_some(Action::Retreat)
    }
}

/// The lowest prices with a risk.
pub(super) fn lowest_prices(risk: u32) -> (u32, u32) {
    (PriceBounds::for_risk(risk).purchase_min, 1)
}

/// The slots of a section with what lies there.
fn laid_assets(before: &Assets) -> impl Iterator<Item = (u8, Card)> {
    (0..).zip(before).filter_map(|(slot, asset)| Some((slot, (*asset)?)))
}

/// What a hand is worth while it is built.
fn hand_value(hand: CardSet) -> u32 {
    let HandRank { class, number, .. } = HandRank::from_hand(hand);
    let class = Class::ALL.iter().take_while(|weaker| **weaker < class).map(|_| 1).sum::<u32>();
    class * CLASS_WORTH + u32::from(largest_group(hand)) * GROUP_WORTH + u32::from(number)
}

/// So many hundredths.
fn hundredths_of(amount: u32, hundredths: u32) -> u32 {
    amount / 100 * hundredths + amount % 100 * hundredths / 100
}
