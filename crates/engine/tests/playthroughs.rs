//! Golden playthroughs: whole games as text, whose diff shows the effects of changes to rules, AI
//! or wire format. `BLESS=1 cargo nextest run -p bahay-engine` rewrites the part after each header.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;

use bahay_bots::Ai;
use bahay_engine::chance::{Key, Stream};
use bahay_engine::game::{GameKind, GameRules, SeatRange};
use bahay_engine::games::tongits::Tongits;
use bahay_engine::games::tongo_assets::TongoAssets;
use bahay_engine::games::tongo_options::TongoOptions;
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::testing::{Policy, TestRng, parse_rules, playthrough};

#[test]
fn games_of_tongits_go_as_they_went() {
    compare::<Tongits>();
}

#[test]
fn games_of_tongo_options_go_as_they_went() {
    compare::<TongoOptions>();
}

#[test]
fn games_of_tongo_assets_go_as_they_went() {
    compare::<TongoAssets>();
}

/// Replays every stored game of a kind.
fn compare<G: Ai + GameKind>() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/playthroughs").join(G::NAME);
    let (mut sets, mut seats) = (BTreeSet::new(), BTreeSet::new());
    for entry in fs::read_dir(folder).expect("the playthroughs are there") {
        let path = entry.expect("a readable folder").path();
        let text = fs::read_to_string(&path).expect("a readable file");
        let (header, _) = text.split_once("\n\n").expect("a header and a game");
        let parsed = Header::parse(header);
        let played = format!("{header}\n\n{}", parsed.play::<G>());
        if env::var_os("BLESS").is_some() {
            fs::write(&path, played).expect("a writable file");
        } else {
            let differ = text.lines().zip(played.lines()).zip(1..).find(|((a, b), _)| a != b);
            if let Some(((kept, now), line)) = differ {
                panic!("{} line {line}\n  kept {kept}\n  now  {now}", path.display());
            }
            assert_eq!(text.len(), played.len(), "{}", path.display());
        }
        sets.insert(parsed.rules.split(' ').next().expect("a name").to_owned());
        seats.insert(parsed.policies.len());
    }
    for set in G::rule_sets() {
        assert!(sets.contains(set.name), "a game of {} is kept", set.name);
    }
    let SeatRange { least, most } = (G::rule_sets()[0].rules)().seats();
    let sizes = usize::from(most - least + 1).min(3);
    assert!(seats.len() >= sizes, "{}: games of several numbers of seats: {seats:?}", G::NAME);
}

/// The header of a file, which ends at the first empty line.
struct Header {
    /// The name of the rule set, with its changes.
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
            "advised" => Policy::Ai,
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

    fn play<G: Ai + GameKind>(&self) -> String {
        let mut dice = TestRng::new(u64::from(self.key.0.0[0]));
        let stream = Stream::new(self.key);
        let rules = parse_rules::<G>(&self.rules, "none").unwrap_or_else(|what| panic!("{what}"));
        playthrough::<G>(&rules, self.starter, stream, &self.policies, G::choose_action, &mut dice)
    }
}
