//! `./dev chaos`: many games between real clients on real nodes under injected faults, followed by
//! a comparison of everything that the clients received with everything that was recorded and
//! booked. docs/CHAOS.md explains the output.
//!
//! A run: services and nodes start; clients sit down and play; the faults of the plan are injected;
//! everything is healed; every table must make progress; the clients finish their games and leave;
//! the nodes stop; the evidence is gathered and checked.
//!
//! This is a program and not a set of tests. Unless its first argument is `run`, it does nothing
//! and succeeds, so that a test runner that lists its tests finds none.

mod bots;
mod checks;
mod dice;
mod evidence;
mod faults;
mod forge;
mod gate;
mod journal;
mod live;
mod nodes;
mod options;
mod outages;
mod plan;
mod report;
#[path = "../it/support/faults"]
mod support {
    //! The tests' support for breaking services; not all of it is used here.

    #[path = "../ports.rs"]
    pub(crate) mod ports;
    pub(crate) mod services;
    #[expect(dead_code, reason = "only the tests cut at a chosen request")]
    pub(crate) mod wire;
}
mod tournaments;
mod truth;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Parser as _, ValueEnum as _};
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio::sync::{Mutex, watch};
use tokio::time::sleep;
use uuid::Uuid;

use bots::{Bot, Goal};
use checks::Verdict;
use evidence::{Evidence, Tables};
use faults::{House, InjectionReport};
use forge::Forgery;
use nodes::Node;
use options::Options;
use plan::{Extent, Plan, Version};
use report::Figures;
use support::services::{Service, Services};
use tournaments::{Directors, TournamentEvidence};

/// The time within which every table must make progress after the faults. A short run is part of
/// the tests, which may share the machine, so there it is only a guard.
const GETS_ON: Duration = Duration::from_secs(10);

/// A timeout that only a hang exceeds.
const PATIENCE: Duration = Duration::from_secs(90);

/// The same for a tournament, which has to be played to its end.
const TOURNAMENT: Duration = Duration::from_secs(300);

/// A failure of the run itself, as text.
type RunError = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let mut arguments = std::env::args();
    let program = arguments.next();
    if arguments.next().as_deref() != Some("run") {
        return ExitCode::SUCCESS;
    }
    let options = Options::parse_from(program.into_iter().chain(arguments));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let run = run(options);
        let outcome = tokio::select! {
            outcome = run => outcome,
            () = asked_to_stop() => Err("interrupted".into()),
        };
        match outcome {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                println!("chaos: {error}");
                ExitCode::FAILURE
            }
        }
    })
}

async fn asked_to_stop() {
    let terminate = tokio::signal::unix::SignalKind::terminate();
    let mut terminate = tokio::signal::unix::signal(terminate).expect("signals can be heard");
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

/// Carries out a run. Returns true if every check passed.
async fn run(options: Options) -> Result<bool, RunError> {
    let random = || u64::from(Uuid::new_v4().as_fields().0);
    let seed = options.seed.unwrap_or_else(random);
    let plan = draw(&options, seed);
    print!("{plan}");
    if options.plan_only {
        return Ok(true);
    }
    let name = Uuid::new_v4().simple().to_string();
    let folder = std::env::temp_dir().join(format!("chaos-{seed}-{}", &name[..8]));
    std::fs::create_dir(&folder)?;
    let held = play_and_check(&options, &plan, &folder).await;
    if matches!(held, Ok(true)) && !options.keep {
        std::fs::remove_dir_all(&folder)?;
    } else {
        if held.is_err() {
            print!("{}", last_words(&folder)?);
        }
        println!("seed {seed}; the same plan again: {}", options.command(seed));
        println!("journals of the clients and logs of the nodes: {}", folder.display());
    }
    held
}

/// Returns the ends of all journals, for a remote run that was aborted and may leave nothing else.
fn last_words(folder: &Path) -> std::io::Result<String> {
    let mut words = String::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
        let name = path.file_stem().unwrap_or_default().display();
        words += &format!("{name}: {}\n", text.lines().next_back().unwrap_or("nothing"));
    }
    Ok(words)
}

fn draw(options: &Options, seed: u64) -> Plan {
    let Options { nodes, tables, lose_redis, .. } = *options;
    let clients = match options.tournament {
        Some(players) => u64::from(players),
        None => bots::rooms(tables).map(|_| 1).sum(),
    };
    let extent = Extent { nodes, clients, lose_redis };
    if let Some(times) = options.exchanges {
        Plan::exchanges(seed, times)
    } else if options.short {
        Plan::each_once(seed, extent)
    } else {
        Plan::draw(seed, extent, Duration::from_secs(60 * options.minutes))
    }
}

async fn play_and_check(options: &Options, plan: &Plan, folder: &Path) -> Result<bool, RunError> {
    let began = Instant::now();
    let services = Services::start(&[Service::Postgres, Service::Redis]).await;
    let database: PgConnectOptions = services.database_url().parse()?;
    let redis_url = services.redis_url().to_owned();
    let migrated = bahay().arg("migrate").env("DATABASE_URL", services.database_url()).output()?;
    if !migrated.status.success() {
        return Err(format!("migrate: {}", String::from_utf8_lossy(&migrated.stderr)).into());
    }
    let mut nodes = Vec::new();
    let before = options.from.as_deref().unwrap_or(Path::new(env!("CARGO_BIN_EXE_bahay")));
    for number in 0..options.nodes {
        let node = Node::prepare(number, &database, &redis_url, folder, before).await;
        if options.exchanges.is_some() {
            node.take(Version::Before);
        }
        nodes.push(node);
    }
    nodes.iter().for_each(|node| node.start());
    for node in &nodes {
        node.until_healthy().await?;
    }
    let (finish, finishing) = watch::channel(false);
    let habits = (plan.seed, options.thinks);
    let pool = PgPoolOptions::new().max_connections(4).connect_with(database).await?;
    let (goals, directors) = goals(options, &pool, &finishing).await?;
    let bots = (0..)
        .zip(goals)
        .map(|client| Bot::start(client, habits, folder, began, &nodes, finishing.clone()))
        .collect();
    let house = Arc::new(House {
        services: Mutex::new(services),
        postgres_turn: Mutex::default(),
        redis_turn: Mutex::default(),
        nodes,
        bots,
        began,
    });
    let patience = if options.tournament.is_some() { TOURNAMENT } else { PATIENCE };
    until("every client sits at a table", patience, || house.bots.iter().all(Bot::has_joined))
        .await?;
    println!("{} ms: all play", began.elapsed().as_millis());

    let InjectionReport { done, mut findings } = faults::carry_out(&house, plan).await;
    house.heal().await?;
    println!("{} ms: the faults are over", began.elapsed().as_millis());
    let gets_on = if options.short { PATIENCE } else { GETS_ON };
    let mut reader = live::Reader::connect(&redis_url).await?;
    let tables = reader.watch(gets_on).await?;
    println!("{} ms: every table was watched", began.elapsed().as_millis());
    finish.send_replace(true);
    let leaves = || house.bots.iter().all(Bot::has_finished);
    if let Err(error) = until("every client leaves", patience, leaves).await {
        findings.push(error.to_string());
    }
    until_games_end(&pool).await?;
    let mut tournaments = None;
    if options.tournament.is_some() {
        directors.end().await?;
        reader.until_idle(PATIENCE).await?;
        let base = house.nodes[0].gate.base();
        tournaments = Some(tournaments::evidence::read(&pool, &base).await?);
    }
    println!("{} ms: all games are over", began.elapsed().as_millis());

    let House { nodes, bots, services, .. } =
        Arc::into_inner(house).expect("every fault is over, and nobody else has it");
    for node in &nodes {
        findings.extend(node.end().await.err());
        findings.extend(node.findings());
    }
    let mut journals = Vec::new();
    for bot in bots {
        journals.push(bot.journal().await);
    }
    let services = services.into_inner();
    let live = LiveEvidence { journals, tables, tournaments };
    let evidence = gather(&pool, &services, live, plan, options.forgery).await?;
    let verdict = Verdict::of(&evidence);
    let mut figures = Figures::of(&evidence, &verdict, &done, options.nodes);
    if !options.short {
        findings.extend(figures.late());
    }
    if options.exchanges.is_some() {
        findings.extend(figures.noticed_of_exchanges());
    }
    for node in &nodes {
        findings.extend(figures.read_log(&node.log));
    }
    print!("{figures}");
    evidence.tournaments.iter().for_each(|tournaments| print!("{tournaments}"));
    print!("{}", report::findings(&verdict));
    for finding in &findings {
        println!("FAILED  {finding}");
    }
    let mut holds = verdict.holds() && findings.is_empty();
    if options.canaries && holds {
        holds = canaries(&pool, &services, &evidence).await?;
    }
    if let Some(file) = &options.json {
        let found = verdict.found.iter().map(|(check, facts)| {
            serde_json::json!({ "check": check, "found": facts.total, "first": facts.told })
        });
        let document = serde_json::json!({
            "seed": plan.seed,
            "command": options.command(plan.seed),
            "holds": holds,
            "figures": figures.json(),
            "checks": found.collect::<Vec<_>>(),
            "findings": findings,
        });
        std::fs::write(file, format!("{document:#}\n"))?;
    }
    let seconds = began.elapsed().as_secs();
    println!("{} after {seconds} s", if holds { "everything held" } else { "it did not hold" });
    Ok(holds)
}

/// Returns what each client plays, with the directors of the tournaments, if it plays those.
async fn goals(
    options: &Options,
    pool: &PgPool,
    finishing: &watch::Receiver<bool>,
) -> Result<(Vec<Goal>, Directors), RunError> {
    let mut directors = Directors::default();
    let Some(players) = options.tournament else {
        return Ok((bots::rooms(options.tables).map(Goal::Room).collect(), directors));
    };
    let kinds = tournaments::playable(pool).await?;
    let mut goals = Vec::new();
    for group in tournaments::groups(players, &kinds) {
        let programme = directors.start(pool, group, players.into(), finishing.clone());
        goals.extend((0..group.players).map(|_| Goal::Tournaments(programme.clone())));
    }
    Ok((goals, directors))
}

async fn until(what: &str, patience: Duration, holds: impl Fn() -> bool) -> Result<(), RunError> {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() > patience {
            return Err(format!("{what}: not within {} s", patience.as_secs()).into());
        }
        sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Waits until all games have ended, up to a timeout; the check of the tables then reports the open
/// ones.
async fn until_games_end(pool: &PgPool) -> Result<(), RunError> {
    let begun = Instant::now();
    while !evidence::open_games(pool).await?.is_empty() && begun.elapsed() < PATIENCE {
        sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

/// The evidence that was gathered while the nodes ran.
struct LiveEvidence {
    journals: Vec<PathBuf>,
    tables: Tables,
    tournaments: Option<TournamentEvidence>,
}

async fn gather(
    pool: &PgPool,
    services: &Services,
    LiveEvidence { journals, tables, tournaments }: LiveEvidence,
    plan: &Plan,
    forgery: Option<Forgery>,
) -> Result<Evidence, RunError> {
    let mut books = evidence::coins(pool).await?;
    (books.ledger_holds, books.ledger_said) = ledger(services)?;
    let mut games = evidence::games(pool).await?;
    games.extend(tournaments::evidence::games(pool).await?);
    let evidence = Evidence {
        journals,
        games,
        books,
        tables,
        tournaments,
        redis_was_lost: plan.loses_redis(),
        forgery: None,
    };
    Ok(match forgery {
        Some(forgery) => forge::forged(&evidence, forgery),
        None => evidence,
    })
}

/// Runs `bahay verify ledger`. Returns whether it passed, with its output.
fn ledger(services: &Services) -> Result<(bool, String), RunError> {
    let url = services.database_url();
    let output = bahay().args(["verify", "ledger"]).env("DATABASE_URL", url).output()?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

/// Forges the evidence in each way in turn. Returns true if every forgery was detected by its
/// check.
async fn canaries(
    pool: &PgPool,
    services: &Services,
    evidence: &Evidence,
) -> Result<bool, RunError> {
    let mut all_found = true;
    let mut tell = |forgery: &str, check: checks::Check, found: bool| {
        let says = if found { "found" } else { "NOT FOUND" };
        println!("canary  {forgery}: {says} by: {}", check.as_str());
        all_found &= found;
    };
    let has_tournaments = evidence.tournaments.is_some();
    let fitting = Forgery::value_variants().iter();
    for forgery in fitting.filter(|forgery| has_tournaments || !forgery.needs_tournaments()) {
        let verdict = Verdict::of(&forge::forged(evidence, *forgery));
        let check = forgery.found_by();
        tell(&format!("{forgery:?}"), check, !verdict.found[&check].is_empty());
    }
    // The books themselves are forged last.
    let moved = sqlx::query(
        "update accounts set balance = balance + 1
         where id = (select min(id) from accounts where kind = 'wallet')",
    );
    moved.execute(pool).await?;
    let (ledger_holds, _) = ledger(services)?;
    tell("a coin moved in the database", checks::Check::Ledger, !ledger_holds);
    let books = evidence::coins(pool).await?;
    let forged = Evidence { books, ..evidence.clone() };
    let found = !Verdict::of(&forged).found[&checks::Check::Coins].is_empty();
    tell("a coin moved in the database", checks::Check::Coins, found);
    Ok(all_found)
}

fn bahay() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bahay"));
    command.env_clear().stdin(Stdio::null());
    command
}
