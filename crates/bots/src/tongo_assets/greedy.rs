//! The AI of the house: sound play from a view alone, and the same action for the same view.
//!
//! It exploits that the risk never falls. A seat that cannot pay the risk a second time can neither
//! confront nor open the next round, and if no seat can, all retreat in turn until the last opener
//! has the whole pot. Therefore the AI *presses*: it opens so high that nobody else can pay twice,
//! raises only as far as it can still pay until it opens again, and retreats when it is pressed
//! itself. Otherwise it builds a hand while cards are cheap, confronts with a hand that is probably
//! the strongest, and shows its hand if its share of the pot is worth the risk.
//!
//! Arithmetic uses integers in chips and hundredths. Evasions, offering bribes, memory of seen
//! cards, and any search beyond the next card are deliberately absent.

use bahay_engine::games::tongo_assets::analysis::{
    Actor, HAND_MAX, KEPT_MAX, LEVERAGE, default_action, largest_group,
};
use bahay_engine::games::tongo_assets::{
    Acquire, Action, Assets, Card, CardSet, Class, HandRank, OwnKnowledge, Phase, PriceBounds,
    PublicState, View,
};
use bahay_engine::seat::Seat;
use bahay_engine::variants;

/// Chooses the AI's action; `None` if the viewer is not prompted.
pub(super) fn choose_action(view: &View) -> Option<Action> {
    let actor = view.actor()?;
    let own = view.own.as_ref()?;
    // The fallback is the action of the clock.
    let plain = default_action(&actor)?;
    Some(BotPosition { actor, own }.choose_action().unwrap_or(plain))
}

/// The fraction of its chips that a seat spends on a cheap purchase, as a divisor.
const CHEAP: u32 = 25;

/// A certain chance, in hundredths.
const SURE: u32 = 100;

/// The chance of the strongest hand, in hundredths, above which the seat confronts without need.
const CONFIDENT: u32 = 75;

/// The value of a class, and of each card of the largest group, while a hand is built.
const CLASS_WORTH: u32 = 150;
const GROUP_WORTH: u32 = 120;

/// The knowledge of a seat from which it chooses an action.
#[derive(Clone, Copy, Debug)]
struct BotPosition<'a> {
    actor: Actor<'a>,
    own: &'a OwnKnowledge,
}

impl BotPosition<'_> {
    fn choose_action(&self) -> Option<Action> {
        if self.public().offer.is_some() {
            // A bribe creates no obligation (rule 4.6).
            return Some(Action::Accept);
        }
        match self.public().phase {
            Phase::Open { .. } if self.public().is_last() => None,
            Phase::Open { .. } => Some(self.choose_opening()),
            Phase::Risk { .. } => Some(self.choose_risk_action()),
            Phase::Assess { swapped, .. } => Some(self.choose_assessment_action(swapped)),
            Phase::Confront { .. } => Some(self.answer_confront()),
            Phase::Debts { .. } => self.settle_debt(),
            variants!(Phase: Dealer, Assets, Acquires, Deal, Stop, Showdown, LastIn, Over) => None,
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

    /// Returns the number of seats still in the game.
    fn seats_in(&self) -> u32 {
        self.public().playing.iter().map(|_| 1).sum()
    }

    /// Returns the maximum of the chips that another seat has after paying this risk.
    fn richest_after(&self, risk: u32) -> u32 {
        let left = |seat: Seat| {
            let player = &self.public().players[seat];
            player.chips.checked_sub(risk.saturating_sub(player.paid))
        };
        self.others().filter_map(left).max().unwrap_or(0)
    }

    /// Chooses the opening: high enough to press all other seats if possible, otherwise no higher
    /// than the seat can pay again.
    fn choose_opening(&self) -> Action {
        let (least, most) = self.public().opening_risk();
        let chips = self.chips();
        let others = self.others();
        let most = most.min(chips);
        if least > most {
            return Action::Retreat;
        }
        let chips_of = |seat: Seat| self.public().players[seat].chips;
        let richest = others.clone().map(chips_of).max().unwrap_or(0);
        let poorest = others.map(chips_of).min().unwrap_or(0);
        let pressing = (richest / 2 + 1).max(least);
        let risk = if pressing <= most {
            // As high as all seats can pay, so that the pot is large.
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

    /// Chooses to pay, raise or retreat.
    fn choose_risk_action(&self) -> Action {
        let public = self.public();
        let player = &public.players[self.actor.seat];
        let missing = public.risk - player.paid;
        let is_opener = public.opener == Some(self.actor.seat);
        let Some(left) = player.chips.checked_sub(missing) else { return Action::Retreat };
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

    /// Returns the number of openings until this seat opens a round: 1 if it opens the next.
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

    /// Chooses an action of the assessment: builds the hand, takes what is free, and confronts or
    /// ends the assessment.
    fn choose_assessment_action(&self, swapped: bool) -> Action {
        if self.actor.has_kept(Acquire::Dividend) {
            return Action::Dividend;
        }
        let Some(before) = self.own.before else { return Action::Done };
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
        self.best_exchange(before, self.own.hand.assets())
            .map(|(discard, slot)| Action::Swap { discard, slot })
    }

    /// Returns the best purchase for a hand of fewer than seven cards while it is cheap, or a free
    /// one.
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
            let exchange = if free { self.best_exchange(before, hand) } else { None };
            let purchase =
                |(discard, slot)| Action::Purchase { slot, discard: Some(discard), free };
            return exchange.map(purchase);
        }
        let group = largest_group(hand);
        let fits = |card: Card| largest_group(hand.with(card)) > group;
        let best = laid_assets(before).max_by_key(|(_, card)| hand_value(hand.with(*card)));
        let fitting = best.filter(|(_, card)| fits(*card));
        let section = public.sections[public.section_of(self.actor.seat)];
        let kept = self.own.kept.count() - u8::from(free);
        // A wild fits if no asset of the section does.
        let may_acquire = section.acquires > 0 && kept < KEPT_MAX;
        if fitting.is_none() && may_acquire && self.chips() >= public.risk + reserve {
            return Some(Action::Acquire { replace: None, free });
        }
        best.map(|(slot, _)| Action::Purchase { slot, discard: None, free })
    }

    /// Returns the exchange of one of these cards of the hand for a laid asset that improves the
    /// hand most: the card, and the slot of the asset.
    fn best_exchange(&self, before: &Assets, discards: CardSet) -> Option<(Card, u8)> {
        let hand = self.own.hand;
        let mut best = (hand_value(hand), None);
        for discard in discards.iter() {
            for (slot, card) in laid_assets(before) {
                let worth = hand_value(hand.without(discard).with(card));
                if worth > best.0 {
                    best = (worth, Some((discard, slot)));
                }
            }
        }
        best.1
    }

    /// Returns whether a confront is better than another round.
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
        let expected = self.expected_share(end, chance);
        if urged {
            return expected >= public.risk;
        }
        // The value of waiting is an equal share of the pot.
        let waits = public.pot / self.seats_in().max(1) + public.risk;
        chance >= CONFIDENT && expected > waits
    }

    /// Returns whether a seat that opens next can open so high that nobody else pays twice.
    fn can_press(&self, opener: Seat) -> bool {
        let public = self.public();
        let chips = |seat: Seat| public.players[seat].chips;
        let others = public.playing.without(opener).iter();
        let richest = others.map(chips).max().unwrap_or(0);
        let most = (public.risk + public.rules.raise_max).min(chips(opener));
        richest / 2 < most && public.risk <= most
    }

    /// Returns the chance that the hand is the strongest of all seats still in, in hundredths.
    fn win_chance(&self) -> u32 {
        let class = HandRank::from_hand(self.own.hand).class;
        let against = |seat: Seat| {
            let hand = self.public().players[seat].hand();
            let (against_few, against_five) = match class {
                Class::Nothing => (5, 5),
                Class::Reserve => (50, 15),
                Class::Treasury => (95, 50),
                Class::MaterialContinuum => (97, 75),
                Class::Consortium => (95, 95),
                Class::FullConsortium => (98, 98),
                Class::Monopoly | Class::FullMonopoly => (99, 99),
            };
            if hand < 5 { against_few } else { against_five }
        };
        self.others().map(against).fold(SURE, hundredths_of)
    }

    /// Returns the expected share of a pot at a showdown that the seat wins with this chance.
    fn expected_share(&self, pot: u32, chance: u32) -> u32 {
        let wins = hundredths_of(pot, u32::from(self.public().rules.winner_share));
        let rest = (pot - wins) / (self.seats_in() - 1).max(1);
        hundredths_of(wins, chance) + hundredths_of(rest, SURE - chance)
    }

    /// Answers a confront: shows the hand if the expected share of the pot is worth the risk.
    fn answer_confront(&self) -> Action {
        let public = self.public();
        let missing = self.actor.amount_due().unwrap_or(0);
        let end = public.pot + missing;
        let expected = self.expected_share(end, self.win_chance());
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

    /// Retreats from a debt that exceeds an equal share of the pot; `None` otherwise, so that the
    /// fallback pays.
    fn settle_debt(&self) -> Option<Action> {
        let owes = self.public().players[self.actor.seat].owes;
        let is_dear = owes > self.public().pot / self.seats_in().max(1);
        is_dear.then_some(Action::Retreat)
    }
}

/// Returns the lowest prices for a risk.
pub(super) fn lowest_prices(risk: u32) -> (u32, u32) {
    (PriceBounds::for_risk(risk).purchase_min, 1)
}

/// Iterates over the occupied slots of a section with their assets.
fn laid_assets(before: &Assets) -> impl Iterator<Item = (u8, Card)> {
    (0..).zip(before).filter_map(|(slot, asset)| Some((slot, (*asset)?)))
}

/// Returns the value of a hand while it is built.
fn hand_value(hand: CardSet) -> u32 {
    let HandRank { class, number, .. } = HandRank::from_hand(hand);
    let class = Class::ALL.iter().take_while(|weaker| **weaker < class).map(|_| 1).sum::<u32>();
    class * CLASS_WORTH + u32::from(largest_group(hand)) * GROUP_WORTH + u32::from(number)
}

/// Returns `hundredths` hundredths of the amount, without overflow.
fn hundredths_of(amount: u32, hundredths: u32) -> u32 {
    amount / 100 * hundredths + amount % 100 * hundredths / 100
}
