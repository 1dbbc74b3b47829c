//! Projections of settled games: each game counts once, whichever node projects it and however
//! often a run starts.

use bahay::clock::Timestamp;
use bahay::live_store::{BoardSection, ReachedScore};
use bahay::ratings::Ratings;
use bahay::records::Records;
use bahay::standings::{
    self, Board, BoardPage, BoardPageQuery, Calendar, Section, Span, Standings, StandingsCheck,
    Statistics,
};
use bahay_engine::coins::Coins;
use bahay_engine::table::PlayerId;
use jiff::civil::date;

use crate::support::bank::{Bank, KIND, PotGoes, table};
use crate::support::checks::count_standings;
use crate::support::db::execute;
use crate::support::live::TestLive;

const DAY: jiff::civil::Date = date(2025, 6, 15);

async fn standings(bank: &Bank, live: &TestLive, calendar: Calendar) -> Standings {
    let (live, _publications) = live.connect().await;
    Standings::new(bank.pool.clone(), live, calendar)
}

/// Plays seven games of three players: the first wins two in a row and the POT, the third the last
/// two.
async fn played() -> (Bank, Vec<PlayerId>) {
    let (bank, players) = Bank::with_players([100_000; 3]).await;
    let table = table();
    for (winner, counts, pot) in [
        (0, 1, PotGoes::Nowhere),
        (0, 3, PotGoes::ToWinner),
        (1, 2, PotGoes::Nowhere),
        (0, 1, PotGoes::Nowhere),
        (1, 1, PotGoes::Nowhere),
        (2, 2, PotGoes::Nowhere),
        (2, 2, PotGoes::ToWinner),
    ] {
        bank.play(table, &players, winner, counts, pot).await;
    }
    bank.ledger.seal_operations().await.unwrap();
    (bank, players)
}

fn top(limit: u32, player: PlayerId) -> BoardPageQuery {
    BoardPageQuery { section: Section::Top { offset: 0 }, limit, player }
}

async fn check(bank: &Bank, calendar: &Calendar) -> StandingsCheck {
    standings::check(&bank.pool, &Records::without_archive(), calendar).await.unwrap()
}

async fn assert_holds(bank: &Bank, calendar: &Calendar) -> StandingsCheck {
    let checked = check(bank, calendar).await;
    assert_eq!(checked.differences, Vec::<String>::new());
    checked
}

#[tokio::test]
async fn every_game_counts_once_however_many_count() {
    let (bank, players) = played().await;
    let live = TestLive::new();
    let calendar = Calendar::default();
    let one = standings(&bank, &live, calendar.clone()).await;
    let other = standings(&bank, &live, calendar.clone()).await;
    let (first, second) = tokio::join!(one.catch_up(), other.catch_up());
    first.unwrap();
    second.unwrap();
    // A run that meets another one leaves the rest to it; no game counts twice.
    one.catch_up().await.unwrap();
    let expected = Statistics {
        games: 7,
        wins: 3,
        best_pot: Coins::from_hundredths(600),
        streak: 0,
        best_streak: 2,
        counters: [("hits".to_owned(), 1)].into(),
    };
    assert_eq!(one.statistics(players[0], KIND).await.unwrap(), expected);
    let last = other.statistics(players[2], KIND).await.unwrap();
    assert_eq!((last.wins, last.streak, last.best_streak), (2, 2, 2));
    assert_eq!(last.best_pot, Coins::from_hundredths(1_500));
    let stranger = bank.player(0).await;
    assert_eq!(one.statistics(stranger, KIND).await.unwrap(), Statistics::default());
    let checked = assert_holds(&bank, &calendar).await;
    assert_eq!((checked.games, checked.players), (7, 3));

    // More games, and another node.
    bank.play(table(), &players, 1, 1, PotGoes::Nowhere).await;
    bank.ledger.seal_operations().await.unwrap();
    other.catch_up().await.unwrap();
    assert_eq!(one.statistics(players[2], KIND).await.unwrap().streak, 0);
    assert_eq!(assert_holds(&bank, &calendar).await.games, 8);
}

#[tokio::test]
async fn another_calendar_counts_everything_anew_and_comes_to_the_same() {
    let (bank, players) = played().await;
    let live = TestLive::new();
    let calendar = Calendar::default();
    let before = standings(&bank, &live, calendar.clone()).await;
    before.catch_up().await.unwrap();
    let year = Calendar { season: "12".parse().unwrap(), ..calendar.clone() };
    assert_ne!(check(&bank, &year).await.differences, Vec::<String>::new());
    let after = standings(&bank, &live, year.clone()).await;
    after.catch_up().await.unwrap();
    for player in &players {
        let (one, other) =
            tokio::join!(before.statistics(*player, KIND), after.statistics(*player, KIND));
        assert_eq!(one.unwrap(), other.unwrap());
    }
    assert_holds(&bank, &year).await;
    let season = after.board(KIND, Board::Coins, Span::Season, DAY, top(10, players[0])).await;
    assert_eq!(season.unwrap().starts_on, date(2025, 1, 1));
}

#[tokio::test]
async fn a_number_that_was_changed_is_found() {
    let (bank, _) = played().await;
    count_standings(&bank.pool).await;
    let changed = "update player_statistics set wins = wins + 1 where wins = 3";
    execute(&bank.pool, changed).await;
    let changed = "delete from board_scores where board = 'hits' and span = 'week'";
    execute(&bank.pool, changed).await;
    let changed = "update player_counters set value = value + 1 where value = 1";
    assert_eq!(execute(&bank.pool, changed).await, 2);
    let differences = check(&bank, &Calendar::default()).await.differences;
    assert_eq!(differences.len(), 5, "{differences:?}");
}

fn places(standing: &BoardPage) -> Vec<(u64, PlayerId, i64)> {
    standing.places.iter().map(|place| (place.rank, PlayerId(place.player), place.score)).collect()
}

#[tokio::test]
async fn boards_are_the_same_when_redis_was_emptied() {
    let (bank, mut players) = played().await;
    // A player with exactly as many hits as another.
    players.extend(bank.players([100_000; 3]).await);
    bank.play(table(), &players[3..], 0, 3, PotGoes::ToWinner).await;
    bank.ledger.seal_operations().await.unwrap();
    let full = count_standings(&bank.pool).await;
    // An empty part of Redis, as after a flush.
    let emptied = standings(&bank, &TestLive::new(), Calendar::default()).await;
    for board in Board::ALL.iter().copied() {
        for span in Span::ALL.iter().copied() {
            for section in [Section::Top { offset: 0 }, Section::Top { offset: 1 }, Section::Around]
            {
                let ask = |of: &Standings| {
                    let of = of.clone();
                    let player = players[0];
                    let asked = BoardPageQuery { section, limit: 10, player };
                    async move { of.board(KIND, board, span, DAY, asked).await.unwrap() }
                };
                let (one, other) = (ask(&full).await, ask(&emptied).await);
                assert_eq!(one, other, "{board:?} {span:?} {section:?}");
                assert!(one.total > 1);
            }
        }
    }
    let hits = full.board(KIND, Board::Hits, Span::Day, DAY, top(10, players[1])).await.unwrap();
    let hitters = [players[0], players[2], players[3]];
    let expected = hitters.map(|player| (1, player, 1));
    assert_eq!(places(&hits), expected, "equal scores have one rank, the earlier one first");
    assert_eq!(hits.own, None);
    let coins = full.board(KIND, Board::Coins, Span::Ever, DAY, top(1, players[0])).await.unwrap();
    let own = coins.own.unwrap();
    assert_eq!((coins.total, coins.places.len()), (4, 1));
    assert_eq!((own.name.as_str(), own.player), ("Tala", players[0].0));
    // Two, six and two counts less the fee, and the POT.
    assert_eq!(own.score, 190 + (570 + 600) + 190);
    let yesterday = date(2025, 6, 14);
    let none = full.board(KIND, Board::Coins, Span::Day, yesterday, top(5, players[0])).await;
    assert_eq!((none.unwrap().places, DAY), (vec![], DAY));
}

#[tokio::test]
async fn a_score_that_rises_is_seen_on_a_board_that_was_read() {
    let (bank, players) = played().await;
    let standings = count_standings(&bank.pool).await;
    let asked = BoardPageQuery { section: Section::Around, limit: 3, player: players[1] };
    let ask = || standings.board(KIND, Board::Coins, Span::Week, DAY, asked);
    let before = ask().await.unwrap().own.unwrap();
    bank.play(table(), &players, 1, 5, PotGoes::Nowhere).await;
    bank.ledger.seal_operations().await.unwrap();
    standings.catch_up().await.unwrap();
    let after = ask().await.unwrap().own.unwrap();
    assert_eq!(after.score, before.score + 950);
}

/// Creates players with these points, of whom each later one has an older account.
async fn scored(bank: &Bank, points: &[i64]) -> Vec<PlayerId> {
    let owner = bank.database.owner_pool().await;
    let players = format!(
        "with made as (
            insert into players (id, name)
            select ('019ca944-3c00-7000-8000-' || lpad((1000 - n)::text, 12, '0'))::uuid, 'Tala'
            from generate_series(1, {}) n
        )
        insert into board_scores (kind, board, span, starts_on, player, score, reached_at)
        select '{KIND}', 'coins', 'ever', '1970-01-01',
            ('019ca944-3c00-7000-8000-' || lpad((1000 - p.n)::text, 12, '0'))::uuid, p.points,
            '2025-06-15T12:00:00Z'::timestamptz + p.n * interval '1 second'
        from unnest(array{points:?}::bigint[]) with ordinality as p (points, n)",
        points.len()
    );
    execute(&owner, &players).await;
    let id = |number: usize| format!("019ca944-3c00-7000-8000-{:012}", 1000 - number);
    (1..=points.len()).map(|number| id(number).parse().unwrap()).collect()
}

/// Checklist F27: ties are not decided by the account's age, and every place is reachable.
#[tokio::test]
async fn equal_scores_have_one_rank_and_every_place_is_reached() {
    let bank = Bank::new().await;
    // Ten points each for three, nine for one, and one for 246 others.
    let points: Vec<i64> = [10, 9, 10, 10].into_iter().chain([1; 246]).collect();
    let players = scored(&bank, &points).await;
    let expected: Vec<_> = [(1, 0), (1, 2), (1, 3), (4, 1)]
        .into_iter()
        .chain((4..250).map(|number| (5, number)))
        .map(|(rank, number)| (rank, players[number], points[number]))
        .collect();
    let standings = standings(&bank, &TestLive::new(), Calendar::default()).await;
    let ask = async |section: Section, limit: u32, player: PlayerId| {
        let asked = BoardPageQuery { section, limit, player };
        standings.board(KIND, Board::Coins, Span::Ever, DAY, asked).await.unwrap()
    };
    for limit in [7, 100] {
        let mut listed = Vec::new();
        let mut offset = 0;
        loop {
            let page = ask(Section::Top { offset }, limit, players[0]).await;
            assert_eq!(page.total, 250);
            if page.places.is_empty() {
                break;
            }
            listed.extend(places(&page));
            offset += limit;
        }
        assert_eq!(listed, expected, "in pages of {limit}");
    }
    let last = ask(Section::Around, 3, players[249]).await;
    assert_eq!(last.own.clone().unwrap().rank, 5);
    assert_eq!(places(&last), expected[247..]);

    // A score that rises later ranks behind those who had it before.
    let reached_at = Timestamp::from_ms(1_760_000_000_000);
    let (live, _publications) = TestLive::new().connect().await;
    let reached = |player: usize, score: i64, seconds: i64| ReachedScore {
        player: players[player],
        score,
        reached_at: Timestamp::from_ms(reached_at.ms() + seconds * 1_000),
    };
    let first = [reached(0, 5, 0), reached(1, 3, 1), reached(2, 5, 2)];
    live.raise_scores("a-board", &first).await.unwrap();
    live.raise_scores("a-board", &[reached(1, 5, 3), reached(2, 4, 4)]).await.unwrap();
    live.mark_board_filled("a-board").await.unwrap();
    let places = live.board_page("a-board", BoardSection::Top { offset: 0 }, 9, players[1]).await;
    let places = places.unwrap().unwrap();
    assert_eq!(places.total, 3);
    let listed: Vec<_> = places.places.iter().map(|place| (place.rank, place.player)).collect();
    assert_eq!(listed, [(1, players[0]), (1, players[2]), (1, players[1])]);
}

/// The kind of other games than those of the tests; the program needs only its name.
const OTHER: &str = "another_game";

#[tokio::test]
async fn games_of_two_kinds_are_counted_apart() {
    let (bank, players) = Bank::with_players([100_000; 5]).await;
    let other = || {
        let game = bank.deal(table(), &players);
        bahay::ledger::OpenGame { kind: OTHER.to_owned(), ..game }
    };
    bank.play(table(), &players[..3], 0, 2, PotGoes::ToWinner).await;
    bank.play(table(), &players[..3], 0, 1, PotGoes::Nowhere).await;
    bank.play_out(other(), 4, 3, PotGoes::ToWinner).await;
    bank.play_out(other(), 4, 1, PotGoes::Nowhere).await;
    bank.play_out(other(), 0, 1, PotGoes::Nowhere).await;
    bank.ledger.seal_operations().await.unwrap();
    let standings = count_standings(&bank.pool).await;
    let checked = assert_holds(&bank, &Calendar::default()).await;
    assert_eq!((checked.games, checked.players), (5, 3 + 5));

    let counted = async |player: usize, kind: &str| {
        let found = standings.statistics(players[player], kind).await.unwrap();
        (found.games, found.wins, found.streak, found.best_streak, found.counter("hits"))
    };
    assert_eq!(counted(0, KIND).await, (2, 2, 2, 2, 1));
    assert_eq!(counted(0, OTHER).await, (3, 1, 1, 1, 0));
    assert_eq!(counted(4, KIND).await, (0, 0, 0, 0, 0));
    assert_eq!(counted(4, OTHER).await, (3, 2, 0, 2, 1));
    let hits = async |kind: &str| {
        let asked = top(10, players[0]);
        places(&standings.board(kind, Board::Hits, Span::Ever, DAY, asked).await.unwrap())
    };
    assert_eq!(hits(KIND).await, [(1, players[0], 1)]);
    assert_eq!(hits(OTHER).await, [(1, players[4], 1)]);
    assert_eq!(hits("a_third_game").await, []);

    Ratings::new(bank.pool.clone()).catch_up().await.unwrap();
    let best = async |kind: &str| {
        let now = Timestamp::from_ms(bank.now_ms());
        let asked = top(10, players[0]);
        let board = standings.rating_board(kind, Span::Ever, now, asked).await.unwrap();
        assert_eq!(board.own.unwrap().player, players[0].0);
        (board.total, PlayerId(board.places[0].player))
    };
    assert_eq!(best(KIND).await, (3, players[0]));
    assert_eq!(best(OTHER).await, (5, players[4]));
}

/// Games at private tables, whose players choose their opponents, do not count for leaderboards;
/// games and wins are counted as always.
#[tokio::test]
async fn a_private_game_is_on_no_leaderboard_and_changes_no_rating() {
    let (bank, players) = Bank::with_players([100_000; 3]).await;
    let place = table();
    for (winner, pot) in [(0, PotGoes::Nowhere), (0, PotGoes::ToWinner)] {
        let game = bank.deal(place, &players);
        let game = bahay::ledger::OpenGame { room: "private".to_owned(), ..game };
        bank.play_out(game, winner, 3, pot).await;
    }
    bank.ledger.seal_operations().await.unwrap();
    let calendar = Calendar::default();
    let standings = count_standings(&bank.pool).await;
    assert_eq!(assert_holds(&bank, &calendar).await.scores, 0);
    let statistics = standings.statistics(players[0], KIND).await.unwrap();
    assert_eq!((statistics.games, statistics.wins, statistics.counter("hits")), (2, 2, 1));
    let ratings = Ratings::new(bank.pool.clone());
    ratings.catch_up().await.unwrap();
    let before = ratings.matchmaking_profile(bank.player(0).await, KIND).await.unwrap().rating;
    assert_eq!(ratings.matchmaking_profile(players[0], KIND).await.unwrap().rating, before);
    // The same players in a room: both count.
    bank.play(table(), &players, 0, 1, PotGoes::Nowhere).await;
    bank.ledger.seal_operations().await.unwrap();
    standings.catch_up().await.unwrap();
    ratings.catch_up().await.unwrap();
    assert!(assert_holds(&bank, &calendar).await.scores > 0);
    assert!(ratings.matchmaking_profile(players[0], KIND).await.unwrap().rating > before);
}
