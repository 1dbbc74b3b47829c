//! Tables of a duplicate tournament: all tables of a round deal the same cards, nobody contributes to
//! a deal, and no table shows its seed.

use bahay_engine::catalog::{AnyGame, AnyRules, kinds};
use bahay_engine::chance::{Commitment, Contribution, ServerSeed};
use bahay_engine::coins::Coins;
use bahay_engine::game::{GameRules, Viewer};
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{
    Effect as TableEffect, Event, Input as TableInput, Phase as TablePhase, PlayerId, Record,
    Spectators, Table, Terms, Timestamp, TournamentPlayer, TournamentSeating,
};
use bahay_engine::tournament::{
    Effect, EntrantLimits, EntryPrice, Format, GameScore, Input, Phase, TableSeating, Tournament,
    TournamentGame, TournamentId, TournamentTerms,
};
use uuid::Uuid;

use crate::independent::{Expected, assert_verified, verdicts};
use crate::support::desk::{Desk, player};
use crate::support::json;
use crate::support::records::script;

const TABLES: u64 = 3;
const ROUNDS: u32 = 6;
const GAMES: u32 = 2;
const START: Timestamp = Timestamp::from_ms(1_000);
const SECRET: ServerSeed = ServerSeed(Hex([0x5e; 32]));

/// A duplicate at real tables.
struct Duplicate {
    tournament: Tournament,
    /// The public list of results.
    results: Vec<String>,
    now: Timestamp,
}

impl Duplicate {
    /// Starts a tournament of three tables by these rules.
    fn start(rules: AnyRules) -> Self {
        let seats = rules.seats().least;
        let players = TABLES * u64::from(seats);
        let count = u32::try_from(players).unwrap();
        let mut game = TournamentGame::new(rules.clone(), seats);
        game.bet = Coins::from_hundredths(100 * i64::from(rules.counts_per_bet()));
        let terms = TournamentTerms {
            name: "The same cards".into(),
            game,
            format: Format::Duplicate { rounds: ROUNDS, games: GAMES },
            entrants: EntrantLimits { least: count, most: count },
            entry: EntryPrice::default(),
            guarantee: Coins::ZERO,
            payouts: vec![],
            starts_at: Some(START),
            late_registration_ms: 0,
            break_ms: 0,
            is_private: false,
            bots: false,
            bots_after_ms: 0,
        };
        terms.check().unwrap();
        let id = TournamentId(Uuid::from_u64_pair(5, 7));
        let tournament = Tournament::new(id, terms, SECRET);
        let announcement = tournament.announcement();
        let mut duplicate = Self { tournament, results: Vec::new(), now: Timestamp::default() };
        duplicate.note([&announcement]);
        for number in 0..players {
            duplicate.tell(Input::Register {
                player: player(number),
                name: format!("player {number}"),
                pass: false,
                bot: false,
                conflict_keys: Vec::new(),
            });
        }
        duplicate.now = START;
        duplicate.tell(Input::Tick);
        duplicate
    }

    fn note<'a>(&mut self, events: impl IntoIterator<Item = &'a bahay_engine::tournament::Event>) {
        let at = self.now;
        let line = |event| json(&bahay_engine::tournament::ResultLine { at, event });
        self.results.extend(events.into_iter().map(line));
    }

    fn tell(&mut self, input: Input) {
        let transition = self.tournament.decide(self.now, input).unwrap();
        self.tournament = transition.tournament;
        self.note(&transition.events);
    }

    /// Begins the next round and returns its tables.
    fn seat_round(&mut self) -> Vec<TableSeating> {
        if matches!(self.tournament.phase(), Phase::Break { .. }) {
            self.tell(Input::Tick);
        }
        let effects = self.tournament.effects(self.now).into_iter();
        let tables = effects.filter_map(|effect| match effect {
            Effect::OpenTable(table) => Some(table),
            Effect::EndTable(_) | Effect::Transfer(_) | Effect::Tick => None,
        });
        let tables: Vec<_> = tables.collect();
        for table in &tables {
            self.tell(Input::TableOpened { table: table.number });
        }
        tables
    }

    /// Returns a table as the service opens it.
    fn open_table(&self, seating: &TableSeating) -> Desk<AnyGame> {
        let id = self.tournament.id();
        let game = &self.tournament.terms().game;
        let tournament = TournamentSeating {
            tournament: id,
            round: seating.number.round,
            number: seating.number.table,
            games: seating.games,
            players: seating.players.clone(),
            commitments: seating.deals.iter().map(|deal| deal.seed.commitment()).collect(),
        };
        let rules = game.rules.clone();
        let terms = Terms::for_tournament("tournament", rules, game.bet, game.clocks, tournament);
        assert_eq!(terms.spectators, Spectators::Nobody);
        let seat = |player: &PlayerId| TournamentPlayer {
            player: *player,
            name: "player".into(),
            avatar: None,
            bot: false,
        };
        let players: Vec<_> = seating.players.iter().map(seat).collect();
        let seeds: Vec<_> = seating.deals.iter().map(|deal| deal.seed).collect();
        let table = Table::new(seating.number.table_id(id), terms)
            .with_tournament_players(players, 0, Timestamp::default())
            .with_shared_seeds(seeds);
        Desk::at_table(table)
    }

    /// Reports the record of a game.
    fn report(&mut self, seating: &TableSeating, game: u32, record: &Record<AnyGame>) {
        let seats = Seat::all(8).zip(&record.players);
        let scores = seats.map(|(seat, player)| GameScore {
            player: *player,
            points: record.settlement.net(seat).unwrap(),
            is_absent: false,
        });
        let scores = scores.collect();
        self.tell(Input::GameScored { table: seating.number, game, scores });
    }
}

/// Returns the texts that viewers of the table receive: the events of the last input, and views.
fn shown_texts(desk: &Desk<AnyGame>) -> Vec<String> {
    let players = desk.table.players().into_iter().map(Some).chain([None]);
    let mut texts = Vec::new();
    for player in players {
        let view = desk.table.view(player);
        let viewer = player.map_or(Viewer::Public, |player| desk.table.viewer(player));
        let events = desk.events.iter().filter_map(|event| event.redact::<AnyGame>(viewer));
        texts.extend(events.map(|event| json(&event)));
        texts.push(json(&view));
    }
    texts
}

/// Plays a table to its end and returns its records. Its players commit to seeds if `commits`;
/// otherwise nobody ever comes, and the AI plays.
fn play_table(
    desk: &mut Desk<AnyGame>,
    seeds: &[ServerSeed],
    commits: bool,
) -> Vec<Record<AnyGame>> {
    let secrets: Vec<String> = seeds.iter().map(|seed| seed.0.to_string()).collect();
    let mut records: Vec<Record<AnyGame>> = Vec::new();
    for _ in 0..100_000 {
        for text in shown_texts(desk) {
            assert!(secrets.iter().all(|secret| !text.contains(secret)), "{text}");
        }
        if desk.table.is_closed() {
            assert_eq!(desk.replayed(), desk.table);
            return records;
        }
        if let [TableEffect::Report { record, .. }] = desk.table.effects(desk.now).as_slice() {
            records.push((*record).clone());
        }
        let prepared = match desk.table.phase() {
            TablePhase::Preparing(preparing) if commits => Some(preparing.game),
            _ => None,
        };
        let Some(game) = prepared else {
            desk.go_on();
            continue;
        };
        let commitment = Some(Contribution::from_text("luck").commitment);
        let occupants = desk.table.occupants().map(|(_, occupant)| occupant.player);
        for player in occupants.collect::<Vec<_>>() {
            // Whoever the AI plays for is ready already.
            let _ = desk.tell(TableInput::Ready { player, game, commitment });
        }
    }
    panic!("the table never ends");
}

#[test]
fn all_tables_of_a_round_deal_the_same_cards_in_every_game() {
    for kind in kinds() {
        for set in &kind.rule_sets {
            let mut duplicate = Duplicate::start(set.rules.clone());
            let tables = duplicate.seat_round();
            assert_eq!(tables.len(), usize::try_from(TABLES).unwrap());
            let seeds: Vec<_> = tables[0].deals.iter().map(|deal| deal.seed).collect();
            let mut played = Vec::new();
            for (number, seating) in tables.iter().enumerate() {
                let mut desk = duplicate.open_table(seating);
                played.push(play_table(&mut desk, &seeds, number == 1));
            }
            for game in 0..GAMES as usize {
                let first = &played[0][game];
                for records in &played {
                    let record = &records[game];
                    record.verify().unwrap();
                    assert_eq!(record.chance[0], first.chance[0], "{} {}", kind.name, set.name);
                    assert_eq!(record.commitment, seeds[game].commitment());
                    assert!(record.starter.is_none(), "an earlier win decides nothing");
                    assert!(record.clients.iter().all(|client| *client == Contribution::none()));
                }
            }
            assert_ne!(played[0][0].chance, played[0][1].chance, "each game has a deal");
        }
    }
}

/// A round shows its seeds once, for all of its tables.
#[test]
fn the_seeds_of_a_round_are_secret_until_its_last_table_is_over() {
    let rules = AnyRules::find_rule_set("tongits", "kingdom").unwrap().rules;
    let mut duplicate = Duplicate::start(rules);
    assert_eq!(duplicate.tournament.round_deals(0), None);
    let mut records = Vec::new();
    let mut seats: Vec<Vec<u32>> = vec![vec![0; 3]; 9];
    for round in 1..=ROUNDS {
        let tables = duplicate.seat_round();
        let seeds: Vec<_> = tables[0].deals.iter().map(|deal| deal.seed).collect();
        let commitments: Vec<Commitment> = seeds.iter().map(ServerSeed::commitment).collect();
        for (number, seating) in tables.iter().enumerate() {
            assert!(seating.deals.iter().map(|deal| deal.seed).eq(seeds.iter().copied()));
            for (seat, player) in seating.players.iter().enumerate() {
                let number = usize::try_from(player.0.as_u64_pair().1).unwrap();
                seats[number][seat] += 1;
            }
            let before = duplicate.tournament.standing_rows(0, 100);
            let mut desk = duplicate.open_table(seating);
            let played = play_table(&mut desk, &seeds, false);
            for (game, record) in (1..).zip(&played) {
                let deals = duplicate.tournament.round_deals(round).unwrap();
                assert_eq!(deals.commitments, commitments);
                assert_eq!((deals.seeds, duplicate.tournament.secret_round()), (None, Some(round)));
                duplicate.report(seating, game, record);
            }
            records.extend(played);
            if number + 1 < tables.len() {
                // The ranking says nothing about the cards before the round is over.
                let rank = |rows: Vec<bahay_engine::tournament::StandingRow>| {
                    rows.into_iter().map(|row| (row.player, row.rank, row.score, row.tie_break))
                };
                let after = duplicate.tournament.standing_rows(0, 100);
                assert!(rank(before).eq(rank(after)));
            }
        }
        let deals = duplicate.tournament.round_deals(round).unwrap();
        assert_eq!(deals.seeds, Some(seeds));
        assert_eq!(duplicate.tournament.round_deals(round + 1), None);
    }
    assert_eq!(duplicate.tournament.phase(), Phase::Ended);
    assert_eq!(duplicate.tournament.secret_round(), None);
    for seats in seats {
        let least = seats.iter().min().unwrap();
        assert!(seats.iter().max().unwrap() - least <= 2, "a player sits in all seats: {seats:?}");
    }
    check_by_python(&duplicate, &records);
}

/// Checks results and records by the verifiers in Python, which share no code with the engine.
fn check_by_python(duplicate: &Duplicate, records: &[Record<AnyGame>]) {
    let results = duplicate.results.join("\n");
    let texts: Vec<String> = records.iter().map(json).collect();
    let mut other = records[0].clone();
    other.server_seed = SECRET;
    let other = json(&other);
    let mut documents = vec![results.as_str()];
    documents.extend(texts.iter().map(String::as_str));
    documents.push(&other);
    if let Some((lines, _)) = verdicts(&script("tournament"), &documents) {
        let (last, honest) = lines.split_last().unwrap();
        let wrong = honest.iter().find(|line| !line.starts_with("verified: "));
        assert_eq!(wrong, None);
        assert!(last.contains("(rule 5.5"), "a deal of its own: {last}");
    }
    let expected = |name: &str, record: &Record<AnyGame>, rule| {
        let record = json(record);
        Expected { name: name.to_owned(), record, rule }
    };
    let mut all: Vec<_> = records.iter().map(|record| expected("a game", record, None)).collect();
    for (name, rule, forged) in forgeries(&records[0]) {
        assert_eq!(forged.verify().unwrap_err().rule, rule, "{name}");
        all.push(expected(name, &forged, Some(rule)));
    }
    assert_verified(&script("tongits"), &all);
}

/// Returns forgeries of a record, each with the rule that it breaks.
fn forgeries(record: &Record<AnyGame>) -> Vec<(&'static str, &'static str, Record<AnyGame>)> {
    let forge = |change: &dyn Fn(&mut Record<AnyGame>)| {
        let mut forged = record.clone();
        change(&mut forged);
        forged
    };
    vec![
        (
            "another id in the key",
            "9.4",
            forge(&|record| {
                record.terms.tournament.as_mut().unwrap().tournament.0 = Uuid::from_u64_pair(5, 8);
            }),
        ),
        (
            "a deal of its own",
            "9.4",
            forge(&|record| {
                record.terms.tournament.as_mut().unwrap().commitments.clear();
            }),
        ),
        (
            "a commitment that no table shows",
            "9.1",
            forge(&|record| {
                let seating = record.terms.tournament.as_mut().unwrap();
                seating.commitments.fill(Commitment::NONE);
            }),
        ),
        (
            "a commitment too few",
            "9.1",
            forge(&|record| {
                record.terms.tournament.as_mut().unwrap().commitments.pop();
            }),
        ),
        (
            "a client that takes part",
            "9.1",
            forge(&|record| {
                record.clients[0] = Contribution::from_text("luck");
            }),
        ),
        (
            "an earlier winner who begins",
            "9.4",
            forge(&|record| {
                record.starter = Seat::new(0);
            }),
        ),
        (
            "a watched table",
            "9.5",
            forge(&|record| {
                record.terms.spectators = Spectators::Anybody;
            }),
        ),
    ]
}

#[test]
fn a_table_without_the_seed_that_it_commits_to_prepares_no_game() {
    let rules = AnyRules::find_rule_set("tongits", "kingdom").unwrap().rules;
    let mut duplicate = Duplicate::start(rules);
    let mut tables = duplicate.seat_round();
    tables[0].deals[0].seed = ServerSeed(Hex([1; 32]));
    let desk = duplicate.open_table(&tables[0]);
    let other: Vec<_> = tables[1].deals.iter().map(|deal| deal.seed).collect();
    for seeds in [vec![], other] {
        let mut desk = Desk::at_table(desk.table.clone().with_shared_seeds(seeds));
        assert!(desk.tell(TableInput::Tick).is_err());
    }
}

/// A faster table does not show the seed at the end of its game.
#[test]
fn the_end_of_a_game_shows_no_seed() {
    let rules = AnyRules::find_rule_set("tongits", "kingdom").unwrap().rules;
    let mut duplicate = Duplicate::start(rules);
    let tables = duplicate.seat_round();
    let mut desk = duplicate.open_table(&tables[0]);
    desk.go_on_until(|desk| matches!(desk.table.phase(), TablePhase::Settling(_)));
    let over = desk.events.iter().find_map(|event| match event {
        Event::Over { server_seed, .. } => Some(*server_seed),
        _ => None,
    });
    assert_eq!(over, Some(None));
}
