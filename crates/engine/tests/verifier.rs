//! docs/verify.py, which shares no code with the engine, agrees with it about whole games with
//! every rule set: those of erratic tables, of random play, and of players who seek rare events. It
//! refuses forgeries and names the rule.

use crate::support::desk::coins;
use crate::support::records::{Forgery, check_verifier, record_game, reveal_another_text};
use bahay_bots::simulation::{Habits, Simulation};
use bahay_engine::chance::{ClientSeed, Commitment, Contribution};
use bahay_engine::coins::Coins;
use bahay_engine::game::{Game, GameRules};
use bahay_engine::games::tongits::{Action, BySeat, Preset, Rules, Tongits, deadwood};
use bahay_engine::seat::Seat;
use bahay_engine::table::{Crown, Hits, PotPayout, PrivateTerms, Record, Settlement, Terms};
use bahay_engine::testing::{self, TestRng, legal_actions};
use bahay_engine::variants;

/// A seat's style of play.
#[derive(Clone, Copy, Debug)]
enum PlayStyle {
    Random,
    /// Lays, adds and chows whenever possible, face down first.
    Giving,
    /// Keeps a hand of nothing but melds for a fight.
    Waiting,
}

fn choose(game: &Tongits, seat: Seat, way: PlayStyle, dice: &mut TestRng) -> Action {
    let legal = legal_actions(game, seat);
    let any = |dice: &mut TestRng| *dice.choose(&legal).expect("a seat that is asked can act");
    let rank = |action: &Action| match action {
        Action::Drop { face_down, .. } => u32::from(!*face_down),
        Action::Sapaw { .. } => 2,
        Action::Chow { .. } => 3,
        Action::Draw | Action::Dump { .. } => 4,
        Action::Tongits => 0,
        Action::Fight | Action::Challenge | Action::Fold => 5,
    };
    match way {
        PlayStyle::Random => any(dice),
        PlayStyle::Giving if dice.below(4) > 0 => {
            *legal.iter().min_by_key(|action| rank(action)).expect("a seat that is asked can act")
        }
        PlayStyle::Giving => any(dice),
        PlayStyle::Waiting => {
            let hand = game.hands()[seat.index()];
            let is_open = game.public().melds.is_open(seat);
            let value = |action: &Action| match action {
                Action::Fight if deadwood(hand) == 0 => Some(0),
                Action::Drop { face_down: false, .. } if !is_open => Some(1),
                Action::Draw => Some(2),
                Action::Dump { card } => Some(10 + deadwood(hand.without(*card))),
                Action::Fold => Some(1),
                variants!(Action: Fight, Drop, Chow, Sapaw, Tongits, Challenge) => None,
            };
            let goes_on = |action: &Action| {
                let next = game.act(seat, action, &mut Vec::new()).expect("it is legal");
                next.outcome().is_none() || value(action) == Some(0)
            };
            let wanted = legal.iter().filter(|action| value(action).is_some() && goes_on(action));
            wanted.min_by_key(|action| value(action)).copied().unwrap_or_else(|| any(dice))
        }
    }
}

fn terms(rules: Rules, hits: Hits) -> Terms<Rules> {
    testing::terms(rules, Some(hits), coins(1), 2)
}

/// Plays a whole game and returns its record; the winner of the previous game is seat 0.
fn play(rules: Rules, hits: Hits, ways: BySeat<PlayStyle>, seed: u64) -> Record<Tongits> {
    let concealed = Contribution::from_text("swerte").commitment;
    let clients = vec![
        Contribution::none(),
        Contribution::from_text("luck \u{20b1} \u{0}"),
        Contribution::new(concealed, None),
    ];
    let starter = Seat::new(0).filter(|_| seed.is_multiple_of(2));
    let choose = |game: &Tongits, seat: Seat, dice: &mut TestRng| {
        choose(game, seat, ways[seat.index()], dice)
    };
    let mut record = record_game(terms(rules, hits), clients, starter, seed, choose);
    record.pot_before = coins(9);
    record.crown_before = Some(Crown { player: record.players[0], wins: 1 });
    settle(&mut record);
    record
}

/// Recomputes a record's outcome independently: rules 6.7 to 7.5.
fn settle(record: &mut Record<Tongits>) {
    let outcome = &record.outcome;
    let hits = record.terms.hits.expect("there is a POT");
    let crown = outcome.winner.map(|seat| {
        let player = record.players[seat.index()];
        let before = record.crown_before.filter(|crown| crown.player == player);
        Crown { player, wins: before.map_or(1, |crown| crown.wins + 1) }
    });
    let wins = crown.map_or(0, |crown| crown.wins);
    let takes_pot = outcome.takes_pot || wins >= hits.to_win;
    let bonus = if wins == 2 && !takes_pot { hits.second_hit_bonus } else { 0 };
    let amount = record.pot_before;
    let pot = outcome.winner.filter(|_| takes_pot).map(|seat| PotPayout { seat, amount });
    record.settlement =
        Settlement::new(outcome, &record.terms.price, 1, &record.stakes, bonus, pot)
            .expect("the amounts fit");
    record.pot_after = if pot.is_some() { Coins::ZERO } else { amount };
    record.crown_after = crown.filter(|_| pot.is_none());
}

/// Returns the named rule sets, and some that differ from them in switches.
fn rule_sets() -> Vec<(String, Rules, Hits)> {
    let hits = |preset: &Preset| Hits {
        ante: 1,
        to_win: preset.hits_to_win,
        second_hit_bonus: preset.second_hit_bonus,
    };
    let mut sets: Vec<_> = Preset::ALL
        .iter()
        .map(|preset| (preset.name.to_owned(), preset.rules, hits(preset)))
        .collect();
    let two = Hits::default();
    for (name, rules) in [
        ("kingdom, jokers and bahay", Rules { jokers: true, bahay: true, ..Rules::kingdom() }),
        ("kingdom, spread", Rules { spread: true, hand_cards: 3, ..Rules::kingdom() }),
        ("joker, small", Rules { hand_cards: 3, ..Rules::joker() }),
        ("joker, by hand", Rules { auto_draw: false, dump_addable: false, ..Rules::joker() }),
        (
            "joker, secret runs challenge",
            Rules { secret_run_min: 4, secret_may_challenge: true, ..Rules::joker() },
        ),
    ] {
        rules.check().expect("such rules can be dealt");
        sets.push((name.to_owned(), rules, two));
    }
    sets
}

const SEEDS: u64 = 14;

/// Returns named records with every rule set.
fn records() -> Vec<(String, Record<Tongits>)> {
    let mut records = Vec::new();
    for (name, rules, hits) in rule_sets() {
        let terms = terms(rules, hits);
        let short = PrivateTerms { short_stakes: true, ..PrivateTerms::default() };
        let friends = Terms { private: Some(short), ..terms.clone() };
        let least = terms.wallet_min().expect("a wallet");
        for (terms, welcome, games) in [(terms, coins(1_000), 20), (friends, least, 8)] {
            let mut tables = Simulation::<Tongits>::new(games, terms, Habits::ROUGH, welcome);
            tables.play(games, |_, record| {
                records.push((format!("{name}, a rough table"), record.clone()));
            });
        }
        for seed in 0..SEEDS {
            for way in [PlayStyle::Random, PlayStyle::Giving, PlayStyle::Waiting] {
                let mut ways = [PlayStyle::Random; 3];
                ways[usize::try_from(seed % 3).expect("a seat")] = way;
                if seed % 2 == 0 {
                    ways = [way; 3];
                }
                let record = play(rules, hits, ways, seed);
                records.push((format!("{name}, {way:?}, seed {seed}"), record));
            }
        }
    }
    // These games seek rare events.
    let hits = Hits { ante: 1, to_win: 3, second_hit_bonus: 1 };
    for (name, rules) in [
        ("spread", Rules { hand_cards: 3, ..Rules::joker() }),
        ("secret", Rules::classic()),
        ("zero_count_fight", Rules::joker()),
    ] {
        let way = if name == "zero_count_fight" { PlayStyle::Waiting } else { PlayStyle::Giving };
        let played = (SEEDS..4_000).map(|seed| play(rules, hits, [way; 3], seed));
        let found = played.filter(|record| owes(record, name)).take(5);
        records.extend(found.map(|record| (format!("looked for: {name}"), record)));
    }
    records
}

/// Returns the number of records with a property.
fn count(records: &[(String, Record<Tongits>)], what: impl Fn(&Record<Tongits>) -> bool) -> usize {
    records.iter().filter(|(_, record)| what(record)).count()
}

fn owes(record: &Record<Tongits>, name: &str) -> bool {
    let items = record.settlement.payments.iter().flat_map(|payment| &payment.items);
    items.into_iter().any(|item| item.name == name)
}

const FORGERIES: &[Forgery<Tongits>] = &[
    ("a count more for the ending", "10.1", |record| {
        let first = &mut record.outcome.debts[0].items[0];
        let is_classic = first.rule == "10.1";
        first.counts += 1;
        is_classic
    }),
    ("a count more by kingdom", "6.1", |record| {
        let first = &mut record.outcome.debts[0].items[0];
        let is_kingdom = first.rule == "6.1";
        first.counts += 1;
        is_kingdom
    }),
    ("a secret meld more", "10.1", |record| more(record, "secret", "10.1")),
    ("a secret meld more by kingdom", "6.4", |record| more(record, "secret", "6.4")),
    ("a special card more", "6.3", |record| more(record, "special", "6.3")),
    ("a count for points more", "11.3", |record| more(record, "variable", "11.3")),
    ("a zero-count fight that pays more", "11.2", |record| {
        more(record, "zero_count_fight", "11.2")
    }),
    ("a POT that nobody spread for", "10.3", |record| {
        let forged = record.outcome.winner.is_some() && !record.outcome.takes_pot;
        record.outcome.takes_pot = true;
        forged
    }),
    ("a text after the deal", "9.1", |record| {
        record.clients[2].text = Some("swerte".to_owned());
        record.actions.len() > 1
    }),
    ("a text that was not committed to", "9.1", reveal_another_text),
    ("a text that is left out", "9.1", |record| {
        record.clients[1].text = None;
        record.clients[1].seed != ClientSeed(record.clients[1].commitment.0)
    }),
    ("a seed of who took no part", "9.1", |record| {
        record.clients[0].seed = ClientSeed::from_text("luck");
        record.clients[0].commitment == Commitment::NONE
    }),
    ("what lay face down lies open", "", |record| {
        // Only the melds that the winner laid are paid for.
        let winner = record.outcome.winner;
        let by_winner = record.actions.iter_mut().filter(|taken| Some(taken.seat) == winner);
        let drops = by_winner.filter_map(|taken| match &mut taken.action {
            Action::Drop { face_down, .. } if *face_down => Some(face_down),
            _ => None,
        });
        drops.map(|face_down| *face_down = false).count() > 0 && owes(record, "secret")
    }),
];

fn more(record: &mut Record<Tongits>, name: &str, rule: &str) -> bool {
    let items = record.outcome.debts.iter_mut().flat_map(|debt| &mut debt.items);
    items.filter(|item| item.name == name && item.rule == rule).map(|item| item.counts += 1).count()
        > 0
}

#[test]
fn the_independent_verifier_agrees_about_games_of_every_rule_set() {
    let records = records();
    for (name, record) in &records {
        record.verify().unwrap_or_else(|fault| panic!("{name}: {fault}"));
    }
    let laid_down = |record: &Record<Tongits>| {
        let actions = record.actions.iter().map(|taken| taken.action);
        actions.into_iter().any(|action| matches!(action, Action::Drop { face_down: true, .. }))
    };
    assert!(count(&records, laid_down) > 5, "too little lay face down");
    let is_capped = |record: &Record<Tongits>| {
        record.settlement.payments.iter().any(|payment| payment.paid < payment.owed)
    };
    assert!(count(&records, is_capped) > 0, "no debt was paid in part");
    for name in ["spread", "zero_count_fight", "variable", "secret", "second_hit", "challenge"] {
        assert!(count(&records, |record| owes(record, name)) > 1, "too little was owed for {name}");
    }

    let may_forge = |record: &Record<Tongits>| record.outcome.winner.is_some();
    check_verifier(&records, FORGERIES, may_forge, settle);
}
