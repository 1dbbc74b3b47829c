//! Golden playthroughs: whole games as text, to be read as a diff when the rules, the AI or the
//! wire change. `BLESS=1 cargo nextest run -p bahay-engine` rewrites what follows each header.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;

use bahay_engine::chance::{Key, Stream};
use bahay_engine::games::tongits::{Rules, Tongits};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::testing::{Dice, Policy, playthrough};

/// What a file's header says, up to the first empty line.
struct Header {
    /// The name of the rule set.
    rules: String,
    key: Key,
    starter: Option<Seat>,
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
        Self {
            rules: field("rules").to_owned(),
            key: Key(field("key").parse::<Hex<32>>().expect("a key is 64 digits")),
            starter: field("starter").parse().ok().and_then(Seat::new),
            policies: field("players").split(' ').map(policy).collect(),
        }
    }

    fn play(&self) -> String {
        let mut dice = Dice::new(u64::from(self.key.0.0[0]));
        let stream = Stream::new(self.key);
        let rules = Rules::preset(&self.rules).expect("a rule set of this name");
        playthrough::<Tongits>(&rules, self.starter, &stream, &self.policies, &mut dice)
    }
}

#[test]
fn games_go_as_they_went() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/playthroughs");
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the playthroughs are there") {
        let path = entry.expect("a readable folder").path();
        // Each other game has a folder and a test of its own.
        if path.is_dir() {
            continue;
        }
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
        *counts.entry(parsed.rules).or_default() += 1;
    }
    for name in Rules::PRESETS {
        let count = counts.get(name).copied().unwrap_or_default();
        assert!((3..=5).contains(&count), "three to five games of {name} are kept, not {count}");
    }
}
