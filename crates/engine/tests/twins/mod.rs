//! Equal traffic for equal knowledge: in two games that differ only in what is hidden, the same
//! action brings every viewer who cannot distinguish them the same number of events, of the same
//! names and lengths, in the same order, and the same prompt. This holds for every action of every
//! kind.
//!
//! Exceptions that the rules themselves allow are listed by rule. `tests/it/sockets/twins.rs` does
//! the same over real sockets.

use std::collections::{BTreeMap, BTreeSet};

use bahay_bots::Ai;
use bahay_engine::game::{GameKind, Viewer};
use bahay_engine::games::tongits::{Rules, Tongits};
use bahay_engine::testing::{
    Probe, TongitsProbe, TwinPair, VisibleEvent, for_each_twin_pair, tongits_disclosure_rule,
};

use super::broken::{Broken, Fault};
use crate::support::serialized_name;

const GAMES: u64 = 200;

/// Counts of the compared pairs of one action.
#[derive(Debug, Default)]
struct Compared {
    pairs: usize,
    /// Pairs that differ only where no viewer may see it.
    in_secret: usize,
    /// Pairs that a rule allows a viewer to distinguish, by rule.
    by_rule: BTreeMap<&'static str, usize>,
}

#[test]
fn tongits_tells_nobody_what_is_hidden() {
    let compared = compare::<Tongits>(&TongitsProbe, tongits_disclosure_rule);
    let names: BTreeSet<&str> = compared.keys().map(String::as_str).collect();
    let all = ["draw", "chow", "fight", "drop", "sapaw", "dump", "tongits", "challenge", "fold"];
    assert_eq!(names, all.into_iter().collect(), "every action is compared: {compared:#?}");
    assert!(compared["fight"].in_secret > 0, "who is asked in secret differs: {compared:#?}");
    let rules: BTreeSet<&str> =
        compared.values().flat_map(|found| found.by_rule.keys().copied()).collect();
    assert_eq!(rules, BTreeSet::from(["3.1", "4.3", "10.2"]), "{compared:#?}");
}

/// The canary: a game that shows secret prompts to every seat is detected.
#[test]
fn a_game_that_tells_is_found() {
    let rules = (Fault::EventsLeak, Rules::kingdom());
    let mut found = 0;
    for seed in 0..GAMES {
        for_each_twin_pair::<Broken>(&TongitsProbe, Broken::choose_action, &rules, seed, |pair| {
            let told = |viewer: &Viewer| told_apart(&pair, *viewer, |_| None).is_err();
            let is_fight = pair.action == bahay_engine::games::tongits::Action::Fight;
            found += usize::from(is_fight && pair.alike_for.iter().any(told));
        });
    }
    assert!(found > 0, "nobody is told apart");
}

/// Compares every viewer's traffic in pairs of some games of each rule set.
fn compare<G: Ai + GameKind>(
    probe: &impl Probe<G>,
    tells: impl Fn(&VisibleEvent) -> Option<&'static str>,
) -> BTreeMap<String, Compared> {
    let mut compared: BTreeMap<String, Compared> = BTreeMap::new();
    for set in G::rule_sets() {
        for seed in 0..GAMES {
            for_each_twin_pair::<G>(probe, G::choose_action, &(set.rules)(), seed, |pair| {
                let found = compared.entry(serialized_name(&pair.action)).or_default();
                found.pairs += 1;
                found.in_secret += usize::from(pair.diverges_secretly());
                for viewer in &pair.alike_for {
                    let rule = told_apart(&pair, *viewer, &tells);
                    let rule =
                        rule.unwrap_or_else(|what| panic!("{} seed {seed}: {what}", set.name));
                    if let Some(rule) = rule {
                        *found.by_rule.entry(rule).or_default() += 1;
                    }
                }
            });
        }
    }
    compared
}

/// Returns the rule by which the viewer may distinguish the two games after the action; `None` if
/// it cannot.
fn told_apart<G: Ai + GameKind>(
    pair: &TwinPair<G>,
    viewer: Viewer,
    tells: impl Fn(&VisibleEvent) -> Option<&'static str>,
) -> Result<Option<&'static str>, String> {
    let [one, other] = pair.traffic_for(viewer);
    let kept = |seen: &VisibleEvent| (seen.name.clone(), seen.length);
    let same = one.events.iter().zip(&other.events);
    let same = same.take_while(|(one, other)| kept(one) == kept(other)).count();
    // A difference may begin before the event that reveals it: no seat is prompted in a fight that
    // is over (rule 11.2).
    let rest = [&one, &other].map(|seen| seen.events.get(same..).unwrap_or_default());
    let told = rest.into_iter().flatten().find_map(&tells);
    let told = told.or_else(|| one.events.iter().find_map(&tells));
    if told.is_some() || rest == [[], []] && one.prompt == other.prompt {
        return Ok(told);
    }
    Err(format!(
        "{viewer:?} tells apart what {:?} plays, {:?}: {one:#?} is not {other:#?} in {pair:#?}",
        pair.seat, pair.action
    ))
}
