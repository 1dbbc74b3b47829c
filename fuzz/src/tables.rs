//! Tables where bots have played, as the documents that they left: made once for each process.

use std::sync::OnceLock;

use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, GameKind, Hits, Skill};
use bahay_engine::games::tongits::Tongits;
use bahay_engine::games::tongo_assets::TongoAssets;
use bahay_engine::games::tongo_options::TongoOptions;
use bahay_engine::table::simulation::{Habits, Simulation};
use bahay_engine::table::{Clocks, Price, Spectators, Terms};
use serde_json::Value;

use crate::Choices;

/// What is left of some games of one kind.
#[derive(Debug)]
pub struct Played {
    pub kind: &'static str,
    pub records: Vec<Value>,
    /// A table as it was, and the line that came next.
    pub steps: Vec<(Value, Value)>,
}

/// Games of the kind that bytes name.
pub fn played(choices: &mut Choices<'_>) -> &'static Played {
    static PLAYED: [OnceLock<Played>; 3] = [const { OnceLock::new() }; 3];
    let kind = choices.below(PLAYED.len());
    PLAYED[kind].get_or_init(|| match kind {
        0 => play::<Tongits>(),
        1 => play::<TongoOptions>(),
        _ => play::<TongoAssets>(),
    })
}

/// One game by each rule set, by players with bad habits.
fn play<G: GameKind>() -> Played {
    let mut played = Played { kind: G::NAME, records: Vec::new(), steps: Vec::new() };
    for (seed, set) in (1..).zip(G::rule_sets()) {
        let mut simulation = simulation::<G>(seed, (set.rules)(), set.hits);
        loop {
            let before = document(simulation.table());
            let happened = simulation.step();
            played.steps.push((before, document(&happened.line)));
            if let Some(record) = &happened.record {
                played.records.push(document(record));
                break;
            }
        }
    }
    played
}

/// A table with players who have bad habits, and coins enough.
pub fn simulation<G: Game>(seed: u64, rules: G::Rules, hits: Option<Hits>) -> Simulation<G> {
    let bet = Coins::from_whole(1).expect("it is small");
    let terms = Terms {
        room: "newbie".to_owned(),
        rules,
        price: Price { bet, multiplier: 1, fee_basis_points: 500 },
        hits,
        clocks: Clocks::default(),
        spectators: Spectators::default(),
        bots: Skill::default(),
        private: None,
        practice: false,
    };
    let welcome = Coins::from_whole(100_000).expect("it is small");
    Simulation::new(seed, terms, Habits::ROUGH, welcome)
}

fn document(of: &impl serde::Serialize) -> Value {
    serde_json::to_value(of).expect("what tables write is JSON")
}
