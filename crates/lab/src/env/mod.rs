//! `bahay-lab env`: games for learning programs, in lines of JSON on the standard streams;
//! docs/ENV.md specifies the protocol. `bahay_bots::gym` implements it; this module finds the game
//! in the catalogue and transports the lines (`lines`).
//!
//! Deliberately absent: accounts, coins, a network; and knowledge of any particular game.

mod lines;

use std::io::{self, Read, Write};

use bahay_bots::Ai;
use bahay_bots::catalog::{Visitor, with_kind};
use bahay_bots::gym::{self, EnvProtocol, EnvSettings, GAMES_MAX, TensorForm};
use bahay_engine::catalog::{self, AnyGame};
use bahay_engine::game::{GameRules, SeatRange};
use bahay_engine::spaces::Spaces;
use bahay_engine::table::Lift;

use crate::rules::{RulesError, find_rule_set};

/// The command-line options of `bahay-lab env`.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Env {
    /// The game, by name.
    #[arg(long, value_name = "NAME")]
    pub game: String,

    /// One of the game's rule sets (default: the first one).
    #[arg(long, alias = "preset", value_name = "NAME")]
    pub rule_set: Option<String>,

    /// The number of seats (default: the minimum of the game).
    #[arg(long, value_name = "NUMBER")]
    pub seats: Option<u8>,

    /// The number of games that are played side by side.
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub games: usize,

    /// The encoding of observations: list, hex or none.
    #[arg(long, default_value = "list", value_parser = tensor_form, value_name = "FORM")]
    pub tensor: TensorForm,
}

/// The error of an environment that cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum EnvError {
    #[error(transparent)]
    Rules(#[from] RulesError),
    #[error("{title} ({rule_set}) is played at {least} to {most} seats, not at {given}")]
    Seats { title: &'static str, rule_set: &'static str, least: u8, most: u8, given: u8 },
    #[error("1 to {GAMES_MAX} games are played side by side, not {0}")]
    Games(usize),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Serves requests until the end of the input.
pub fn run(options: &Env, from: impl Read, to: &mut impl Write) -> Result<(), EnvError> {
    let mut protocol = open_protocol(options)?;
    match lines::serve_lines(&mut *protocol, from, to) {
        // The client has closed its end of the pipe, so that nobody is left to receive an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done?),
    }
}

fn open_protocol(options: &Env) -> Result<Box<dyn EnvProtocol>, EnvError> {
    with_kind(&options.game, OpenProtocol(options)).unwrap_or_else(|| {
        let known = catalog::kinds().into_iter().map(|kind| kind.name).collect::<Vec<_>>();
        Err(RulesError::NoGame { kind: options.game.clone(), known: known.join(", ") }.into())
    })
}

struct OpenProtocol<'a>(&'a Env);

impl Visitor for OpenProtocol<'_> {
    type Output = Result<Box<dyn EnvProtocol>, EnvError>;

    fn visit<G: Ai + Lift<AnyGame> + Spaces + 'static>(self) -> Self::Output {
        let Self(options) = self;
        let wanted = options.rule_set.as_deref();
        let set = find_rule_set(G::NAME, G::rule_sets(), |set| set.name, wanted)?;
        let rules = (set.rules)();
        let range = rules.seats();
        let seats = options.seats.unwrap_or(range.least);
        if !range.contains(seats) {
            let SeatRange { least, most } = range;
            let title = G::TITLE;
            let rule_set = set.name;
            let given = seats;
            return Err(EnvError::Seats { title, rule_set, least, most, given });
        }
        let Env { games, tensor, .. } = *options;
        let settings = EnvSettings { rules, rule_set: set.name.to_owned(), seats, games, tensor };
        gym::open_protocol::<G>(settings).ok_or(EnvError::Games(games))
    }
}

fn tensor_form(name: &str) -> Result<TensorForm, String> {
    let found = TensorForm::ALL.into_iter().find(|form| form.name() == name);
    found.ok_or_else(|| "the forms are list, hex, none".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Env, run};
    use crate::cli::parse_options;
    use bahay_engine::catalog;

    fn run_line(line: &str, input: &str) -> String {
        let mut output = Vec::new();
        run(&parse_options(line).unwrap(), input.as_bytes(), &mut output).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn every_rule_set_of_every_game_is_dealt() {
        for kind in catalog::kinds() {
            for set in &kind.rule_sets {
                let line = format!("--game {} --preset {}", kind.name, set.name);
                let output = run_line(&line, "{\"do\":\"reset\",\"seed\":1}\n");
                let lines: Vec<&str> = output.lines().collect();
                assert_eq!(lines.len(), 2, "{output}");
                assert!(lines[0].contains(&format!("\"rule_set\":\"{}\"", set.name)), "{output}");
                assert!(lines[1].starts_with("{\"seat\":"), "{output}");
            }
        }
    }

    #[test]
    fn tensors_are_written_in_the_requested_form() {
        let input = "{\"do\":\"reset\",\"seed\":1}\n";
        assert!(run_line("--game tongits", input).contains("\"tensor\":[0,"));
        assert!(run_line("--game tongits --tensor hex", input).contains("\"tensor\":\"0"));
        let without = run_line("--game tongits --tensor none", input);
        assert!(without.lines().nth(1).is_some_and(|line| !line.contains("tensor")), "{without}");
        assert!(parse_options::<Env>("--game tongits --tensor float").is_err());
    }

    #[test]
    fn impossible_settings_are_reported() {
        for (line, expected) in [
            ("--game chess", "there is no game chess; the games are tongits"),
            (
                "--game tongits --rule-set wild",
                "tongits has no rule set wild; its rule sets are kingdom",
            ),
            ("--game tongits --seats 2", "Tong-its (kingdom) is played at 3 to 3 seats, not at 2"),
            ("--game tongits --games 0", "1 to 4096 games are played side by side, not 0"),
        ] {
            let options = parse_options(line).unwrap();
            let error = run(&options, &b""[..], &mut Vec::new()).unwrap_err();
            assert!(error.to_string().starts_with(expected), "{error}");
        }
    }
}
