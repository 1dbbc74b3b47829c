//! The AI of every game of the catalogue, as that of [`AnyGame`], by delegation to the game.

use alloc::vec::Vec;

use bahay_engine::catalog::{AnyAction, AnyEvent, AnyGame, AnyView};
use bahay_engine::chance::ChanceRng;
use bahay_engine::for_games;
use bahay_engine::game::{GameKind, Skill};
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::spaces::Spaces;
use bahay_engine::table::Lift;

use crate::ai::{Ai, SampledGame};

/// A computation that is generic over one game of the catalogue with its AI.
pub trait Visitor {
    type Output;

    fn visit<G: Ai + Lift<AnyGame> + Spaces + 'static>(self) -> Self::Output;
}

macro_rules! ai_catalog {
    (games { $($variant:ident($game:ty)),+ $(,)? } tests { $($tried:ident($tried_game:ty)),* $(,)? }) => {
        ai_catalog!(@any $($variant($game)),+ $(, $tried($tried_game))*);

        // A game of the tests has a sample of an action and no further AI.
        $(
        impl Ai for $tried_game {
            fn choose_action(view: &Self::View) -> Option<Self::Action> {
                Self::sample_action(view)
            }
        }
        )*
    };

    (@any $($variant:ident($game:ty)),+) => {
        impl Ai for AnyGame {
            fn choose_action(view: &AnyView) -> Option<AnyAction> {
                match view {
                    $(AnyView::$variant(view) => {
                        <$game>::choose_action(view).map(AnyAction::$variant)
                    })+
                }
            }

            fn choose_action_with_memory(
                skill: Skill,
                view: &AnyView,
                shown: &mut dyn Iterator<Item = &AnyEvent>,
            ) -> Option<AnyAction> {
                match view {
                    $(AnyView::$variant(view) => {
                        let mut shown = shown.filter_map(<$game>::lower_event);
                        let action = <$game>::choose_action_with_memory(skill, view, &mut shown);
                        action.map(AnyAction::$variant)
                    })+
                }
            }

            fn choose_uncommitted_action(
                view: &AnyView,
                shown: &mut dyn Iterator<Item = &AnyEvent>,
            ) -> Option<AnyAction> {
                match view {
                    $(AnyView::$variant(view) => {
                        let mut shown = shown.filter_map(<$game>::lower_event);
                        let action = <$game>::choose_uncommitted_action(view, &mut shown);
                        action.map(AnyAction::$variant)
                    })+
                }
            }

            fn candidate_actions(view: &AnyView, actions: &mut Vec<AnyAction>) {
                match view {
                    $(AnyView::$variant(view) => {
                        let mut worth = Vec::new();
                        <$game>::candidate_actions(view, &mut worth);
                        actions.extend(worth.into_iter().map(AnyAction::$variant));
                    })+
                }
            }

            fn evaluate_actions(view: &AnyView, quick: &[SeatSet]) -> Vec<(AnyAction, i64)> {
                match view {
                    $(AnyView::$variant(view) => {
                        let judged = <$game>::evaluate_actions(view, quick).into_iter();
                        judged.map(|(action, worth)| (AnyAction::$variant(action), worth)).collect()
                    })+
                }
            }

            fn sample_game(view: &AnyView, dice: &mut ChanceRng) -> Option<Self> {
                match view {
                    $(AnyView::$variant(view) => {
                        <$game>::sample_game(view, dice).map(AnyGame::$variant)
                    })+
                }
            }

            fn sample_likely_games(
                view: &AnyView,
                shown: &[AnyEvent],
                count: u32,
                dice: &mut ChanceRng,
            ) -> Vec<SampledGame<Self>> {
                match view {
                    $(AnyView::$variant(view) => {
                        let shown = shown.iter().filter_map(<$game>::lower_event).cloned();
                        let shown: Vec<_> = shown.collect();
                        let games = <$game>::sample_likely_games(view, &shown, count, dice);
                        let any = |one: SampledGame<$game>| SampledGame {
                            game: AnyGame::$variant(one.game),
                            quick: one.quick,
                        };
                        games.into_iter().map(any).collect()
                    })+
                }
            }

            fn look_ahead(&self, quick: SeatSet, seat: Seat, action: &AnyAction) -> Option<i64> {
                match (self, action) {
                    $((AnyGame::$variant(game), AnyAction::$variant(action)) => {
                        game.look_ahead(quick, seat, action)
                    })+
                    _ => None,
                }
            }

            fn imagined_game_count(view: &AnyView) -> Option<u32> {
                match view {
                    $(AnyView::$variant(view) => <$game>::imagined_game_count(view),)+
                }
            }
        }

        /// Runs `visitor` with the game of this name; `None` if there is no such game.
        pub fn with_kind<V: Visitor>(kind: &str, visitor: V) -> Option<V::Output> {
            $(if kind == <$game as GameKind>::NAME {
                return Some(visitor.visit::<$game>());
            })+
            None
        }
    };
}

for_games!(ai_catalog);
