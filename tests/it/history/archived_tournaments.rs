//! The archiving of tournaments' records beside those of games for coins: their age counts from the
//! close of their tournament, and none is archived before.

use std::time::Duration;

use bahay::archive::tournament_games::{
    TournamentGame, TournamentScore, list_tournament_games, store_tournament_game,
};
use bahay::archive::{self, GameState, RecordedGame};
use bahay::clock::Clock;
use bahay::records::{ArchiveSchedule, ArchiveStore, Archiver, Records};
use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId, TableId, TournamentId};
use sqlx::PgPool;
use tempfile::TempDir;
use uuid::Uuid;

use super::generated::{NOW, history};
use crate::support::bank::{PotGoes, settlement};
use crate::support::checks::count_reports;
use crate::support::db::{TestDatabase, execute, read_row, read_value};

/// A projected history of games for coins, to which tournaments are added, and an empty archive.
struct MixedHistory {
    database: TestDatabase,
    pool: PgPool,
    /// The number of the games for coins.
    games: u64,
    records: Records,
    _folder: TempDir,
}

impl MixedHistory {
    /// Creates a history whose texts are removed as soon as their object is recorded.
    async fn new(games: u64) -> Self {
        let (database, pool, written) = history(games, 18).await;
        count_reports(&pool).await.close().await;
        let folder = tempfile::tempdir().unwrap();
        let address = format!("file://{}", folder.path().display());
        let records = Records::new(Some(ArchiveStore::open(&address, []).unwrap()));
        let owner = database.owner_pool().await;
        execute(&owner, "update owner_settings set archive_grace = interval '0'").await;
        Self { database, pool, games: written.games, records, _folder: folder }
    }

    fn archiver(&self, batch: u32) -> Archiver {
        let schedule = ArchiveSchedule { batch, ..ArchiveSchedule::new(Duration::from_hours(48)) };
        Archiver::new(self.pool.clone(), Clock::system(), self.records.clone(), schedule)
    }

    /// Inserts a running tournament whose secret round may be given, with games of the first round
    /// that ended when the history did.
    async fn tournament(&self, games: u32, secret_round: Option<u32>) -> TournamentId {
        let id = TournamentId(Uuid::new_v4());
        let secret = secret_round.map_or("null".to_owned(), |round| round.to_string());
        let insert = format!(
            "insert into tournaments (id, terms, seed, state, secret_round)
            values ('{id}', '{{}}', decode(repeat('5e', 32), 'hex'), 'running', {secret})"
        );
        execute(&self.pool, &insert).await;
        let stakes = [Coins::from_hundredths(1_000); 3];
        let settled = settlement(0, 2, &stakes, PotGoes::Nowhere, Coins::ZERO);
        let table = TableId(Uuid::new_v4());
        let score = |place: u8| TournamentScore {
            player: PlayerId(Uuid::from_bytes([place; 16])),
            points: Coins::ZERO,
            is_absent: false,
        };
        for number in 1..=games {
            let game = TournamentGame {
                game: GameId(Uuid::new_v4()),
                tournament: id,
                table,
                round: 1,
                table_number: 1,
                number,
                kind: "tongits".to_owned(),
                scores: [1, 2, 3].map(score).into(),
                finished_at_ms: NOW.ms(),
            };
            let record = format!("{{\"game\":\"{}\",\"actions\":[]}}", game.game);
            for _ in 0..2 {
                let stored = store_tournament_game(&self.pool, &game, &settled, &record).await;
                assert!(stored.unwrap());
            }
            // Another game of this number is refused, and nothing of it remains.
            let other = TournamentGame { game: GameId(Uuid::new_v4()), ..game };
            let stored = store_tournament_game(&self.pool, &other, &settled, &record).await;
            assert!(!stored.unwrap());
        }
        id
    }

    /// Closes a tournament, and dates the close this long ago.
    async fn close(&self, tournament: TournamentId, ago: &str) {
        let owner = self.database.owner_pool().await;
        let close = format!(
            "update tournaments
            set state = 'ended', secret_round = null, closed_at = now() - interval '{ago}'
            where id = '{tournament}'"
        );
        assert_eq!(execute(&owner, &close).await, 1);
    }

    async fn read(&self, tournament: TournamentId) -> Vec<RecordedGame> {
        let listed = list_tournament_games(&self.pool, tournament, None, 100).await.unwrap();
        let mut games = vec![];
        for game in listed.items {
            let read = archive::read_game(&self.pool, &self.records, game.game).await;
            games.push(read.unwrap().unwrap());
        }
        games
    }

    /// Returns the number of records whose text is in the archive alone: those of tournaments, and
    /// all.
    async fn archived(&self) -> (i64, i64) {
        let counts = "
            select count(g.game), count(*)
            from game_records r
            left join tournament_games g on g.game = r.game
            where r.record is null";
        read_row(&self.pool, counts).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn records_of_tournaments_and_of_games_for_coins_share_objects() {
    let history = MixedHistory::new(40).await;
    let coins = i64::try_from(history.games).unwrap();
    let first = history.tournament(7, None).await;
    let open = history.tournament(5, None).await;
    history.close(first, "100 days").await;
    let before = history.read(first).await;
    assert_eq!(before.len(), 7);
    assert!(before.iter().all(|game| {
        game.record.is_some() && game.settlement.is_some() && game.state == GameState::Settled
    }));
    assert_eq!(history.archiver(20).count_due().await.unwrap().0, history.games + 7);
    let archived = history.archiver(20).archive_all(u64::MAX, false).await.unwrap();
    assert_eq!(archived.records, history.games + 7);
    assert_eq!(history.archived().await, (7, coins + 7));
    assert_eq!(history.read(first).await, before);
    let inspection = history.archiver(20).inspect_archive(false).await.unwrap();
    assert_eq!((inspection.records, inspection.faults), (history.games + 7, vec![]));

    // Another tournament is closed long after its games, behind which the search has advanced.
    let open_before = history.read(open).await;
    history.close(open, "4 days").await;
    history.archiver(5).archive_due().await.unwrap();
    assert_eq!(history.archived().await, (12, coins + 12));
    assert_eq!(history.read(open).await, open_before);
    assert_eq!(history.archiver(5).archive_all(u64::MAX, false).await.unwrap().records, 0);
}

/// Rule 5.7: no record is archived while its round is secret, and nobody reads it.
#[tokio::test(flavor = "multi_thread")]
async fn a_record_is_not_archived_before_its_tournament_is_closed() {
    let history = MixedHistory::new(1).await;
    let coins = history.games;
    let duplicate = history.tournament(1, Some(1)).await;
    let sql = format!("select g.game from tournament_games g where g.tournament = '{duplicate}'");
    let game: Uuid = read_value(&history.pool, &sql).await;
    let read = async || {
        let read = archive::read_game(&history.pool, &history.records, GameId(game)).await;
        read.unwrap().unwrap()
    };
    let secret = read().await;
    assert_eq!((secret.state, &secret.record, &secret.settlement), (GameState::Open, &None, &None));
    assert_eq!(secret.players.len(), 3);
    let archiver = history.archiver(10);
    assert_eq!(archiver.count_due().await.unwrap().0, coins);
    // Nor does the function of the database archive it.
    let hash = format!(
        "select sha256(convert_to(record, 'UTF8')) from game_records where game = '{game}'"
    );
    let hash: Vec<u8> = read_value(&history.pool, &hash).await;
    let archive = async || {
        sqlx::query(
            "select archive_records('x', $2, 1, null, array[$1], array[0], array[1], array[$2])",
        )
        .bind(game)
        .bind(&hash)
        .execute(&history.pool)
        .await
    };
    assert!(archive().await.is_err());

    // It is not closed with a secret round.
    let owner = history.database.owner_pool().await;
    let close = "update tournaments set state = 'ended', closed_at = now() - interval '3 days'";
    let refused = sqlx::query(close).execute(&owner).await.unwrap_err();
    assert!(refused.to_string().contains("tournaments_close_without_secrets"), "{refused}");
    // A round that is over is archived with the whole tournament.
    execute(&owner, "update tournaments set secret_round = 2").await;
    assert_eq!(read().await.state, GameState::Settled);
    assert_eq!(archiver.archive_all(u64::MAX, false).await.unwrap().records, coins);
    history.close(duplicate, "12 hours").await;
    assert!(archive().await.is_err());
    assert_eq!(archiver.count_due().await.unwrap().0, 0);
    history.close(duplicate, "3 days").await;
    let before = read().await;
    assert_eq!(archiver.archive_all(u64::MAX, false).await.unwrap().records, 1);
    assert_eq!(history.archived().await, (1, i64::try_from(coins).unwrap() + 1));
    assert_eq!(read().await, before);
}
