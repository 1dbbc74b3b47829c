//! The metrics of a server: they change with its work, and the dashboard uses only existing ones.

use std::collections::BTreeSet;

use crate::support::house::House;

/// Returns the names of our metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let is_of_name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let found = text.match_indices("bahay_").map(|(at, _)| &text[at..]);
    found.map(|rest| rest.chars().take_while(|letter| is_of_name(*letter)).collect()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dashboard_asks_for_figures_that_there_are() {
    let (house, client) = House::with_guest().await;
    let shown = names(&client.metrics(&house.probes).await.unwrap());
    let asked = names(include_str!("../../../docs/grafana.json"));
    assert!(asked.len() > 20, "{asked:?}");
    // Exposed after the first refusal.
    let always = |name: &&String| *name != "bahay_refusals_total";
    let missing: Vec<_> = asked.difference(&shown).filter(always).collect();
    assert!(missing.is_empty(), "{missing:?} are not among {shown:?}");
}
