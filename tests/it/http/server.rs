//! A server on a port of its own, and a client for its responses.

use std::fmt::Display;
use std::ops::Deref;
use std::time::Duration;

use axum::Router;
use bahay::accounts::{self, Accounts};
use bahay::auth::{Auth, SealingKeys, Signer};
use bahay::clock::{Clock, Timestamp};
use bahay::http::{self, Analyses, AnalysisOptions, Options, Probe, Readiness, Services};
use bahay::idempotency::Idempotency;
use bahay::ledger::{Ledger, LedgerTasks};
use bahay::live_store::Publication;
use bahay::lobby::{self, Catalog, Lobby, LobbyParts, house_rooms};
use bahay::metrics::Metrics;
use bahay::operators::audit::{Actor, Channel};
use bahay::operators::{
    Audit, Corrections, EnrolmentCompletion, OperatorAuth, OperatorName, Operators, Role,
    SignInClient,
};
use bahay::rate_limit::{self, RateLimits};
use bahay::ratings::Ratings;
use bahay::records::Records;
use bahay::reports::pairs::signs::ALERT_SCORE_DEFAULT;
use bahay::reports::{Pairs, Reports};
use bahay::rewards::{Rewards, Terms};
use bahay::social::Social;
use bahay::standings::{Calendar, Standings};
use bahay::tables::Tables;
use bahay::tournaments::{GuaranteeLimit, TournamentRequests, TournamentSchedules, Tournaments};
use bahay::verify::hourly::Checks;
use bahay_engine::coins::Coins;
use bahay_engine::table::{Clocks, PlayerId};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::net::TcpListener;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use uuid::Uuid;

pub(crate) use super::responses::{
    answer, answer_all, count_successes, expect_delay, expect_refusal, expect_refusal_of, ok,
    refusal, refused, status_of, text,
};
use crate::support::bank::Bank;
use crate::support::house::{
    TOURNAMENT_APPROVAL_ABOVE, adjustments, cheap_auth_options, wide_rate_limits,
};
use crate::support::live::TestLive;
use crate::support::rest::items;

pub(crate) const SECRET: &[u8] = b"7d1c0a52b96e43f8850f6f1d2e9b3ac4";
pub(crate) const WELCOME: Coins = Coins::from_hundredths(100_000);

/// The device of [`Server::with_guest`], and one of another player.
pub(crate) const DEVICE: &str = "device-0123456789";
pub(crate) const OTHER_DEVICE: &str = "device-9876543210";

pub(crate) const PASSWORD: &str = "rain on a tin roof";

/// The reason of an operator's act.
pub(crate) const REASON: &str = "for the test only";

/// 2026-03-01T12:00:00Z. The clock stands still until a test advances it.
pub(crate) const NOW: Timestamp = Timestamp::from_ms(1_772_366_400_000);

/// One node and its database. Requests go to the node.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) clock: Clock,
    pub(crate) bank: Bank,
    pub(crate) node: Node,
}

/// One process of the service, as clients see it.
#[derive(Debug)]
pub(crate) struct Node {
    base: String,
    /// The address of the probe listener.
    probes: String,
    client: reqwest::Client,
    pub(crate) accounts: Accounts,
    pub(crate) standings: Standings,
    pub(crate) schedules: TournamentSchedules,
    pub(crate) tournaments: Tournaments,
    /// The live store of the node.
    pub(crate) live: TestLive,
    task: JoinHandle<()>,
    probing: JoinHandle<()>,
    _ledger: Option<LedgerTasks>,
    /// Kept open but never read: these tests play no games.
    _publications: UnboundedReceiver<Publication>,
}

/// The timeout of a request, below that of the client. A busy machine needs more than the default
/// for an analysis by the unoptimised build.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(25);

/// Analyses of the priority of other threads: beside other tests a thread of the lowest priority
/// gets hardly any processor time.
const ANALYSIS_OPTIONS: AnalysisOptions = AnalysisOptions { wait_max: REQUEST_TIMEOUT, nice: 0 };

/// The options of a test server.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) options: Options,
    pub(crate) probes: Vec<Probe>,
    pub(crate) more: Router,
    pub(crate) auth_options: accounts::Options,
    /// The secrets; the first one signs.
    pub(crate) secrets: Vec<&'static [u8]>,
    pub(crate) records: Records,
    pub(crate) live: TestLive,
}

impl Default for Setup {
    fn default() -> Self {
        let rate_limits = RateLimits::new(wide_rate_limits());
        Self {
            options: Options { timeout: REQUEST_TIMEOUT, rate_limits, ..Options::default() },
            probes: Vec::new(),
            more: Router::new(),
            auth_options: cheap_auth_options(),
            secrets: vec![SECRET],
            records: Records::without_archive(),
            live: TestLive::new(),
        }
    }
}

/// A signed-in guest.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    pub(crate) id: String,
    pub(crate) access_token: String,
    pub(crate) refresh_token: String,
    pub(crate) answer: Value,
}

impl Setup {
    /// Returns options with changed rate limits.
    pub(crate) fn with_rate_limits(change: impl FnOnce(&mut rate_limit::Options)) -> Self {
        let mut limits = wide_rate_limits();
        change(&mut limits);
        let mut setup = Self::default();
        setup.options.rate_limits = RateLimits::new(limits);
        setup
    }
}

impl Guest {
    /// Reads the answer to a sign-in.
    pub(crate) fn from_answer(answer: Value) -> Self {
        Self {
            id: text(&answer["player"]["id"]),
            access_token: text(&answer["access_token"]),
            refresh_token: text(&answer["refresh_token"]),
            answer,
        }
    }

    /// Returns the guest with the tokens of the answer to a refresh.
    pub(crate) fn with_tokens(&self, answer: Value) -> Self {
        let [access_token, refresh_token] =
            ["access_token", "refresh_token"].map(|name| text(&answer[name]));
        Self { id: self.id.clone(), access_token, refresh_token, answer }
    }

    pub(crate) fn player(&self) -> PlayerId {
        self.id.parse().expect("an id is a UUID")
    }
}

/// Returns the ids of guests.
pub(crate) fn list_players(guests: &[Guest]) -> Vec<PlayerId> {
    guests.iter().map(Guest::player).collect()
}

/// A guest authenticates with its access token.
impl AsRef<str> for Guest {
    fn as_ref(&self) -> &str {
        &self.access_token
    }
}

impl Deref for Server {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

impl Server {
    pub(crate) async fn new() -> Self {
        Self::with_setup(Setup::default()).await
    }

    /// Starts a server at which a guest has signed in from [`DEVICE`].
    pub(crate) async fn with_guest() -> (Self, Guest) {
        let server = Self::new().await;
        let guest = server.guest(DEVICE).await;
        (server, guest)
    }

    /// Starts a server at which this many new guests have signed in.
    pub(crate) async fn with_guests(count: usize) -> (Self, Vec<Guest>) {
        let server = Self::new().await;
        let guests = server.guests(count).await;
        (server, guests)
    }

    /// Starts a server and another node beside it.
    pub(crate) async fn with_other() -> (Self, Node) {
        let server = Self::new().await;
        let other = server.another_node().await;
        (server, other)
    }

    pub(crate) async fn with_rate_limits(change: impl FnOnce(&mut rate_limit::Options)) -> Self {
        Self::with_setup(Setup::with_rate_limits(change)).await
    }

    pub(crate) async fn owner_pool(&self) -> PgPool {
        self.bank.database.owner_pool().await
    }

    pub(crate) async fn with_setup(setup: Setup) -> Self {
        let bank = Bank::new().await;
        let clock = Clock::set_to(NOW);
        let node = Node::start(&bank, bank.ledger.clone(), &clock, setup, None).await;
        Self { clock, bank, node }
    }

    /// Returns the API token of a new operator, created in a session.
    pub(crate) async fn operator(&self, name: &str, role: Role) -> String {
        let session = self.session(name, role).await;
        let create = self.node.request(Method::POST, "/v1/operator/token").bearer_auth(session);
        text(&ok(create).await["token"])
    }

    /// Returns the token of a new operator's session with the second factor.
    pub(crate) async fn session(&self, name: &str, role: Role) -> String {
        let code = self.add_operator(name, role).await;
        let accounts = self.accounts.clone();
        let pool = self.bank.pool.clone();
        let operator_auth = OperatorAuth::new(pool, accounts, self.clock.clone(), sealing_keys());
        let opened = operator_auth.open_enrolment(&code, None).await;
        let (enrolment, browser) = opened.expect("the operator can enrol");
        let request = EnrolmentCompletion {
            code: &code,
            browser: Some(&browser),
            password: &PASSWORD.parse().expect("a password"),
            authenticator_code: &enrolment.factor.code(self.clock.now()),
            from: SignInClient { channel: Channel::Api, address: None, browser: None },
        };
        let session = operator_auth.enrol(request).await.expect("the enrolment succeeds");
        session.token.reveal().to_owned()
    }

    /// Adds an operator by command, and returns its enrolment code.
    pub(crate) async fn add_operator(&self, name: &str, role: Role) -> String {
        let (operators, name) = self.operators_and_name(name).await;
        let added = operators.add(&Actor::COMMAND_LINE, &name, role, self.clock.now()).await;
        added.expect("the operator is added").reveal().to_owned()
    }

    /// Resets an operator by command, and returns its enrolment code.
    pub(crate) async fn reset_operator(&self, name: &str) -> String {
        let (operators, name) = self.operators_and_name(name).await;
        let reset = operators.reset(&Actor::COMMAND_LINE, &name, self.clock.now()).await;
        reset.expect("the operator is reset").reveal().to_owned()
    }

    pub(crate) async fn disable_operator(&self, name: &str) {
        let (operators, name) = self.operators_and_name(name).await;
        let disabled = operators.disable(&Actor::COMMAND_LINE, &name, self.clock.now()).await;
        disabled.expect("the operator is disabled");
    }

    async fn operators_and_name(&self, name: &str) -> (Operators, OperatorName) {
        let operators = Operators::new(self.owner_pool().await);
        (operators, name.parse().expect("the operator name is valid"))
    }

    /// Returns this server's node for even numbers, and another node for odd ones.
    pub(crate) fn alternate<'a>(&'a self, other: &'a Node, number: usize) -> &'a Node {
        if number.is_multiple_of(2) { &self.node } else { other }
    }

    /// Starts another node with the same database, secret and clock.
    pub(crate) async fn another_node(&self) -> Node {
        self.node_with(Setup::default()).await
    }

    /// Starts another node with the same database and clock, and with other options.
    pub(crate) async fn node_with(&self, setup: Setup) -> Node {
        let (ledger, tasks) = self.bank.node().await;
        Node::start(&self.bank, ledger, &self.clock, setup, Some(tasks)).await
    }
}

impl Node {
    async fn start(
        bank: &Bank,
        ledger: Ledger,
        clock: &Clock,
        setup: Setup,
        tasks: Option<LedgerTasks>,
    ) -> Self {
        let Setup { options, probes, more, auth_options, secrets, records, live: stored } = setup;
        let pool = bank.database.pool().await;
        let sound = "a secret of the tests is strong enough";
        let (first, previous) = secrets.split_first().expect("a secret is configured");
        let signer = previous.iter().fold(Signer::new(first).expect(sound), |signer, secret| {
            signer.with_previous(secret).expect(sound)
        });
        let auth = Auth::new(signer, clock.clone(), accounts::session_lookup(pool.clone()));
        let (books, proofs) = (ledger.clone(), auth.clone());
        let accounts =
            Accounts::new(pool.clone(), books, proofs, clock.clone(), WELCOME, auth_options);
        let accounts = accounts.expect("the test options are valid");
        accounts.load_revocations().await.expect("sessions can be read");
        let (live, publications) = stored.connect().await;
        let rooms = house_rooms(Clocks::default());
        let rooms = Catalog::load(pool.clone(), &rooms).await.expect("rooms can be read");
        let terms = rooms.terms_source();
        let tables = Tables::new(live.clone(), ledger.clone(), clock.clone(), pool.clone(), terms);
        let lobby = Lobby::new(LobbyParts {
            rooms,
            tables,
            live: live.clone(),
            ledger: ledger.clone(),
            accounts: accounts.clone(),
            ratings: Ratings::new(pool.clone()),
            bots: [].into(),
            options: lobby::Options::default(),
        });
        let operator_auth =
            OperatorAuth::new(pool.clone(), accounts.clone(), clock.clone(), sealing_keys());
        let metrics = Metrics::default();
        let standings = Standings::new(pool.clone(), live.clone(), Calendar::default());
        let reports = Reports::with_own_pool(&pool).with_records(records.clone());
        let tournaments = Tournaments::new(pool.clone(), ledger.clone(), lobby.clone());
        let zone = standings.calendar().time_zone().clone();
        let limit = GuaranteeLimit::new(TOURNAMENT_APPROVAL_ABOVE, zone);
        let schedules = TournamentSchedules::new(pool.clone(), tournaments.clone(), limit.clone());
        let services = Services {
            accounts: accounts.clone(),
            analyses: Analyses::new(ANALYSIS_OPTIONS),
            auth,
            checks: Checks::new(pool.clone(), Duration::from_secs(3_600), &metrics),
            metrics,
            corrections: Corrections::new(
                pool.clone(),
                ledger.clone(),
                clock.clone(),
                adjustments(),
            ),
            idempotency: Idempotency::new(pool.clone()),
            operators: Operators::new(pool.clone()),
            pairs: Pairs::new(&reports, standings.calendar().time_zone(), ALERT_SCORE_DEFAULT),
            reports,
            records,
            audit: Audit::new(pool.clone()),
            operator_auth,
            rewards: Rewards::new(pool.clone(), ledger.clone(), clock.clone(), Terms::default()),
            social: Social::new(pool.clone()),
            standings: standings.clone(),
            tournament_requests: TournamentRequests::new(pool.clone(), tournaments.clone(), limit),
            tournament_schedules: schedules.clone(),
            tournaments: tournaments.clone(),
            ledger,
            lobby,
            live,
            clock: clock.clone(),
            pool,
            readiness: Readiness::new(probes),
        };
        let probe_router = http::probe_router(services.clone());
        let (probes, probing) = serve(probe_router, RateLimits::default()).await;
        let router = http::router(services, &options, more);
        let (base, task) = serve(router, options.rate_limits.clone()).await;
        let client = reqwest::Client::builder()
            .timeout(Duration::from_secs(30))
            .no_proxy()
            // Redirects are returned to the test.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .expect("the client can be built");
        Self {
            base,
            probes,
            client,
            accounts,
            standings,
            schedules,
            tournaments,
            live: stored,
            task,
            probing,
            _ledger: tasks,
            _publications: publications,
        }
    }

    /// Returns the address, for tests that send invalid requests.
    pub(crate) fn address(&self) -> &str {
        self.base.trim_start_matches("http://")
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base))
    }

    /// Builds a request to the probe listener.
    pub(crate) fn probe(&self, path: &str) -> RequestBuilder {
        self.client.request(Method::GET, format!("{}{path}", self.probes))
    }

    pub(crate) fn get(&self, path: &str, by: &(impl AsRef<str> + ?Sized)) -> RequestBuilder {
        self.call(Method::GET, path, by)
    }

    /// Builds a request without a body.
    pub(crate) fn call(
        &self,
        method: Method,
        path: &str,
        by: &(impl AsRef<str> + ?Sized),
    ) -> RequestBuilder {
        self.request(method, path).bearer_auth(by.as_ref())
    }

    /// Builds an unauthenticated request.
    pub(crate) fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.request(Method::POST, path).json(body)
    }

    pub(crate) fn post_by(
        &self,
        by: &(impl AsRef<str> + ?Sized),
        path: &str,
        body: &Value,
    ) -> RequestBuilder {
        self.call(Method::POST, path, by).json(body)
    }

    /// Builds a request under a new idempotency key.
    pub(crate) fn post_once(
        &self,
        by: &(impl AsRef<str> + ?Sized),
        path: &str,
        body: &Value,
    ) -> RequestBuilder {
        self.post_by(by, path, body).header("Idempotency-Key", Uuid::new_v4().to_string())
    }

    pub(crate) async fn guest(&self, device_id: &str) -> Guest {
        self.sign_in(&json!({ "device_id": device_id })).await
    }

    pub(crate) async fn sign_in(&self, body: &Value) -> Guest {
        Guest::from_answer(ok(self.post("/v1/sign-in/guest", body)).await)
    }

    /// Signs in as many new guests.
    pub(crate) async fn guests(&self, count: usize) -> Vec<Guest> {
        let mut guests = vec![];
        for number in 0..count {
            guests.push(self.guest(&format!("device-00000000-{number}")).await);
        }
        guests
    }

    pub(crate) fn change_profile(
        &self,
        by: &(impl AsRef<str> + ?Sized),
        body: &Value,
    ) -> RequestBuilder {
        self.call(Method::PATCH, "/v1/me", by).json(body)
    }

    /// Returns the items of each page of a list, read with this query.
    pub(crate) async fn read_pages(
        &self,
        path: &str,
        query: &str,
        by: &(impl AsRef<str> + ?Sized),
    ) -> Vec<Vec<Value>> {
        let mut pages = Vec::new();
        let mut next = format!("{path}?{query}");
        loop {
            let page = ok(self.get(&next, by)).await;
            pages.push(items(&page).clone());
            let Some(cursor) = page["next_cursor"].as_str() else {
                return pages;
            };
            next = format!("{path}?{query}&cursor={cursor}");
        }
    }

    /// Obtains an account proof, for the header `account-proof`.
    pub(crate) async fn proof(&self, by: &(impl AsRef<str> + ?Sized), shown: &Value) -> String {
        text(&ok(self.post_by(by, "/v1/me/proof", shown)).await["proof"])
    }

    /// Obtains an account proof by the device, for a guest without another sign-in method.
    pub(crate) async fn device_proof(
        &self,
        by: &(impl AsRef<str> + ?Sized),
        device_id: &str,
    ) -> String {
        self.proof(by, &json!({ "by": "device", "device_id": device_id })).await
    }

    /// Builds a request that deletes something of an account, with an account proof.
    pub(crate) fn delete_proven(
        &self,
        path: &str,
        by: &(impl AsRef<str> + ?Sized),
        proof: &str,
    ) -> RequestBuilder {
        self.call(Method::DELETE, path, by).header("account-proof", proof)
    }

    /// Builds a request that gives a guest with this device a name and its first password.
    pub(crate) async fn set_password(
        &self,
        by: &(impl AsRef<str> + ?Sized),
        device_id: &str,
        name: &str,
        password: &str,
    ) -> RequestBuilder {
        let proof = self.device_proof(by, device_id).await;
        let body = json!({ "name": name, "password": password });
        self.post_by(by, "/v1/me/password", &body).header("account-proof", proof)
    }

    /// Builds a refresh without a device id, like that of a thief who only has the token.
    pub(crate) fn refresh(&self, refresh_token: &str) -> RequestBuilder {
        self.post("/v1/token/refresh", &json!({ "refresh_token": refresh_token }))
    }

    pub(crate) fn refresh_by(&self, refresh_token: &str, device_id: &str) -> RequestBuilder {
        let body = json!({ "refresh_token": refresh_token, "device_id": device_id });
        self.post("/v1/token/refresh", &body)
    }

    /// Refreshes the tokens of a guest.
    pub(crate) async fn renew(&self, guest: &Guest) -> Guest {
        guest.with_tokens(ok(self.refresh(&guest.refresh_token)).await)
    }

    pub(crate) async fn renew_by(&self, guest: &Guest, device_id: &str) -> Guest {
        guest.with_tokens(ok(self.refresh_by(&guest.refresh_token, device_id)).await)
    }

    /// Asserts that a guest's session has ended, and that this node knows it.
    pub(crate) async fn expect_ended(&self, guest: &Guest) {
        expect_refusal(self.get("/v1/me", guest), 401, "token_revoked").await;
        expect_refusal(self.refresh(&guest.refresh_token), 401, "session_ended").await;
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.task.abort();
        self.probing.abort();
    }
}

/// Serves on a free port, and returns the base of its URLs.
async fn serve(router: Router, limits: RateLimits) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is available");
    let address = listener.local_addr().expect("a listener has an address");
    let listener = http::LimitedListener::new(listener, limits);
    let task = tokio::spawn(http::serve(listener, router, std::future::pending()));
    (format!("http://{address}"), task)
}

/// The keys that seal second factors.
pub(crate) fn sealing_keys() -> SealingKeys {
    SealingKeys::new(["5e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b"]).expect("the key is random")
}

/// Returns the body of a request for the adjustment of a player's wallet.
pub(crate) fn adjustment(player: impl Display, amount: i64) -> Value {
    json!({
        "kind": "adjustment", "player": player.to_string(), "amount": amount, "reason": REASON
    })
}
