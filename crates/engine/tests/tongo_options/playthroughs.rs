//! Golden playthroughs: whole games as text, to be read as a diff when the rules, the AI or the
//! wire change. `BLESS=1 cargo nextest run -p bahay-engine` rewrites what follows each header.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;

use bahay_engine::chance::{Key, Stream};
use bahay_engine::game::GameKind;
use bahay_engine::games::tongo_options::{Rules, TongoOptions};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::testing::{Dice, Policy, playthrough};

/// What a file's header says, up to the first empty line.
struct Header {
    /// The name of the rule set.
    set: String,
    rules: Rules,
    key: Key,
    dealer: Option<Seat>,
    policies: Vec<Policy>,
}

impl Header {
    fn parse(text: &str) -> Self {
        let field = |name: &str| {
            let prefix = format!("{name}: ");
            let line = text.lines().find_map(|line| line.strip_prefix(prefix.as_str()));
            line.unwrap_or_else(|| panic!("the header has no {name}"))
        };
        let policy = |word: &str| match word {
            "advised" => Policy::Advised,
            "random" => Policy::Random,
            "clock" => Policy::Clock,
            other => panic!("no policy is called {other}"),
        };
        let mut words = field("rules").split(' ');
        let set = words.next().expect("the name of a rule set").to_owned();
        let named = TongoOptions::rule_sets().iter().find(|one| one.name == set);
        let mut rules = (named.expect("a rule set of this name").rules)();
        for switch in words {
            match switch {
                "dice_2d6" => rules.dice_2d6 = true,
                "index_margin" => rules.index_margin = true,
                "no_free_exchange" => rules.free_exchange = false,
                other => panic!("no switch is called {other}"),
            }
        }
        Self {
            set,
            rules,
            key: Key(field("key").parse::<Hex<32>>().expect("a key is 64 digits")),
            dealer: field("dealer").parse().ok().and_then(Seat::new),
            policies: field("players").split(' ').map(policy).collect(),
        }
    }

    fn play(&self) -> String {
        let mut dice = Dice::new(u64::from(self.key.0.0[0]));
        let stream = Stream::new(self.key);
        playthrough::<TongoOptions>(&self.rules, self.dealer, &stream, &self.policies, &mut dice)
    }
}

#[test]
fn games_go_as_they_went() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/playthroughs/tongo_options");
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut seats: Vec<usize> = Vec::new();
    for entry in fs::read_dir(folder).expect("the playthroughs are there") {
        let path = entry.expect("a readable folder").path();
        let text = fs::read_to_string(&path).expect("a readable file");
        let (header, _) = text.split_once("\n\n").expect("a header and a game");
        let parsed = Header::parse(header);
        let played = format!("{header}\n\n{}", parsed.play());
        if env::var_os("BLESS").is_some() {
            fs::write(&path, played).expect("a writable file");
        } else {
            let differ = text.lines().zip(played.lines()).zip(1..).find(|((a, b), _)| a != b);
            if let Some(((kept, now), line)) = differ {
                panic!("{} line {line}\n  kept {kept}\n  now  {now}", path.display());
            }
            assert_eq!(text.len(), played.len(), "{}", path.display());
        }
        seats.push(parsed.policies.len());
        *counts.entry(parsed.set).or_default() += 1;
    }
    for set in TongoOptions::rule_sets() {
        let count = counts.get(set.name).copied().unwrap_or_default();
        assert!((2..=5).contains(&count), "some games of {} are kept, not {count}", set.name);
    }
    seats.sort_unstable();
    seats.dedup();
    assert!(seats.len() >= 3, "games of several numbers of seats are kept: {seats:?}");
}
