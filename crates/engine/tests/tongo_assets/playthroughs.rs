//! Golden playthroughs: whole games as text, to be read as a diff when the rules, the AI or the
//! wire change. `BLESS=1 cargo nextest run -p bahay-engine` rewrites what follows each header.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;

use bahay_engine::chance::{Key, Stream};
use bahay_engine::game::GameKind;
use bahay_engine::games::tongo_assets::TongoAssets;
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::testing::{Dice, Policy, playthrough};

fn play(header: &str) -> (String, usize, String) {
    let field = |name: &str| {
        let prefix = format!("{name}: ");
        let line = header.lines().find_map(|line| line.strip_prefix(prefix.as_str()));
        line.unwrap_or_else(|| panic!("the header has no {name}"))
    };
    let policy = |word: &str| match word {
        "advised" => Policy::Advised,
        "random" => Policy::Random,
        "clock" => Policy::Clock,
        other => panic!("no policy is called {other}"),
    };
    let key = Key(field("key").parse::<Hex<32>>().expect("a key is 64 digits"));
    let starter = field("starter").parse().ok().and_then(Seat::new);
    let policies: Vec<Policy> = field("players").split(' ').map(policy).collect();
    let name = field("rules");
    let set = TongoAssets::rule_sets().iter().find(|set| set.name == name).expect("a rule set");
    let mut dice = Dice::new(u64::from(key.0.0[0]));
    let rules = (set.rules)();
    let text = playthrough::<TongoAssets>(&rules, starter, &Stream::new(key), &policies, &mut dice);
    (text, policies.len(), name.to_owned())
}

#[test]
fn games_go_as_they_went() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/playthroughs/tongo_assets");
    let (mut seats, mut rule_sets) = (BTreeSet::new(), BTreeSet::new());
    for entry in fs::read_dir(folder).expect("the playthroughs are there") {
        let path = entry.expect("a readable folder").path();
        let text = fs::read_to_string(&path).expect("a readable file");
        let (header, _) = text.split_once("\n\n").expect("a header and a game");
        let (game, players, rules) = play(header);
        let played = format!("{header}\n\n{game}");
        if env::var_os("BLESS").is_some() {
            fs::write(&path, played).expect("a writable file");
        } else {
            let differ = text.lines().zip(played.lines()).zip(1..).find(|((a, b), _)| a != b);
            if let Some(((kept, now), line)) = differ {
                panic!("{} line {line}\n  kept {kept}\n  now  {now}", path.display());
            }
            assert_eq!(text.len(), played.len(), "{}", path.display());
        }
        seats.insert(players);
        rule_sets.insert(rules);
    }
    assert!(seats.len() >= 3, "games with three numbers of seats are kept, not {seats:?}");
    assert_eq!(rule_sets.len(), TongoAssets::rule_sets().len(), "a game of each rule set is kept");
}
