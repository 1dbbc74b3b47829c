//! `bahay-lab certify`: plays the server to a client under test, with one planted fault for each
//! scenario, and reports which of them the client has survived. docs/CERTIFY.md describes it.
//!
//! Each scenario has an address of its own, where a model of the server offers a practice table of
//! the engine. The verdict follows from what the client sends; the client may also report what it
//! shows. `scenarios` has the scenarios, `scenario_run` one of them as a state machine without I/O.

mod conduct;
mod fault;
mod injection;
mod listener;
mod own_client;
mod plan;
mod planting;
mod report;
mod requests;
mod scenario_run;
mod scenarios;
mod wire;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::Duration;

use bahay_base::clock::Clock;
use bahay_engine::catalog::{self, Kind};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use report::{Report, ScenarioResult, Verdict};
pub use scenario_run::ScenarioRun;
pub use scenarios::{SCENARIOS, Scenario};
pub use wire::{Arrival, HttpReply, Reaction};

/// The options of a certification.
#[derive(Clone, Debug, clap::Args)]
pub struct Certify {
    /// The address of the list of scenarios; the scenarios have the ports after it.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4100")]
    pub listen: SocketAddr,

    /// Name of the game.
    #[arg(long, value_name = "NAME", default_value = "tongits")]
    pub game: String,

    /// Only this scenario; may be repeated.
    #[arg(long = "scenario", value_name = "NAME")]
    pub scenarios: Vec<String>,

    /// Seconds after which scenarios without a verdict count as not played.
    #[arg(long, default_value_t = 600, value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: u64,

    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,

    /// Certify this repository's own client in Rust.
    #[arg(long = "self")]
    pub own: bool,
}

/// An error that keeps a client from being certified.
#[derive(Debug, thiserror::Error)]
pub enum CertifyError {
    #[error("there is no game {0}")]
    NoGame(String),
    #[error("there is no scenario {0}")]
    NoScenario(String),
    #[error("no port is left after {0}")]
    NoPort(SocketAddr),
    #[error("{0} cannot be listened at: {1}")]
    Listen(SocketAddr, #[source] io::Error),
    #[error("{passed} of {scenarios} scenarios passed")]
    NotPassed { passed: usize, scenarios: usize },
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// A scenario that is being served.
#[derive(Debug)]
struct ServedScenario {
    scenario: &'static Scenario,
    address: SocketAddr,
    verdict: watch::Receiver<Option<Verdict>>,
}

/// Certifies a client, and prints the report.
///
/// # Errors
/// If the client has not passed every scenario.
pub async fn run(options: &Certify, out: &mut impl Write) -> Result<(), CertifyError> {
    let report =
        certify(options, |address| eprintln!("scenarios: http://{address}/certify")).await?;
    if options.json {
        writeln!(out, "{:#}", report.to_json())?;
    } else {
        writeln!(out, "{report}")?;
    }
    if report.has_passed() {
        return Ok(());
    }
    Err(CertifyError::NotPassed { passed: report.passed_count(), scenarios: report.results.len() })
}

/// Serves the scenarios until each has its verdict, or until the time is over. `announce` is called
/// with the address of the list once clients can connect.
///
/// # Errors
/// If an address cannot be listened at, or there is no such game or scenario.
pub async fn certify(
    options: &Certify,
    announce: impl FnOnce(SocketAddr),
) -> Result<Report, CertifyError> {
    let kinds = catalog::kinds();
    let kind = kinds.iter().find(|kind| kind.name == options.game);
    let kind = kind.ok_or_else(|| CertifyError::NoGame(options.game.clone()))?;
    let mut tasks = JoinSet::new();
    let served = serve_scenarios(options, kind, &mut tasks).await?;
    let index = bind(options.listen).await?;
    let address = index.local_addr()?;
    let listed: Vec<_> =
        served.iter().map(|one| (one.scenario, one.address, one.verdict.clone())).collect();
    tasks.spawn(listener::serve_index(index, move || to_index(&listed)));
    announce(address);
    if options.own {
        for (number, one) in served.iter().enumerate() {
            let url = format!("http://{}", one.address);
            tasks.spawn(own_client::play(url, number));
        }
    }
    let deadline = Duration::from_secs(options.seconds);
    let all = async {
        for one in &served {
            // A listener lives as long as this function.
            let _ = one.verdict.clone().wait_for(Option::is_some).await;
        }
    };
    let _ = tokio::time::timeout(deadline, all).await;
    let results = served.iter().map(|one| {
        let verdict = one.verdict.borrow().clone().unwrap_or(Verdict::NotPlayed);
        ScenarioResult { scenario: one.scenario, verdict }
    });
    Ok(Report { results: results.collect() })
}

async fn serve_scenarios(
    options: &Certify,
    kind: &Kind,
    tasks: &mut JoinSet<()>,
) -> Result<Vec<ServedScenario>, CertifyError> {
    let start_ms = Clock::system().now().ms();
    let mut served = Vec::new();
    for (offset, scenario) in (1..).zip(choose_scenarios(&options.scenarios)?) {
        let port = match options.listen.port() {
            0 => Some(0),
            first => first.checked_add(offset),
        };
        let port = port.ok_or(CertifyError::NoPort(options.listen))?;
        let listener = bind(SocketAddr::new(options.listen.ip(), port)).await?;
        let address = listener.local_addr()?;
        let (sender, verdict) = watch::channel(None);
        let run = ScenarioRun::new(scenario, kind, start_ms);
        tasks.spawn(listener::serve(listener, run, sender));
        served.push(ServedScenario { scenario, address, verdict });
    }
    Ok(served)
}

/// Returns the scenarios of these names, all without any.
fn choose_scenarios(names: &[String]) -> Result<Vec<&'static Scenario>, CertifyError> {
    if names.is_empty() {
        return Ok(SCENARIOS.iter().collect());
    }
    let find =
        |name: &String| Scenario::find(name).ok_or_else(|| CertifyError::NoScenario(name.clone()));
    names.iter().map(find).collect()
}

async fn bind(address: SocketAddr) -> Result<TcpListener, CertifyError> {
    TcpListener::bind(address).await.map_err(|error| CertifyError::Listen(address, error))
}

/// Returns the list of the scenarios for drivers of clients.
fn to_index(listed: &[(&'static Scenario, SocketAddr, watch::Receiver<Option<Verdict>>)]) -> Value {
    let scenarios = listed.iter().map(|(scenario, address, verdict)| {
        json!({
            "name": scenario.name,
            "url": format!("http://{address}"),
            "planted": scenario.planted,
            "client_must": scenario.client_must,
            "verdict": verdict.borrow().as_ref().map(Verdict::name),
        })
    });
    json!({ "scenarios": scenarios.collect::<Vec<_>>() })
}
