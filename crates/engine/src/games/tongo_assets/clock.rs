//! The actions of the clock (rule 7.2).

use crate::games::tongo_assets::action::Action;
use crate::games::tongo_assets::legal::Actor;
use crate::games::tongo_assets::phase::Phase;
use crate::games::tongo_assets::rules::PriceBounds;

/// Returns the action that the clock plays; `None` for a seat that is not prompted.
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
            let may_pay = actor.amount_due().is_some_and(|missing| actor.can_pay(missing).is_ok());
            Some(if may_pay { Action::Pay } else { Action::Retreat })
        }
        Phase::Assess { .. } => Some(Action::Done),
        variants!(Phase: Dealer, Assets, Acquires, Deal, Stop, Showdown, LastIn, Over) => None,
    }
}
