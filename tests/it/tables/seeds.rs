//! The seeds of clients over the public API: committed to with `ready`, revealed when all are ready
//! (rules 9.1 and 9.1a). Games for which the house requested the texts and did not deal are counted
//! publicly.

use bahay::archive::{self, UnrevealedFilter};
use bahay::clock::Timestamp;
use bahay::reports::Deals;
use bahay::tables::Tables;
use bahay::ws::protocol::Command;
use bahay_client_tokio::{Client, Play, PlayError};
use bahay_engine::catalog::AnyGame;
use bahay_engine::chance::{ClientSeed, Commitment};
use bahay_engine::table::{Clocks, GameId, Input, Phase, PhaseView, PlayerId, TableId, TableView};
use serde_json::Value;
use uuid::Uuid;

use super::start_tables;
use crate::support::bank::Bank;
use crate::support::checks::{count_reports, count_standings};
use crate::support::house::House;
use crate::support::live::TestLive;
use crate::support::node::create_table;
use crate::support::play::{TestPlay as _, join_new_table, rejoin};
use crate::support::reason;
use crate::support::waiting::{wait_for, wait_until};

const FUNDS: i64 = 100_000;

async fn see(play: &mut Play, holds: impl Fn(&TableView<AnyGame>) -> bool) {
    play.read_until("it is seen", |play| play.view().is_some_and(&holds)).await;
}

fn is_revealing(view: &TableView<AnyGame>) -> bool {
    matches!(view.phase, PhaseView::Revealing { .. })
}

fn commitments(play: &Play) -> Vec<Commitment> {
    match &play.view().unwrap().phase {
        PhaseView::Revealing { commitments, .. } => commitments.clone(),
        other => panic!("nobody is asked: {other:?}"),
    }
}

/// Returns three ready clients: two have committed to the text `text N`, the last to none.
async fn ready(house: &House) -> ([Client; 3], Vec<Play>, GameId) {
    let (_, clients, mut plays) = join_new_table(house).await;
    let game = plays[0].prepared_game().await;
    for (number, play) in plays.iter_mut().enumerate() {
        let text = (number < 2).then(|| format!("text {number}"));
        let said = play.ready(game, text).await.unwrap();
        play.confirm(said).await;
    }
    for play in &mut plays {
        see(play, is_revealing).await;
    }
    (clients, plays, game)
}

async fn refused(play: &mut Play, game: GameId, text: &str) -> (String, Option<String>) {
    let text = text.to_owned();
    let said = play.send(|id| Command::Reveal { id, game, text }).await.unwrap();
    match play.wait_for_answer(said).await {
        Err(PlayError::Refused { code, rule, .. }) => (code, rule),
        other => panic!("it is taken: {other:?}"),
    }
}

/// Lets the AI play for disconnected players until there is a record.
async fn record_of(client: &Client, plays: Vec<Play>, game: GameId) -> Value {
    for play in plays {
        play.drop_connection();
    }
    wait_for("the game is settled", async || client.record(game).await.ok()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_are_revealed_when_all_are_ready_and_stand_in_the_record() {
    let house = House::with_clocks(Clocks { think_ms: 20, grace_ms: 1, ..Clocks::default() }).await;
    let (clients, mut plays, game) = ready(&house).await;
    // All players see the same commitments before the first text is revealed.
    let shown = commitments(&plays[0]);
    let expected = ["text 0", "text 1"].map(|text| ClientSeed::from_text(text).commitment());
    assert_eq!(shown, [expected[0], expected[1], Commitment::NONE]);
    assert!(plays.iter().all(|play| commitments(play) == shown));

    // The other one loses its connection, returns in time, and is still asked.
    let known = plays.remove(1).drop_connection();
    let mut back = rejoin(&clients[1], known).await;
    for play in [&mut back, &mut plays[0]] {
        let said = play.reveal().await.unwrap().expect("it is asked");
        play.wait_for_answer(said).await.unwrap();
    }
    assert!(!is_revealing(plays[0].view().unwrap()), "the last text has it dealt");

    plays.push(back);
    let record = record_of(&clients[0], plays, game).await;
    let told = |number: usize| record["clients"][number]["text"].as_str();
    assert_eq!([told(0), told(1), told(2)], [Some("text 0"), Some("text 1"), None]);
    let path = format!("/v1/games/{game}/fairness");
    let fairness: Value = clients[0].read(&path).await.unwrap();
    assert_eq!(fairness["clients"], record["clients"]);
    for (number, commitment) in shown.iter().enumerate() {
        assert_eq!(record["clients"][number]["commitment"], commitment.0.to_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_is_not_asked_for_is_refused_and_changes_nothing() {
    let house = House::new().await;
    let (_, mut plays, game) = ready(&house).await;
    let version = plays[0].version();
    assert_eq!(refused(&mut plays[2], game, "text 2").await.0, "not_asked");
    let long = "x".repeat(257);
    assert_eq!(refused(&mut plays[0], game, &long).await.0, "seed_text_too_long");
    let wrong = refused(&mut plays[0], game, "text 1").await;
    assert_eq!(wrong, ("other_seed_text".to_owned(), Some("9.1".to_owned())));
    assert_eq!(plays[0].version(), version);
    let said = plays[0].reveal().await.unwrap().expect("it is asked");
    plays[0].wait_for_answer(said).await.unwrap();
    assert_eq!(plays[0].reveal().await.unwrap(), None);
    assert_eq!(refused(&mut plays[0], game, "text 0").await.0, "already_revealed");
}

/// No client reveals, and the house plays on: leaving and disconnecting undo nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_game_whose_texts_do_not_come_is_dealt_with_the_commitments() {
    let house = House::with_clocks(Clocks { think_ms: 20, grace_ms: 1, ..Clocks::default() }).await;
    let (clients, mut plays, game) = ready(&house).await;
    let shown = commitments(&plays[0]);
    plays.remove(1).drop_connection();
    plays[0].confirm_leave().await;
    let mut last = plays.pop().unwrap();
    see(&mut last, |view| !is_revealing(view)).await;
    match &last.view().unwrap().phase {
        PhaseView::Playing { game: dealt, .. } => assert_eq!(*dealt, game),
        other => panic!("the game is not dealt: {other:?}"),
    }
    plays.push(last);
    let record = record_of(&clients[0], plays, game).await;
    for (number, commitment) in shown.iter().enumerate() {
        let client = &record["clients"][number];
        assert_eq!(client["text"], Value::Null);
        assert_eq!(client["seed"], commitment.0.to_string());
    }
}

/// A table at which two of three texts are known, at a node without a clock that would deal.
struct UndealtTable {
    bank: Bank,
    tables: Tables<AnyGame>,
    table: TableId,
    players: Vec<PlayerId>,
    game: GameId,
    /// The house's commitment, as shown during preparation.
    commitment: Commitment,
    live: TestLive,
}

impl UndealtTable {
    async fn new() -> Self {
        let (bank, live) = (Bank::new().await, TestLive::new());
        let tables = start_tables::<AnyGame>(&bank, &live).await;
        let players = bank.players([FUNDS; 3]).await;
        let terms = bahay::lobby::house_rooms(Clocks::default())[0].terms().clone();
        let table = create_table(&tables, terms, &players).await;
        let looked = tables.read_table(table).await.unwrap().unwrap();
        let Phase::Preparing(preparing) = looked.phase() else {
            panic!("a full table prepares: {:?}", looked.phase());
        };
        let game = preparing.game;
        let commitment = preparing.server_seed.commitment();
        for (number, player) in players.iter().copied().enumerate() {
            let seed = ClientSeed::from_text(&format!("text {number}"));
            let commitment = Some(seed.commitment());
            tables.submit(table, Input::Ready { player, game, commitment }).await.unwrap();
        }
        let undealt = Self { bank, tables, table, players, game, commitment, live };
        wait_until("the ledger opens the game", async || undealt.is_revealing().await).await;
        for (number, player) in undealt.players.iter().copied().enumerate().take(2) {
            let text = format!("text {number}");
            undealt.tables.submit(table, Input::Reveal { player, game, text }).await.unwrap();
        }
        undealt
    }

    async fn is_revealing(&self) -> bool {
        let looked = self.tables.read_table(self.table).await.unwrap().unwrap();
        matches!(looked.phase(), Phase::Revealing(_))
    }

    /// Lists the commitments that are publicly listed as unrevealed some hours later, each with
    /// whether its game was voided.
    async fn unrevealed(
        &self,
        hours: i64,
        table: Option<TableId>,
    ) -> Vec<(GameId, Commitment, bool)> {
        let now_ms = jiff::Timestamp::now().as_millisecond();
        let filter = UnrevealedFilter {
            from: Timestamp::from_ms(now_ms - 3_600_000),
            to: Timestamp::from_ms(now_ms + 3_600_000),
            unended_before: Timestamp::from_ms(now_ms + (hours - 1) * 3_600_000),
            table,
        };
        let page =
            archive::unrevealed_commitments(&self.bank.pool, filter, None, 20).await.unwrap();
        let listed = page.items.into_iter();
        listed.map(|one| (one.game, one.commitment, one.voided_at.is_some())).collect()
    }

    /// Returns the public counts some hours later.
    async fn told(&self, hours: i64) -> Deals {
        self.bank.ledger.seal_operations().await.unwrap();
        count_standings(&self.bank.pool).await;
        let reports = count_reports(&self.bank.pool).await;
        let now_ms = jiff::Timestamp::now().as_millisecond();
        reports.deals(Timestamp::from_ms(now_ms + hours * 3_600_000)).await.unwrap()
    }
}

/// A house that knows its player's deal has the game voided: it is counted.
#[tokio::test(flavor = "multi_thread")]
async fn a_deal_that_is_taken_back_is_among_the_voided_games() {
    let undealt = UndealtTable::new().await;
    undealt.tables.void(undealt.table, &reason("a deal that the house dislikes")).await.unwrap();
    let deals = undealt.told(2).await;
    let day = deals.spans[0];
    assert_eq!((day.opened, day.settled, day.voided), (1, 0, 1), "{deals:?}");
    assert_eq!(deals.unended, 0);
    assert_eq!(undealt.bank.wallets(&undealt.players).await, [FUNDS; 3]);

    let listed = undealt.unrevealed(2, None).await;
    assert_eq!(listed, [(undealt.game, undealt.commitment, true)]);
    assert_eq!(undealt.unrevealed(2, Some(undealt.table)).await, listed);
    assert_eq!(undealt.unrevealed(2, Some(TableId(Uuid::new_v4()))).await, []);
}

/// If the house abandons the table, or all of its nodes are dead, the game is counted until another
/// node deals it with the received texts.
#[tokio::test(flavor = "multi_thread")]
async fn a_deal_that_is_left_lying_is_among_the_games_not_ended() {
    let undealt = UndealtTable::new().await;
    let deals = undealt.told(3).await;
    assert_eq!((deals.spans[0].opened, deals.spans[0].voided), (1, 0), "{deals:?}");
    assert_eq!(deals.unended, 1);
    assert_eq!(undealt.unrevealed(0, None).await, [], "it may still be played");
    let listed = undealt.unrevealed(2, None).await;
    assert_eq!(listed, [(undealt.game, undealt.commitment, false)]);

    let another = start_tables::<AnyGame>(&undealt.bank, &undealt.live).await;
    let ticking = tokio::spawn(another.clone().run_ticker());
    let clients = wait_for("it is dealt", async || {
        let looked = another.read_table(undealt.table).await.unwrap().unwrap();
        let Phase::Playing(playing) = looked.phase() else { return None };
        Some(playing.clients.clone())
    })
    .await;
    ticking.abort();
    let texts: Vec<_> = clients.iter().map(|client| client.text.as_deref()).collect();
    assert_eq!(texts, [Some("text 0"), Some("text 1"), None]);
    assert!(clients.iter().all(|client| client.is_valid()));
    let looked = another.read_table(undealt.table).await.unwrap().unwrap();
    assert_eq!(looked.phase().game(), Some(undealt.game));
}
