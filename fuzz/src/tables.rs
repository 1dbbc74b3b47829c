//! Documents of tables at which bots have played, created once per process.

use std::sync::OnceLock;

use bahay_bots::Ai;
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::coins::Coins;
use bahay_engine::game::{GameKind, Hits};
use bahay_engine::games::tongits::Tongits;
use bahay_engine::games::tongo_assets::TongoAssets;
use bahay_engine::games::tongo_options::TongoOptions;
use bahay_engine::testing;
use serde_json::Value;

use crate::Choices;

/// The documents of games of one kind.
#[derive(Debug)]
pub struct TableDocuments {
    pub kind: &'static str,
    pub records: Vec<Value>,
    /// A table's snapshot and the line that follows it.
    pub steps: Vec<(Value, Value)>,
}

/// Returns the documents of the kind that the bytes select.
pub fn table_documents(choices: &mut Choices<'_>) -> &'static TableDocuments {
    static DOCUMENTS: [OnceLock<TableDocuments>; 3] = [const { OnceLock::new() }; 3];
    let kind = choices.below(DOCUMENTS.len());
    DOCUMENTS[kind].get_or_init(|| match kind {
        0 => play::<Tongits>(),
        1 => play::<TongoOptions>(),
        _ => play::<TongoAssets>(),
    })
}

/// Plays one game of each rule set, by players who go silent, disconnect and send invalid actions.
fn play<G: Ai + GameKind>() -> TableDocuments {
    let mut documents = TableDocuments { kind: G::NAME, records: Vec::new(), steps: Vec::new() };
    for (seed, set) in (1..).zip(G::rule_sets()) {
        let mut simulation = simulation::<G>(seed, (set.rules)(), set.hits);
        loop {
            let before = to_document(simulation.table());
            let happened = simulation.step();
            documents.steps.push((before, to_document(&happened.line)));
            if let Some(record) = &happened.record {
                documents.records.push(to_document(record));
                break;
            }
        }
    }
    documents
}

/// Returns a simulation of a table with such players and sufficient coins.
pub fn simulation<G: Ai>(seed: u64, rules: G::Rules, hits: Option<Hits>) -> Simulation<G> {
    let bet = Coins::from_whole(1).expect("the amount is small");
    let terms = testing::terms(rules, hits, bet, 1);
    let welcome = Coins::from_whole(100_000).expect("the amount is small");
    Simulation::new(seed, terms, Habits::ROUGH, welcome)
}

fn to_document(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("table documents serialize")
}
