//! Lookups that share a query: each caller gets the answer to its own lookup.

use bahay::accounts::{SanctionKind, SanctionReader};
use bahay::clock::Timestamp;
use bahay::notices::Notices;
use bahay::social::Social;
use bahay_engine::table::PlayerId;
use futures_util::future::join_all;

use crate::support::bank::Bank;
use crate::support::db::execute;

const NOW: Timestamp = Timestamp::from_ms(1_772_366_400_000);

/// The number of players: more than a query has keys, and each lookup is made twice.
const PLAYERS: usize = 300;

/// Every third player has two bans, of which one has ended; every fifth has two notices, and every
/// seventh has muted the first player. One ban is lifted.
#[tokio::test(flavor = "multi_thread")]
async fn every_lookup_of_a_shared_query_gets_its_own_answer() {
    let bank = Bank::new().await;
    let players = bank.players([0; PLAYERS]).await;
    let mut rows = String::new();
    for (number, PlayerId(id)) in players.iter().enumerate() {
        if number.is_multiple_of(3) {
            rows += &format!(
                "insert into sanctions (id, player, kind, reason, imposed_at, ends_at) values
                    (gen_random_uuid(), '{id}', 'ban', 'the ban of player {number}',
                        '2026-02-01', null),
                    (gen_random_uuid(), '{id}', 'ban', 'an ended ban of player {number}',
                        '2026-02-01', '2026-02-02');"
            );
        }
        if number.is_multiple_of(5) {
            rows += &format!(
                "insert into notices (player, kind) values ('{id}', 'banned'), ('{id}', 'muted');"
            );
        }
        if number % 7 == 1 {
            let PlayerId(first) = players[0];
            rows += &format!(
                "insert into player_relations (player, kind, other)
                    values ('{id}', 'mute', '{first}');"
            );
        }
    }
    execute(&bank.pool, &rows).await;
    let lift = "update sanctions set lifted_at = '2026-02-03' where reason = 'the ban of player 3'";
    assert_eq!(execute(&bank.pool, lift).await, 1);

    let sanctions = SanctionReader::new(bank.pool.clone());
    let notices = Notices::new(bank.pool.clone());
    let social = Social::new(bank.pool.clone());
    let lookups = players.iter().chain(&players).map(async |player| {
        let ban = sanctions.find_in_force(*player, SanctionKind::Ban, NOW);
        let mute = sanctions.find_in_force(*player, SanctionKind::Mute, NOW);
        let unread = notices.count_unread(*player);
        let silenced = social.list_silenced(*player);
        let (ban, mute, unread, silenced) = tokio::join!(ban, mute, unread, silenced);
        let ban = ban.unwrap().map(|ban| ban.reason.to_string());
        (ban, mute.unwrap(), unread.unwrap(), silenced.unwrap().len())
    });
    for (index, (ban, mute, unread, silenced)) in join_all(lookups).await.into_iter().enumerate() {
        let number = index % PLAYERS;
        let is_banned = number.is_multiple_of(3) && number != 3;
        let expected = is_banned.then(|| format!("the ban of player {number}"));
        assert_eq!(ban, expected, "player {number}");
        assert_eq!(mute, None, "player {number}");
        assert_eq!(unread, if number.is_multiple_of(5) { 2 } else { 0 }, "player {number}");
        assert_eq!(silenced, usize::from(number % 7 == 1), "player {number}");
    }
}
