//! The games of one tournament in virtual time: the engine draws the tables, and bots play the
//! games.
//!
//! All entries are free. A game takes one to three minutes, and its points are reported at its end,
//! so that the pairing of an arena sees ranks and waits as in the house. The players of a colluding
//! pair pause in an arena until both are free (rule 4.5), so that they are paired together as often
//! as its rules permit.

use std::collections::BTreeMap;

use bahay::reports::pairs::conduct::SeatConduct;
use bahay::reports::pairs::tournament_signs::GamePlayer;
use bahay_engine::catalog::{AnyGame, AnyRules};
use bahay_engine::chance::{ChanceRng, ServerSeed};
use bahay_engine::coins::Coins;
use bahay_engine::game::Game as _;
use bahay_engine::hex::Hex;
use bahay_engine::seat::Seat;
use bahay_engine::table::{PlayerId, Timestamp};
use bahay_engine::tournament::{
    Effect, EntrantLimits, EntryPrice, Format, GameScore, Input, TableNumber, TableSeating,
    Tournament, TournamentGame, TournamentId, TournamentTerms,
};
use uuid::Uuid;

use super::desk::{choose_action, choose_dumping_action, play_on};
use super::play::Character;

/// The number of seats of a table.
pub(super) const SEATS: u8 = 3;

/// The shortest game, in milliseconds.
const GAME_MIN_MS: i64 = 60_000;

/// The duration of a game above the shortest one, in seconds.
const GAME_RANGE_S: usize = 120;

/// The time of the start, in milliseconds.
const START_MS: i64 = 1_800_000_000_000;

/// The players of a tournament.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) players: usize,
    /// The number of colluding pairs. Of each, one dumps to the other at every common table.
    pub(super) pairs: usize,
    /// The bound on the share of random actions of a player, in thousandths.
    pub(super) careless: u32,
}

impl Field {
    /// Returns the colluding pairs, the dumping player first.
    pub(super) fn pairs(self) -> impl Iterator<Item = [Uuid; 2]> {
        (0..self.pairs).map(|pair| [player(2 * pair), player(2 * pair + 1)])
    }
}

fn player(number: usize) -> Uuid {
    Uuid::from_u128(number as u128 + 1)
}

/// A tournament with the reports of its games, by the time at which they arrive and their number.
struct TournamentPlay<'a> {
    dice: &'a mut ChanceRng,
    rules: &'a AnyRules,
    field: Field,
    characters: BTreeMap<Uuid, Character>,
    tournament: Tournament,
    now: i64,
    reports: BTreeMap<(i64, u64), Input>,
    sent: u64,
    /// The players of the tables that are played.
    tables: BTreeMap<TableNumber, Vec<Uuid>>,
    /// The conduct by seat in the games that are played, by table and number.
    conduct: BTreeMap<(TableNumber, u32), Vec<SeatConduct>>,
    games: Vec<Vec<GamePlayer>>,
}

/// Plays a tournament to its end, and returns the points and the conduct of the players of its games.
pub(super) fn play_tournament(
    dice: &mut ChanceRng,
    rules: &AnyRules,
    format: Format,
    field: Field,
) -> Vec<Vec<GamePlayer>> {
    let players = u32::try_from(field.players).unwrap_or(u32::MAX);
    let terms = TournamentTerms {
        name: "Collusion".into(),
        game: TournamentGame::new(rules.clone(), SEATS),
        format,
        entrants: EntrantLimits { least: players, most: players },
        entry: EntryPrice { buy_in: Coins::ZERO, fee: Coins::ZERO, accepts_passes: false },
        guarantee: Coins::ZERO,
        payouts: Vec::new(),
        starts_at: Some(Timestamp::from_ms(START_MS)),
        late_registration_ms: 0,
        break_ms: 10_000,
        is_private: false,
        bots: false,
        bots_after_ms: 0,
    };
    debug_assert_eq!(terms.check(), Ok(()));
    let mut bytes = || std::array::from_fn(|_| u8::try_from(dice.below(256)).unwrap_or_default());
    let id = TournamentId(Uuid::from_u128(1));
    let tournament = Tournament::new(id, terms, ServerSeed(Hex(bytes())));
    let character = |number| (player(number), Character::random_below(dice, field.careless));
    let characters = (0..field.players).map(character).collect();
    let mut play = TournamentPlay {
        dice,
        rules,
        field,
        characters,
        tournament,
        now: START_MS - 1,
        reports: BTreeMap::new(),
        sent: 0,
        tables: BTreeMap::new(),
        conduct: BTreeMap::new(),
        games: Vec::new(),
    };
    play.register_all();
    play.run();
    play.games
}

impl TournamentPlay<'_> {
    fn register_all(&mut self) {
        for number in 0..self.field.players {
            self.submit(Input::Register {
                player: PlayerId(player(number)),
                name: format!("Player {number}"),
                pass: false,
                bot: false,
                conflict_keys: [].into(),
            });
        }
    }

    fn run(&mut self) {
        loop {
            self.pause_or_resume_pairs();
            let effects = self.tournament.effects(Timestamp::from_ms(self.now));
            for effect in effects {
                match effect {
                    Effect::Tick => self.submit(Input::Tick),
                    Effect::Transfer(transfer) => {
                        self.submit(Input::Transferred { transfer: transfer.key });
                    }
                    Effect::EndTable(table) => self.submit(Input::TableEnded { table }),
                    Effect::OpenTable(seating) => self.open_table(&seating),
                }
            }
            if self.tournament.is_settled() {
                return;
            }
            let report = self.reports.keys().next().map(|(at, _)| *at);
            let due = self.tournament.deadline().map(Timestamp::ms);
            let Some(at) = [report, due].into_iter().flatten().min() else { return };
            self.now = self.now.max(at);
            while let Some(entry) = self.reports.first_entry().filter(|it| it.key().0 <= self.now) {
                let input = entry.remove();
                self.submit(input);
            }
        }
    }

    /// Pauses the players whose partner is at a table, and resumes those whose partner is free.
    /// Formats without pauses reject both.
    fn pause_or_resume_pairs(&mut self) {
        for pair in self.field.pairs() {
            let is_seated =
                pair.map(|player| self.tables.values().flatten().any(|one| *one == player));
            for player in pair.map(PlayerId) {
                match is_seated {
                    [true, true] => {}
                    [false, false] => self.submit(Input::Resume { player }),
                    [true, false] | [false, true] => self.submit(Input::Pause { player }),
                }
            }
        }
    }

    /// Submits an input. The points of a game count unless the tournament rejects them, as an arena
    /// does after its end.
    fn submit(&mut self, input: Input) {
        if let Input::TableEnded { table } = &input {
            self.tables.remove(table);
        }
        let at = Timestamp::from_ms(self.now);
        let Ok(transition) = self.tournament.decide(at, input.clone()) else { return };
        self.tournament = transition.tournament;
        if let Input::GameScored { table, game, scores } = input {
            let conduct = self.conduct.remove(&(table, game)).unwrap_or_default();
            let played = |(score, conduct): (&GameScore, SeatConduct)| GamePlayer {
                player: score.player.0,
                points: score.points.hundredths(),
                conduct,
            };
            self.games.push(scores.iter().zip(conduct).map(played).collect());
        }
    }

    /// Plays the games of a table, whose reports arrive at their ends.
    fn open_table(&mut self, seating: &TableSeating) {
        let TableSeating { number: table, players, games, .. } = seating;
        self.submit(Input::TableOpened { table: *table });
        let players: Vec<Uuid> = players.iter().map(|player| player.0).collect();
        self.tables.insert(*table, players.clone());
        let mut ends_at = self.now;
        for game in 1..=*games {
            let range_ms = 1_000 * i64::try_from(self.dice.below(GAME_RANGE_S)).unwrap_or_default();
            ends_at += GAME_MIN_MS + range_ms;
            let (points, conduct) = self.play_game(&players);
            self.conduct.insert((*table, game), conduct);
            let scores = players.iter().zip(points).map(|(player, points)| GameScore {
                player: PlayerId(*player),
                points: Coins::from_hundredths(points),
                is_absent: false,
            });
            let scores = scores.collect();
            self.report(ends_at, Input::GameScored { table: *table, game, scores });
        }
        self.report(ends_at, Input::TableEnded { table: *table });
    }

    fn report(&mut self, at: i64, input: Input) {
        self.sent += 1;
        self.reports.insert((at, self.sent), input);
    }

    /// Plays a game, and returns the points in hundredths and the conduct by seat.
    fn play_game(&mut self, players: &[Uuid]) -> (Vec<i64>, Vec<SeatConduct>) {
        let seat_of = |one: Uuid| Seat::all(SEATS).zip(players).find(|(_, at)| **at == one);
        let pairs = self.field.pairs().filter_map(|[payer, winner]| {
            let (payer, _) = seat_of(payer)?;
            let (winner, _) = seat_of(winner)?;
            Some([payer, winner])
        });
        let pairs: Vec<[Seat; 2]> = pairs.collect();
        let characters = &self.characters;
        let state = AnyGame::new(self.rules, SEATS, None);
        let mut conduct = vec![SeatConduct::default(); players.len()];
        let state = play_on(self.dice, state, |dice, state, seat| {
            let action = match pairs.iter().find(|pair| pair[0] == seat) {
                Some(pair) => choose_dumping_action(dice, state, *pair),
                None => {
                    let character = *characters.get(players.get(seat.index())?)?;
                    choose_action(dice, state, seat, character)
                }
            }?;
            conduct.get_mut(seat.index())?.observe(players.len(), state, seat, &action);
            Some(action)
        });
        let mut points = vec![0; players.len()];
        for debt in state.outcome().map(|outcome| outcome.debts).unwrap_or_default() {
            let counts = 100 * i64::from(debt.counts());
            points[debt.from.index()] -= counts;
            points[debt.to.index()] += counts;
        }
        (points, conduct)
    }
}
