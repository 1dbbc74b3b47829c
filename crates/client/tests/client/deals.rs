//! The check of a deal at the end of a game.

use bahay_client::{Input, SeedText, Wish};
use bahay_engine::catalog;
use bahay_engine::table::PhaseView;

use crate::house::House;

/// Plays a game by the clock and returns whether each deal holds that the client has checked.
fn play_game(withholds_seeds: bool) -> Vec<Option<bool>> {
    let mut house = House::new(&catalog::kinds()[0]);
    house.withholds_seeds = withholds_seeds;
    house.advance(50);
    let wish = Wish::Ready { seed_text: SeedText::Drawn };
    house.handle(Input::Command { command: 1, wish });
    let phase =
        |house: &House| house.core.state().table.as_ref().map(|table| table.view.phase.clone());
    let mut has_begun = false;
    for _ in 0..4_000 {
        match phase(&house) {
            Some(PhaseView::Playing { .. }) => has_begun = true,
            Some(PhaseView::Preparing { .. } | PhaseView::Settling { .. }) | None if has_begun => {
                return house.deals;
            }
            _ => {}
        }
        house.advance(250);
    }
    panic!("the game never ends");
}

/// A duplicate shows a seed only when its round is over at all tables, so that a deal without one is
/// unknown, not wrong.
#[test]
fn an_end_without_a_seed_says_nothing_about_the_deal() {
    assert_eq!(play_game(false), [Some(true)]);
    assert_eq!(play_game(true), []);
}
