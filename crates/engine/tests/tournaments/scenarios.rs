//! The rules of tournaments as examples: scenario files, one for each chapter of
//! docs/rules/tournaments.md, run against a tournament. `crates/engine/tests/scenarios/README.md`
//! describes their notation.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use bahay_engine::chance::ServerSeed;
use bahay_engine::coins::Coins;
use bahay_engine::hex::Hex;
use bahay_engine::matchmaking::ConflictKey;
use bahay_engine::table::{PlayerId, Timestamp};
use bahay_engine::testing::tournament_player;
use bahay_engine::tournament::{
    CancelReason, Effect, Entrant, EntrantLimits, EntrantState, Format, GameScore, Input, Payment,
    PayoutStep, Phase, Rejection, Stage, TableNumber, Tournament, TournamentId, TournamentTerms,
    Transfer, TransferKey,
};
use bahay_engine::variants;
use uuid::Uuid;

use super::support::{coins, terms};

/// Rules that other tests cover: lots, deals and the list of results by the verifier, and rules of
/// tables.
const SHOWN_ELSEWHERE: [&str; 5] = ["2.3", "3.6", "5.5", "8.1", "8.2"];

type CaseResult<T = ()> = Result<T, String>;

/// The time of the start in scenarios, in milliseconds.
const START_MS: i64 = 60_000;

struct Case {
    terms: TournamentTerms,
    tournament: Option<Tournament>,
    now: i64,
}

fn number<T: std::str::FromStr>(text: &str) -> CaseResult<T> {
    text.parse().map_err(|_| format!("{text} is not a number"))
}

fn player(text: &str) -> CaseResult<PlayerId> {
    number(text).map(tournament_player)
}

/// Returns the number of a player.
fn name(player: PlayerId) -> String {
    (player.0.as_u128() & 0xffff).to_string()
}

fn range(text: &str) -> CaseResult<(u32, u32)> {
    let (least, most) = text.split_once("..").unwrap_or((text, text));
    Ok((number(least)?, number(most)?))
}

fn key_text(key: TransferKey) -> String {
    match key {
        TransferKey::Entry { player, number } => format!("entry:{}:{number}", name(player)),
        TransferKey::Return { player, number } => format!("return:{}:{number}", name(player)),
        TransferKey::Cancel { player } => format!("cancel:{}", name(player)),
        variants!(TransferKey: Fee, Passes, Guarantee, Place, FeeReturn, PassesReturn,
            GuaranteeReturn) => key.to_string(),
    }
}

fn transfer_text(transfer: &Transfer) -> String {
    let to = match (transfer.key, transfer.player) {
        (TransferKey::Place { .. }, Some(player)) => format!(" to {}", name(player)),
        _ => String::new(),
    };
    let pass = if transfer.payment == Payment::Pass { " pass" } else { "" };
    format!("{} {}{to}{pass}", key_text(transfer.key), transfer.amount)
}

impl Case {
    fn new() -> Self {
        let terms = terms(Format::SitAndGo { games: 1 }, 3, 3);
        Self { terms, tournament: None, now: 0 }
    }

    /// `terms: knock_out stages=1/2/1/3,1/1/1/0 entrants=3..9 buy_in=1000 fee=100`.
    fn set_terms(&mut self, text: &str) -> CaseResult {
        let mut words = text.split_whitespace();
        let format = words.next().ok_or("a format")?;
        let settings: Vec<(&str, &str)> =
            words.map(|word| word.split_once('=').unwrap_or((word, ""))).collect();
        let value = |name: &str, default: u32| {
            let found = settings.iter().find(|(known, text)| *known == name && !text.is_empty());
            found.map_or(Ok(default), |(_, text)| number(text))
        };
        let format = match format {
            "sit_and_go" => Format::SitAndGo { games: value("games", 1)? },
            "arena" => {
                Format::Arena { duration_ms: value("duration", 600_000)?, pairing_ms: 1_000 }
            }
            "duplicate" => {
                Format::Duplicate { rounds: value("rounds", 1)?, games: value("games", 1)? }
            }
            "knock_out" => {
                let stages = settings.iter().find(|(name, _)| *name == "stages");
                let stages = stages.ok_or("stages")?.1.split(',');
                Format::KnockOut { stages: stages.map(stage).collect::<CaseResult<_>>()? }
            }
            other => return Err(format!("{other} is no format")),
        };
        let is_sit_and_go = matches!(format, Format::SitAndGo { .. });
        self.terms = terms(format, 3, 3);
        self.terms.break_ms = 0;
        self.terms.starts_at = (!is_sit_and_go).then(|| Timestamp::from_ms(START_MS));
        self.terms.entry.buy_in = coins(value("buy_in", 1_000)?.into());
        self.terms.entry.fee = coins(value("fee", 100)?.into());
        self.terms.guarantee = coins(value("guarantee", 0)?.into());
        self.terms.late_registration_ms = value("late", 0)?;
        let bots_after_ms = value("bots", 0)?;
        for (name, text) in settings {
            match name {
                "entrants" => {
                    let (least, most) = range(text)?;
                    self.terms.entrants = EntrantLimits { least, most };
                }
                "passes" => self.terms.entry.accepts_passes = true,
                "bots" => {
                    self.terms.bots = true;
                    self.terms.bots_after_ms = bots_after_ms;
                }
                "payouts" => {
                    let steps = text.split(';').map(payout);
                    self.terms.payouts = steps.collect::<CaseResult<_>>()?;
                }
                "buy_in" | "fee" | "guarantee" | "late" | "games" | "rounds" | "stages"
                | "duration" => {}
                other => return Err(format!("{other} is no setting")),
            }
        }
        if self.terms.entry.buy_in.is_zero() && self.terms.guarantee.is_zero() {
            self.terms.payouts.clear();
        }
        self.terms.check().map_err(|error| error.to_string())
    }

    fn tournament(&mut self) -> &mut Tournament {
        let terms = &self.terms;
        self.tournament.get_or_insert_with(|| {
            let id = TournamentId(Uuid::from_u64_pair(1, 2));
            Tournament::new(id, terms.clone(), ServerSeed(Hex([7; 32])))
        })
    }

    fn submit(&mut self, input: Input) -> Result<(), Rejection> {
        let now = Timestamp::from_ms(self.now);
        let transition = self.tournament().decide(now, input)?;
        self.tournament = Some(transition.tournament);
        Ok(())
    }

    fn play(&mut self, step: &str) -> CaseResult<Result<(), Rejection>> {
        let words: Vec<&str> = step.split_whitespace().collect();
        let input = match words.as_slice() {
            ["register", who, how @ ..] => return self.register(who, how),
            ["withdraw", who] => Input::Withdraw { player: player(who)? },
            ["pause", who] => Input::Pause { player: player(who)? },
            ["resume", who] => Input::Resume { player: player(who)? },
            ["cancel"] => Input::Cancel { reason: CancelReason::House },
            ["refuse", who] => Input::EntryRefused { player: player(who)?, number: 1 },
            ["tick"] => Input::Tick,
            ["due", ms] => {
                self.now = number(ms)?;
                return Ok(Ok(()));
            }
            ["at", ms] => {
                self.now = number(ms)?;
                let now = Timestamp::from_ms(self.now);
                if self.tournament().effects(now).contains(&Effect::Tick) {
                    return Ok(self.submit(Input::Tick));
                }
                return Ok(Ok(()));
            }
            ["book"] => {
                while let Some(transfer) = self.due().first() {
                    let transfer = transfer.key;
                    self.submit(Input::Transferred { transfer })
                        .map_err(|error| error.to_string())?;
                }
                return Ok(Ok(()));
            }
            ["book", "fee"] => Input::Transferred { transfer: TransferKey::Fee },
            ["open", who] => Input::TableOpened { table: self.table_of(who)? },
            ["end", who] => Input::TableEnded { table: self.table_of(who)? },
            ["end", "table", table] => {
                let table = TableNumber { round: 1, table: number(table)? };
                Input::TableEnded { table }
            }
            ["win", who] => return self.win(who),
            ["points", game, points @ ..] => return self.score(number(game)?, points),
            ["play"] => return self.play_round(),
            _ => return Err("no such step".into()),
        };
        Ok(self.submit(input))
    }

    fn register(&mut self, who: &str, how: &[&str]) -> CaseResult<Result<(), Rejection>> {
        let (first, last) = range(who)?;
        for number in first..=last {
            let keys = how.iter().filter_map(|word| word.strip_prefix("key="));
            let keys: Vec<u64> = keys.map(self::number).collect::<CaseResult<_>>()?;
            let register = Input::Register {
                player: tournament_player(number),
                name: format!("player {number}"),
                pass: how.contains(&"pass"),
                bot: how.contains(&"bot"),
                conflict_keys: keys.into_iter().map(ConflictKey).collect(),
            };
            if let Err(rejection) = self.submit(register) {
                return Ok(Err(rejection));
            }
            if !how.contains(&"unpaid") {
                self.play("book")?.map_err(|error| error.to_string())?;
            }
        }
        Ok(Ok(()))
    }

    fn due(&mut self) -> Vec<Transfer> {
        let now = Timestamp::from_ms(self.now);
        let effects = self.tournament().effects(now).into_iter();
        effects
            .filter_map(|effect| match effect {
                Effect::Transfer(transfer) => Some(transfer),
                _ => None,
            })
            .collect()
    }

    fn table_of(&mut self, who: &str) -> CaseResult<TableNumber> {
        let player = player(who)?;
        self.tournament().table_of(player).ok_or_else(|| format!("{who} has no table"))
    }

    /// The player wins the next game of its table: 4 points against 2 of each other.
    fn win(&mut self, who: &str) -> CaseResult<Result<(), Rejection>> {
        let table = self.table_of(who)?;
        let winner = player(who)?;
        let seating = self.tournament().find_table(table).ok_or("no table")?;
        let score = |player: PlayerId| GameScore {
            player,
            points: coins(if player == winner { 400 } else { -200 }),
            is_absent: false,
        };
        let scores: Vec<GameScore> = seating.players.into_iter().map(score).collect();
        for game in 1..=seating.games {
            let scores = scores.clone();
            match self.submit(Input::GameScored { table, game, scores }) {
                Err(Rejection::AlreadyScored) => {}
                other => return Ok(other),
            }
        }
        Err("the table has no game left".into())
    }

    /// `points 1 5=3 6=0 7=-3!`: the points of a game of the table of the first player; the mark is
    /// for a player for whom the AI played.
    fn score(&mut self, game: u32, points: &[&str]) -> CaseResult<Result<(), Rejection>> {
        let mut scores = Vec::new();
        for word in points {
            let (who, points) = word.split_once('=').ok_or("points of a player")?;
            let is_absent = points.ends_with('!');
            let points: i64 = number(points.trim_end_matches('!'))?;
            scores.push(GameScore { player: player(who)?, points: coins(points * 100), is_absent });
        }
        let first = points.first().and_then(|word| word.split('=').next()).ok_or("a player")?;
        let table = self.table_of(first)?;
        Ok(self.submit(Input::GameScored { table, game, scores }))
    }

    /// At each table the player with the least number wins every game.
    fn play_round(&mut self) -> CaseResult<Result<(), Rejection>> {
        let tables: BTreeSet<_> =
            self.tournament().entrants().filter_map(|one| one.table).collect();
        for table in tables {
            let seating = self.tournament().find_table(table).ok_or("no table")?;
            let best = seating.players.iter().min().ok_or("no player")?;
            for _ in 0..seating.games {
                self.win(&name(*best))?.map_err(|error| error.to_string())?;
            }
        }
        Ok(Ok(()))
    }

    fn expect(&mut self, what: &str, text: &str) -> CaseResult {
        let now = Timestamp::from_ms(self.now);
        let words: Vec<&str> = what.split_whitespace().collect();
        let owed = self.due().iter().map(transfer_text).collect::<Vec<_>>();
        let tournament = self.tournament();
        let found = match words.as_slice() {
            ["phase"] => match tournament.phase() {
                Phase::Announced => "announced".to_owned(),
                Phase::Break { .. } => "break".to_owned(),
                Phase::Round => format!("round {}", tournament.round()),
                Phase::Arena { .. } => "arena".to_owned(),
                Phase::Ended => "ended".to_owned(),
                Phase::Cancelled { .. } => "cancelled".to_owned(),
            },
            ["owed"] => joined(owed.into_iter()),
            ["balance"] => tournament.balance().to_string(),
            ["pool"] => tournament.pool().map_or("none".into(), |pool| pool.amount.to_string()),
            ["prizes"] => {
                let prizes = tournament.pool().map(|pool| pool.prizes.clone()).unwrap_or_default();
                joined(prizes.iter().map(Coins::to_string))
            }
            ["bots"] => tournament.missing_bots(now).to_string(),
            ["settled"] => tournament.is_settled().to_string(),
            ["entrants"] => tournament.entrant_count().to_string(),
            ["playing"] => {
                let playing = |one: &&Entrant| one.state() == EntrantState::Entered;
                tournament.entrants().filter(playing).count().to_string()
            }
            ["waiting"] => joined(tournament.waiting_players().into_iter().map(name)),
            ["tables"] => {
                let tables: BTreeSet<_> =
                    tournament.entrants().filter_map(|one| one.table).collect();
                tables.len().to_string()
            }
            ["companions", who] => {
                let table = tournament.table_of(player(who)?).ok_or("no table")?;
                let mut players = tournament.find_table(table).ok_or("no table")?.players;
                players.sort();
                joined(players.into_iter().map(name))
            }
            ["deals"] => {
                let mut tables: Vec<_> =
                    tournament.entrants().filter_map(|one| one.table).collect();
                tables.sort();
                tables.dedup();
                let mut seeds: Vec<_> = tables
                    .iter()
                    .filter_map(|table| tournament.find_table(*table))
                    .map(|table| format!("{:?}", table.deals))
                    .collect();
                seeds.dedup();
                seeds.len().to_string()
            }
            ["score", who] => {
                tournament.entrant(player(who)?).ok_or("no entry")?.standing().score.to_string()
            }
            ["standings"] => {
                let rows = tournament.standing_rows(0, 100).into_iter();
                joined(rows.map(|row| {
                    let rank = row.rank.map_or("-".to_owned(), |rank| rank.to_string());
                    format!("{rank}:{}", name(row.player))
                }))
            }
            _ => return Err("no such check".into()),
        };
        if found == text { Ok(()) } else { Err(format!("found {found}")) }
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    let text = parts.collect::<Vec<_>>().join(", ");
    if text.is_empty() { "nothing".into() } else { text }
}

/// `3/20/3/63`: groups, rounds, games, and the players who advance.
fn stage(text: &str) -> CaseResult<Stage> {
    let numbers: Vec<u32> = text.split('/').map(number).collect::<CaseResult<_>>()?;
    match numbers.as_slice() {
        [groups, rounds, games, advance] => {
            Ok(Stage { groups: *groups, rounds: *rounds, games: *games, advance: *advance })
        }
        _ => Err("a stage has four numbers".into()),
    }
}

/// `9:50,30,20`.
fn payout(text: &str) -> CaseResult<PayoutStep> {
    let (from, shares) = text.split_once(':').ok_or("a step")?;
    let shares = shares.split(',').map(number).collect::<CaseResult<_>>()?;
    Ok(PayoutStep { entrants_from: number(from)?, shares })
}

fn run(text: &str) -> CaseResult<usize> {
    let mut case: Option<Case> = None;
    let mut cases = 0;
    for (at, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let outcome = if line.starts_with("case ") {
            cases += 1;
            case = Some(Case::new());
            Ok(())
        } else {
            follow(case.as_mut().ok_or("a file begins with a case")?, line)
        };
        outcome.map_err(|what| format!("line {at}: {line}\n  {what}"))?;
    }
    Ok(cases)
}

fn follow(case: &mut Case, line: &str) -> CaseResult {
    if let Some(step) = line.strip_prefix("> ") {
        let (step, refused) = match step.split_once(" refused ") {
            Some((step, refused)) => (step, Some(refused.trim())),
            None => (step, None),
        };
        return match (case.play(step.trim())?, refused) {
            (Ok(()), None) => Ok(()),
            (Ok(()), Some(_)) => Err("it is accepted".into()),
            (Err(rejection), None) => Err(format!("refused {}: {rejection}", shown(rejection))),
            (Err(rejection), Some(refused)) if shown(rejection) == refused => Ok(()),
            (Err(rejection), Some(_)) => Err(format!("refused {}", shown(rejection))),
        };
    }
    if let Some(expected) = line.strip_prefix("= ") {
        let (what, text) = expected.split_once(": ").ok_or("a check has a value")?;
        return case.expect(what.trim(), text.trim());
    }
    let (what, text) = line.split_once(':').ok_or("neither terms, a step nor a check")?;
    if what == "terms" { case.set_terms(text) } else { Err("no such line".into()) }
}

/// Returns the code of a rejection, with its rule.
fn shown(rejection: Rejection) -> String {
    let rule = rejection.rule().map(|rule| format!(" {rule}")).unwrap_or_default();
    format!("{}{rule}", rejection.code())
}

#[test]
fn scenarios_of_tournaments_hold() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut told: BTreeSet<String> = SHOWN_ELSEWHERE.map(str::to_owned).into();
    let mut refused = BTreeSet::new();
    for entry in fs::read_dir(root.join("tests/scenarios/tournaments")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let cases = run(&text).unwrap_or_else(|what| panic!("{file}: {what}"));
        println!("{file}: {cases} cases");
        let chapter = file.split('-').next().unwrap();
        for title in text.lines().filter_map(|line| line.strip_prefix("case ")) {
            let rule = title.split(' ').next().unwrap();
            assert!(rule.starts_with(&format!("{chapter}.")), "{file}: {title}");
            told.insert(rule.to_owned());
        }
        refused.extend(text.lines().filter_map(|line| {
            Some(line.split('#').next()?.split_once(" refused ")?.1.trim().to_owned())
        }));
    }
    let page = fs::read_to_string(root.join("../../docs/rules/tournaments.md")).unwrap();
    let rules: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("**")?.split([' ', '*']).next())
        .map(str::to_owned)
        .collect();
    assert_eq!(told, rules, "each rule has a case");
    for rejection in Rejection::ALL {
        assert!(refused.contains(&shown(*rejection)), "no scenario is refused {rejection:?}");
    }
}

#[test]
fn an_invalid_scenario_is_refused() {
    for (wrong, complaint) in [
        ("= phase: ended", "begins with a case"),
        ("case 1.1 canary\n= phase: ended", "found announced"),
        ("case 1.1 canary\n> register 1 refused no_bots 1.7", "it is accepted"),
        ("case 1.1 canary\n> withdraw 1", "refused not_registered 1.2"),
    ] {
        let failure = run(wrong).expect_err(wrong);
        assert!(failure.contains(complaint), "{wrong}: {failure}");
    }
}
