//! The figures of days and weeks over a generated history: players, bookings and flows equal those
//! of plain SQL, whose days PostgreSQL computes, also where the clocks of a zone change.

use std::collections::BTreeSet;

use bahay::clock::Timestamp;
use bahay::reports::Reports;
use bahay::standings::Calendar;
use bahay_api::operator::today::{ComparedPeriod, PeriodFigures, PeriodUnit, PlayerFigures};
use bahay_lab::fixtures::{self, GenerateHistory};
use jiff::ToSpan as _;
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use sqlx::PgPool;

use crate::support::bank::{Bank, PotGoes, table};
use crate::support::checks::{count_pairs, count_reports};
use crate::support::db::{TestDatabase, execute, read_row, read_rows, read_value};

/// Creates a database with the games of the seven days before noon (UTC) of a day. Some players are
/// house bots, and accounts were created up to thirty hours before their first game.
async fn history_before(day: Date) -> (TestDatabase, PgPool, Timestamp) {
    let database = TestDatabase::new().await;
    let owner = database.owner_pool().await;
    let noon = day.at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp();
    let now = Timestamp::from_ms(noon.as_millisecond());
    let what =
        GenerateHistory { games: 1_200, days: 7, players: 18, seed: 5, beside_others: false };
    fixtures::generate(&owner, what, now, Calendar::default(), |_| {}).await.unwrap();
    let change = "
        update players p
        set kind = case when f.place % 6 = 0 then 'bot' else 'guest' end,
            created_at = f.first - make_interval(hours => (f.place % 30)::int)
        from (
            select s.player, min(s.finished_at) as first, row_number() over (order by s.player) as place
            from game_players s
            group by s.player
        ) f
        where f.player = p.id";
    execute(&owner, change).await;
    let pool = database.pool().await;
    (database, pool, now)
}

/// The bounds of a period as expressions of SQL.
struct PlainBounds {
    from: String,
    to: String,
}

impl PlainBounds {
    /// Returns the bounds of a number of days of a zone, or of the part of them before `now`.
    fn of_days(first: Date, days: i64, zone: &str, now: Timestamp) -> Self {
        let midnight =
            |day: i64| format!("(date '{first}' + {day})::timestamp at time zone '{zone}'");
        let now = format!("to_timestamp({}::numeric / 1000)", now.ms());
        Self { from: midnight(0), to: format!("least({}, {now})", midnight(days)) }
    }
}

async fn count_players_plainly(pool: &PgPool, bounds: &PlainBounds) -> PlayerFigures {
    let PlainBounds { from, to } = bounds;
    let query = format!(
        "select count(distinct p.player) filter (where m.kind = 'guest'),
            count(distinct p.player) filter (
                where m.kind = 'guest' and m.created_at >= {from} and m.created_at < {to}
            ),
            count(distinct p.player) filter (
                where m.kind = 'guest' and exists (
                    select from game_players q join games e on e.id = q.game
                    where q.player = p.player and e.state = 'settled' and e.finished_at < {from}
                )
            ),
            count(distinct p.player) filter (where m.kind = 'bot')
        from games g
        join game_players p on p.game = g.id
        join players m on m.id = p.player
        where g.state = 'settled' and g.finished_at >= {from} and g.finished_at < {to}"
    );
    let (people, new, returning, bots) = read_row(pool, &query).await;
    PlayerFigures { people, new, returning, bots }
}

/// Compares the figures of a period with those of the ledger.
async fn assert_booked(pool: &PgPool, bounds: &PlainBounds, figures: &PeriodFigures) {
    let PlainBounds { from, to } = bounds;
    let flows = format!(
        "select a.kind, t.code, sum(t.amount) filter (where a.id = t.destination)::bigint,
            sum(t.amount) filter (where a.id = t.source)::bigint
        from operations o
        join transfers t on t.operation = o.id
        join accounts a on a.id in (t.source, t.destination)
        where o.created_at >= {from} and o.created_at < {to} and a.kind not in ('wallet', 'stake')
        group by 1, 2"
    );
    let expected: Vec<(String, String, Option<i64>, Option<i64>)> = read_rows(pool, &flows).await;
    let expected: BTreeSet<_> = expected
        .into_iter()
        .map(|(account, code, received, paid)| {
            (account, code, received.unwrap_or_default(), paid.unwrap_or_default())
        })
        .collect();
    let flows = figures.flows.iter().map(|flow| {
        let [received, paid] = [flow.received, flow.paid].map(|amount| amount.hundredths());
        (flow.account.clone(), flow.code.to_string(), received, paid)
    });
    assert_eq!(flows.collect::<BTreeSet<_>>(), expected, "{from}");
    let settled = format!(
        "select count(*) from operations o
        where o.kind = 'settle' and o.created_at >= {from} and o.created_at < {to}"
    );
    assert_eq!(figures.booked.games_settled, read_value::<i64>(pool, &settled).await, "{from}");
    let fees = format!(
        "select coalesce(sum(t.amount), 0)::bigint
        from operations o
        join transfers t on t.operation = o.id and t.code = 'fee'
        where o.created_at >= {from} and o.created_at < {to}"
    );
    assert_eq!(figures.booked.fees.hundredths(), read_value::<i64>(pool, &fees).await, "{from}");
}

fn length_minutes(period: &ComparedPeriod) -> i64 {
    let [from, to] = [period.from, period.to].map(|at| Timestamp::from(at).ms());
    (to - from) / 60_000
}

#[tokio::test(flavor = "multi_thread")]
async fn days_and_weeks_equal_plain_sums_where_clocks_change() {
    // The clocks of Berlin change on 2026-03-29 and on 2025-10-26.
    let mut lengths = BTreeSet::new();
    let mut seen = PlayerFigures::default();
    for last in [date(2026, 4, 1), date(2025, 10, 29)] {
        let (database, pool, now) = history_before(last).await;
        // Before and after the projection.
        for is_projected in [false, true] {
            let reports = match is_projected {
                false => Reports::with_own_pool(&pool),
                true => count_reports(&pool).await,
            };
            for name in ["Asia/Manila", "Asia/Kolkata", "Europe/Berlin"] {
                let zone = TimeZone::get(name).unwrap();
                count_pairs(&reports, &zone).await;
                for ago in 0..7 {
                    let first = last.checked_sub(ago.days()).unwrap();
                    let second = last.checked_sub((ago + 1).days()).unwrap();
                    let days = [first, second];
                    let unit = PeriodUnit::Day;
                    let compared = reports.compare_periods(unit, days, &zone, now).await.unwrap();
                    for (day, period) in [(first, &compared.first), (second, &compared.second)] {
                        let bounds = PlainBounds::of_days(day, 1, name, now);
                        let players = count_players_plainly(&pool, &bounds).await;
                        assert_eq!(period.figures.players, players, "{name} {day}");
                        assert_booked(&pool, &bounds, &period.figures).await;
                        assert_eq!(period.first_day, day.to_string());
                        assert_eq!(period.has_ended, day < last, "{name} {day}");
                        seen.people += players.people;
                        seen.new += players.new;
                        seen.returning += players.returning;
                        seen.bots += players.bots;
                    }
                    let fees = |period: &ComparedPeriod| period.figures.booked.fees.hundredths();
                    let difference = compared.difference.booked.fees.hundredths();
                    assert_eq!(difference, fees(&compared.first) - fees(&compared.second));
                    lengths.insert(length_minutes(&compared.second) / 60);
                }
                let days = [last.checked_sub(7.days()).unwrap(), last];
                let unit = PeriodUnit::Week;
                let compared = reports.compare_periods(unit, days, &zone, now).await.unwrap();
                for period in [&compared.first, &compared.second] {
                    let monday: Date = period.first_day.parse().unwrap();
                    assert_eq!(monday.weekday(), jiff::civil::Weekday::Monday);
                    let bounds = PlainBounds::of_days(monday, 7, name, now);
                    let players = count_players_plainly(&pool, &bounds).await;
                    assert_eq!(period.figures.players, players, "{name} week of {monday}");
                    assert_booked(&pool, &bounds, &period.figures).await;
                }
            }
            reports.close().await;
        }
        drop(database);
    }
    assert_eq!(lengths, BTreeSet::from([23, 24, 25]));
    let PlayerFigures { people, new, returning, bots } = seen;
    assert!(new > 0 && returning > 0 && bots > 0, "{seen:?}");
    assert!(people > new + returning, "some play their first game later: {seen:?}");
}

/// Today changes at midnight of the zone, and its hours begin by the clocks of the zone.
#[tokio::test(flavor = "multi_thread")]
async fn today_begins_at_midnight_of_its_zone() {
    let last = date(2026, 4, 1);
    let (_database, pool, _) = history_before(last).await;
    let reports = count_reports(&pool).await;
    for (name, minute) in [("Asia/Manila", 0), ("Asia/Kolkata", 30), ("Europe/Berlin", 0)] {
        let zone = TimeZone::get(name).unwrap();
        count_pairs(&reports, &zone).await;
        let midnight = date(2026, 3, 30).to_zoned(zone.clone()).unwrap().timestamp();
        for (after_ms, day) in [(-60_000, date(2026, 3, 29)), (60_000, date(2026, 3, 30))] {
            let now = Timestamp::from_ms(midnight.as_millisecond() + after_ms);
            let today = reports.today(now, &zone).await.unwrap();
            let bounds = PlainBounds::of_days(day, 1, name, now);
            assert_booked(&pool, &bounds, &today.day).await;
            assert_eq!(today.day.players, count_players_plainly(&pool, &bounds).await, "{name}");
            let hours = today.hours.iter();
            let settled: i64 = hours.map(|hour| hour.figures.games_settled).sum();
            assert_eq!(settled, today.day.booked.games_settled, "{name}");
            let starts: Vec<_> = today.hours.iter().map(|hour| hour.begins_at).collect();
            assert_eq!(starts.first(), Some(&today.begins_at), "{name}");
            for start in starts.into_iter().skip(1) {
                let start = bahay::clock::to_jiff(start.into()).to_zoned(zone.clone());
                assert_eq!((start.date(), start.minute()), (day, minute), "{name}");
            }
            // Yesterday up to the same time of day, one day ago by the clocks.
            let before = day.checked_sub(1.days()).unwrap();
            let same = bahay::clock::to_jiff(now).to_zoned(zone.clone()).checked_sub(1.days());
            let same = bahay::clock::from_jiff(same.unwrap().timestamp());
            let bounds = PlainBounds::of_days(before, 1, name, same);
            assert_booked(&pool, &bounds, &today.day_before).await;
            let players = count_players_plainly(&pool, &bounds).await;
            assert_eq!(today.day_before.players, players, "{name}");
        }
    }
}

/// Players of settled games are counted, those of voided ones are not.
#[tokio::test]
async fn only_settled_games_have_players() {
    let (bank, players) = Bank::with_players([10_000; 3]).await;
    let voided = bank.open_game(&bank.players([10_000; 3]).await).await;
    bank.void_game(&voided).await;
    bank.play(table(), &players, 0, 1, PotGoes::Nowhere).await;
    bank.play(table(), &players, 1, 1, PotGoes::Nowhere).await;
    bank.ledger.seal_operations().await.unwrap();
    let reports = count_reports(&bank.pool).await;
    count_pairs(&reports, Calendar::default().time_zone()).await;
    let counted = "select count(distinct d.player), sum(d.games)::bigint from player_days d";
    let (players, games): (i64, i64) = read_row(&bank.pool, counted).await;
    assert_eq!((players, games), (3, 6));
    reports.close().await;
}
