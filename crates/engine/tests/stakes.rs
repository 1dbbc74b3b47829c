//! Stakes (rule 6.9 of Tong-its, 1.5 of both Tongos): a seat plays only with a stake that covers
//! all that it can owe; only a host of Tong-its may allow less.

use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::catalog::{self, AnyGame, AnyRules};
use bahay_engine::coins::Coins;
use bahay_engine::game::{GameRules, Hits};
use bahay_engine::table::{Event, Input, Phase, PrivateTerms, Reason, Rejection, Terms};
use bahay_engine::testing;

use crate::support::desk::{Desk, coins};
use crate::support::play_games;

const GAMES: u64 = 25;

fn terms(rules: AnyRules, hits: Option<Hits>, short_stakes: Option<bool>) -> Terms<AnyRules> {
    let private =
        short_stakes.map(|short_stakes| PrivateTerms { short_stakes, ..PrivateTerms::default() });
    Terms { private, ..testing::terms(rules, hits, coins(2), 1) }
}

/// The outcomes of games of players who can pay for one game and little more.
#[derive(Default)]
struct Played {
    whole: usize,
    short: usize,
    left: usize,
}

fn play(terms: Terms<AnyRules>) -> Played {
    let welcome = terms.wallet_min().expect("a wallet");
    let mut house = Simulation::<AnyGame>::new(7, terms, Habits::default(), welcome);
    let mut played = Played::default();
    play_games(&mut house, GAMES, |house, happened| {
        assert_eq!(house.missing_coins(), Coins::ZERO);
        let cannot_pay =
            |event: &Event<_>| matches!(event, Event::Left { reason: Reason::CannotPay, .. });
        played.left += happened.events.iter().filter(|event| cannot_pay(event)).count();
        let Some(record) = happened.record else { return };
        record.verify().expect("the record holds");
        let seats = u8::try_from(record.stakes.len()).expect("eight at most");
        let whole = record.terms.stake_max(seats).expect("a stake");
        let is_whole = |stake: &&Coins| **stake == whole;
        let count = record.stakes.iter().filter(is_whole).count();
        played.whole += count;
        played.short += record.stakes.len() - count;
    });
    played
}

#[test]
fn a_player_who_cannot_cover_the_stake_leaves_before_the_next_game() {
    for kind in catalog::kinds().into_iter().filter(|kind| !kind.is_hidden) {
        for set in &kind.rule_sets {
            for short_stakes in [None, Some(false)] {
                let Played { whole, short, left } =
                    play(terms(set.rules.clone(), set.hits, short_stakes));
                let name = set.name;
                assert!(whole > 0 && short == 0, "{name}: {short} seats played with less");
                assert!(left > 0, "{name}: nobody had to leave");
            }
        }
    }
}

#[test]
fn whole_wallets_are_staked_only_if_a_tongits_host_allows_it() {
    for kind in catalog::kinds().into_iter().filter(|kind| !kind.is_hidden) {
        for set in &kind.rule_sets {
            let played = play(terms(set.rules.clone(), set.hits, Some(true)));
            let is_tongits = kind.name == "tongits";
            assert_eq!(set.rules.may_have_short_stakes(), is_tongits, "{}", set.name);
            assert_eq!(played.short > 0, is_tongits, "{}: {}", set.name, played.short);
        }
    }
}

/// Returns a table of the first rule set of a kind at which all are ready.
fn opening(kind: &str, short_stakes: Option<bool>) -> (Desk<AnyGame>, usize) {
    let known = catalog::find_kind(kind).expect("a game of the catalogue");
    let set = &known.rule_sets[0];
    let mut desk = Desk::with_terms(terms(set.rules.clone(), set.hits, short_stakes));
    let seats = set.rules.seats().least;
    (0..seats.into()).for_each(|number| desk.sit(number).unwrap());
    (0..seats.into()).for_each(|number| desk.ready(number).unwrap());
    assert!(matches!(desk.table.phase(), Phase::Opening(_)));
    (desk, seats.into())
}

/// No game begins with a stake that the rules do not allow, for any answer of the ledger.
#[test]
fn a_table_refuses_an_opening_with_another_stake() {
    for kind in ["tongits", "tongo_options", "tongo_assets"] {
        for short_stakes in [None, Some(false), Some(true)] {
            let (desk, seats) = opening(kind, short_stakes);
            let count = u8::try_from(seats).expect("eight at most");
            let asked = desk.table.terms().stake_terms(count).expect("amounts that fit");
            let hundredth = Coins::from_hundredths(1);
            let less = asked.stake_max.checked_sub(hundredth).expect("an amount");
            let more = asked.stake_max.checked_add(hundredth).expect("an amount");
            for (stake, is_taken) in [
                (asked.stake_max, true),
                (less, short_stakes == Some(true) && kind == "tongits"),
                (more, false),
                (Coins::ZERO, false),
            ] {
                let mut stakes = vec![asked.stake_max; seats];
                stakes[0] = stake;
                let pot = coins(100);
                let told = desk.clone().tell(Input::Opened { game: desk.game(), stakes, pot });
                let what = format!("{kind}, {short_stakes:?}: a stake of {stake}");
                match told {
                    Ok(_) => assert!(is_taken, "{what} is taken"),
                    Err(Rejection::BadAnswer) => assert!(!is_taken, "{what} is refused"),
                    Err(other) => panic!("{what}: {other}"),
                }
            }
        }
    }
}
