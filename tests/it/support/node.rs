//! Nodes in the test's process, and players who are connected through them.

use std::sync::Arc;

use bahay::accounts::{self, Accounts};
use bahay::auth::{Auth, Signer};
use bahay::clock::Clock;
use bahay::ledger::{Ledger, LedgerTasks};
use bahay::live_store::LiveStore;
use bahay::lobby::{self, Catalog, HouseBot, Lobby, LobbyParts, house_rooms};
use bahay::ratings::Ratings;
use bahay::tables::Tables;
use bahay_bots::Ai;
use bahay_engine::catalog::AnyGame;
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, Viewer};
use bahay_engine::table::{
    Clocks, ConnectionId, GameId, Input, Phase, PlayerId, Readable, Table, TableId, Terms,
};
use bahay_shell::{Notice, NoticeReceiver, WatchEnd};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use uuid::Uuid;

use super::bank::Bank;
use super::house::{PATIENCE, cheap_auth_options};
use super::live::TestLive;
use crate::support::house::unhurried_clocks;

/// A node in this process, which is killed on drop as by `kill -9`.
pub(crate) struct Node {
    pub(crate) lobby: Lobby,
    parts: LobbyParts,
    _ledger: LedgerTasks,
    tasks: JoinSet<()>,
    /// The heartbeat task.
    present: Option<AbortHandle>,
}

impl Node {
    /// Creates a node with its own clock and without background tasks.
    pub(crate) async fn new(bank: &Bank, live: &TestLive, clocks: Clocks) -> Self {
        Self::build(bank, live, clocks, false).await
    }

    /// Starts a node as a server does: with the house's clock, and present among the other nodes.
    pub(crate) async fn start(bank: &Bank, live: &TestLive, clocks: Clocks) -> Self {
        let mut node = Self::build(bank, live, clocks, true).await;
        node.tasks.spawn(node.tables().clone().find_lost());
        node.resume_heartbeats();
        node
    }

    async fn build(bank: &Bank, live: &TestLive, clocks: Clocks, is_present: bool) -> Self {
        let (live, publications) = live.connect().await;
        let (ledger, ledger_tasks) = bank.node().await;
        let rooms = Catalog::from(house_rooms(clocks));
        let (books, pool, terms) = (ledger.clone(), bank.pool.clone(), rooms.terms_source());
        let tables = if is_present {
            Tables::start(live.clone(), books, pool, terms).await.unwrap()
        } else {
            Tables::new(live.clone(), books, Clock::system(), pool, terms)
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(tables.clone().handle_publications(publications));
        tasks.spawn(tables.clone().run_ticker());
        let parts = lobby_parts(bank, rooms, tables, live, ledger);
        let lobby = Lobby::new(parts.clone());
        Self { lobby, parts, _ledger: ledger_tasks, tasks, present: None }
    }

    /// Creates two nodes of one house with stores of its own.
    pub(crate) async fn pair() -> (Bank, TestLive, [Self; 2]) {
        let (bank, live, node) = Self::with_stores(unhurried_clocks()).await;
        let other = Self::new(&bank, &live, unhurried_clocks()).await;
        (bank, live, [node, other])
    }

    /// Creates a node with stores of its own.
    pub(crate) async fn with_stores(clocks: Clocks) -> (Bank, TestLive, Self) {
        let (bank, live) = (Bank::new().await, TestLive::new());
        let node = Self::new(&bank, &live, clocks).await;
        (bank, live, node)
    }

    /// Starts a node as a server does, with stores of its own.
    pub(crate) async fn start_with_stores(clocks: Clocks) -> (Bank, TestLive, Self) {
        let (bank, live) = (Bank::new().await, TestLive::new());
        let node = Self::start(&bank, &live, clocks).await;
        (bank, live, node)
    }

    /// Starts two nodes of one house with stores of its own.
    pub(crate) async fn start_pair() -> (Bank, TestLive, [Self; 2]) {
        let (bank, live, node) = Self::start_with_stores(unhurried_clocks()).await;
        let other = Self::start(&bank, &live, unhurried_clocks()).await;
        (bank, live, [node, other])
    }

    /// Returns another lobby of this node, with these bots and options.
    pub(crate) fn lobby_with(&self, bots: &[HouseBot], options: lobby::Options) -> Lobby {
        Lobby::new(LobbyParts { bots: bots.into(), options, ..self.parts.clone() })
    }

    /// Stops the heartbeat until [`Node::resume_heartbeats`].
    pub(crate) fn stop_heartbeats(&mut self) {
        self.present.take().expect("the heartbeat task runs").abort();
    }

    pub(crate) fn resume_heartbeats(&mut self) {
        self.present = Some(self.tasks.spawn(self.tables().clone().run_heartbeats()));
    }

    pub(crate) fn tables(&self) -> &Tables<AnyGame> {
        self.lobby.tables()
    }

    /// Reads a table that exists.
    pub(crate) async fn read_table(&self, table: TableId) -> Arc<Table<AnyGame>> {
        self.tables().read_table(table).await.unwrap().expect("the table exists")
    }

    /// Makes players ready for the game that the table prepares.
    pub(crate) async fn become_ready(&self, table: TableId, players: &[PlayerId]) -> GameId {
        become_ready(self.tables(), table, players).await
    }

    /// Joins a table with each player.
    pub(crate) async fn join_players(
        &self,
        table: TableId,
        players: &[PlayerId],
    ) -> Vec<ConnectedPlayer> {
        let mut seated = vec![];
        for player in players {
            seated.push(ConnectedPlayer::join(self, table, *player).await);
        }
        seated
    }
}

/// Creates a table with these terms, and seats players at it.
pub(crate) async fn create_table<G: Ai + Readable>(
    tables: &Tables<G>,
    terms: Terms<G::Rules>,
    players: &[PlayerId],
) -> TableId {
    let table = TableId(Uuid::new_v4());
    tables.create(table, terms).await.unwrap();
    for player in players {
        tables.submit(table, Input::sit(*player, "Tala")).await.unwrap();
    }
    table
}

/// Makes players ready for the game that a table prepares.
pub(crate) async fn become_ready<G: Ai + Readable>(
    tables: &Tables<G>,
    table: TableId,
    players: &[PlayerId],
) -> GameId {
    let looked = tables.read_table(table).await.unwrap().expect("the table exists");
    let game = looked.phase().game().expect("the table prepares a game");
    for player in players.iter().copied() {
        let ready = Input::Ready { player, game, commitment: None };
        tables.submit(table, ready).await.unwrap();
    }
    game
}

/// Returns the parts of a lobby whose accounts and ratings are those of the bank's database.
fn lobby_parts(
    bank: &Bank,
    rooms: Catalog,
    tables: Tables<AnyGame>,
    live: LiveStore,
    ledger: Ledger,
) -> LobbyParts {
    let (pool, clock) = (bank.pool.clone(), Clock::system());
    let signer = Signer::new(b"this key of the tests is strong enough").unwrap();
    let auth = Auth::new(signer, clock.clone(), accounts::session_lookup(pool.clone()));
    let (books, options) = (ledger.clone(), cheap_auth_options());
    let accounts = Accounts::new(pool.clone(), books, auth, clock, Coins::ZERO, options).unwrap();
    let (bots, options) = ([].into(), lobby::Options::default());
    let ratings = Ratings::new(pool);
    LobbyParts { rooms, tables, live, ledger, accounts, ratings, bots, options }
}

/// A player connected through one node.
pub(crate) struct ConnectedPlayer {
    pub(crate) player: PlayerId,
    pub(crate) connection: ConnectionId,
    pub(crate) notices: NoticeReceiver<Notice<AnyGame>>,
    pub(crate) version: u64,
    pub(crate) table: Arc<Table<AnyGame>>,
}

impl ConnectedPlayer {
    pub(crate) async fn join(node: &Node, table: TableId, player: PlayerId) -> Self {
        let connection = ConnectionId(Uuid::new_v4());
        let watch = node.tables().watch(table, connection, None).await.unwrap();
        let connect = Input::Connect { player, connection };
        node.tables().submit(table, connect).await.unwrap();
        let (version, table) = (watch.at.version, watch.table);
        Self { player, connection, notices: watch.notices, version, table }
    }

    /// Returns the next notice and checks that the versions have no gap.
    pub(crate) async fn next(&mut self) -> Notice<AnyGame> {
        let notice = timeout(PATIENCE, self.notices.recv()).await.expect("a notice arrives");
        let notice = notice.expect("the watch is open");
        assert!(!notice.is_snapshot, "no line was missed");
        assert_eq!(notice.at.version, self.version + 1);
        self.version = notice.at.version;
        self.table = notice.table.clone();
        notice
    }

    /// Returns the input that the table awaits from this player.
    pub(crate) fn input(&self) -> Option<Input<<AnyGame as Game>::Action>> {
        let player = self.player;
        let seat = self.table.seat_of(player)?;
        match self.table.phase() {
            Phase::Preparing(preparing) if !preparing.ready.contains(seat) => {
                Some(Input::Ready { player, game: preparing.game, commitment: None })
            }
            Phase::Playing(playing) if playing.prompt.seats.contains(seat) => {
                let action = AnyGame::choose_action(&playing.state.view(Viewer::Seat(seat)))?;
                let (game, prompt) = (playing.game, playing.prompt.number);
                Some(Input::Act { player, game, prompt, action })
            }
            _ => None,
        }
    }
}

/// Seats players at one table of the newbie room, each through the next node.
pub(crate) async fn seat_players<'a>(
    nodes: impl IntoIterator<Item = &'a Node, IntoIter: Clone>,
    players: &[PlayerId],
) -> TableId {
    let mut tables = vec![];
    for (player, node) in players.iter().zip(nodes.into_iter().cycle()) {
        tables.push(node.lobby.seat(*player, "newbie").await.unwrap());
    }
    assert!(tables.iter().all(|table| *table == tables[0]), "{tables:?}");
    tables[0]
}

/// Seats new players with these amounts at one table, each through the next of these nodes.
pub(crate) async fn seat_new_players<'a, const N: usize>(
    nodes: impl IntoIterator<Item = &'a Node, IntoIter: Clone>,
    bank: &Bank,
    hundredths: [i64; N],
) -> (TableId, Vec<PlayerId>) {
    let players = bank.players(hundredths).await;
    let table = seat_players(nodes, &players).await;
    (table, players)
}

impl ConnectedPlayer {
    /// Waits until the watch ends.
    pub(crate) async fn watch_end(&mut self) -> Option<WatchEnd> {
        let ended = async { while self.notices.recv().await.is_some() {} };
        timeout(PATIENCE, ended).await.expect("the watch ends");
        self.notices.ending()
    }

    /// Waits until the table satisfies a condition.
    pub(crate) async fn wait_until(&mut self, holds: impl Fn(&Table<AnyGame>) -> bool) {
        while !holds(&self.table) {
            self.next().await;
        }
    }
}

/// Returns true if the table shows the player as connected.
pub(crate) fn is_connected(table: &Table<AnyGame>, player: PlayerId) -> bool {
    let seat = table.seat_of(player).expect("the player keeps the seat");
    table.occupant(seat).is_some_and(|occupant| occupant.connection.is_some())
}

pub(crate) fn is_playing(table: &Table<AnyGame>) -> bool {
    matches!(table.phase(), Phase::Playing(_))
}

/// Makes all players ready and waits for the deal.
pub(crate) async fn deal(node: &Node, seated: &mut [ConnectedPlayer]) -> GameId {
    let players: Vec<PlayerId> = seated.iter().map(|one| one.player).collect();
    let game = node.become_ready(seated[0].table.id(), &players).await;
    for one in seated {
        one.wait_until(is_playing).await;
    }
    game
}
