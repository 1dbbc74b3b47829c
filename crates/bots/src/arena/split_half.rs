//! The reliability of tournaments: how well a ranking by one half of the rounds agrees with that by
//! the other half, among bots of known strength, in a duplicate and in an arena tournament.
//!
//! The tournaments are the engine's, with its pairings, deals and scores; the games are real. A bot
//! plays the greedy AI and, in a known share of its moves, a random legal action.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use bahay_engine::catalog::{AnyGame, AnyRules};
use bahay_engine::chance::{ChanceRng, Contribution, Key, ServerSeed};
use bahay_engine::coins::Coins;
use bahay_engine::game::Game;
use bahay_engine::hex::Hex;
use bahay_engine::table::{PlayerId, Timestamp};
use bahay_engine::tournament::{
    Effect, EntrantLimits, EntryPrice, Format, GameScore, Input, Phase, TableSeating, Tournament,
    TournamentGame, TournamentId, TournamentTerms,
};
use uuid::Uuid;

use crate::ai::Ai;
use crate::arena::play_game;
use crate::arena::rank_correlation::rank_correlation;
use crate::search::{Bot, BotPrompt};

/// The start of the measured tournaments.
const START: Timestamp = Timestamp::from_ms(1_800_000_000_000);

/// The time between two pairings of an arena tournament.
const PAIRING_MS: u32 = 1_000;

/// The parameters of a measurement.
#[derive(Clone, Debug)]
pub struct SplitHalf {
    pub rules: AnyRules,
    pub seats: u8,
    /// The number of players; a multiple of the seats.
    pub players: u32,
    /// The number of games of each player.
    pub rounds: u32,
    /// The percentage of random moves of the weakest bot; the strongest makes none, and the others
    /// lie between them in equal steps.
    pub errors_percent: u32,
    pub seed: u64,
}

/// The result of a measurement, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reliability {
    /// The rank correlation of the scores of odd and even rounds.
    pub split_half: i64,
    /// The rank correlation of all scores with the strengths of the bots.
    pub with_strength: i64,
}

impl SplitHalf {
    /// Measures a duplicate.
    pub fn measure_duplicate(&self) -> Reliability {
        self.measure(Format::Duplicate { rounds: self.rounds, games: 1 })
    }

    /// Measures an arena tournament that ends when each player has played as many games as a
    /// duplicate has rounds.
    pub fn measure_arena(&self) -> Reliability {
        self.measure(Format::Arena { duration_ms: 86_400_000, pairing_ms: PAIRING_MS })
    }

    fn measure(&self, format: Format) -> Reliability {
        let mut tournament = self.start(format);
        // The scores by player, of even and of odd rounds.
        let mut halves = [vec![0; self.players as usize], vec![0; self.players as usize]];
        let mut before = vec![0; self.players as usize];
        let mut now = START;
        for round in 0..self.rounds {
            for table in self.next_tables(&mut tournament, &mut now) {
                let scores = self.play_table(&table, round);
                let input = Input::GameScored { table: table.number, game: 1, scores };
                advance(&mut tournament, now, input);
            }
            for number in 0..self.players as usize {
                let entrant = tournament.entrant(player(number)).expect("everybody has entered");
                let score = entrant.standing().score;
                halves[round as usize % 2][number] += score - before[number];
                before[number] = score;
            }
        }
        let strengths: Vec<i64> = (0..i64::from(self.players)).collect();
        Reliability {
            split_half: rank_correlation(&halves[0], &halves[1]),
            with_strength: rank_correlation(&before, &strengths),
        }
    }

    fn start(&self, format: Format) -> Tournament {
        let terms = TournamentTerms {
            name: "Reliability".into(),
            game: TournamentGame::new(self.rules.clone(), self.seats),
            format,
            entrants: EntrantLimits { least: self.players, most: self.players },
            entry: EntryPrice::default(),
            guarantee: Coins::ZERO,
            payouts: Vec::new(),
            starts_at: Some(START),
            late_registration_ms: 0,
            break_ms: 0,
            is_private: false,
            bots: false,
            bots_after_ms: 0,
        };
        let id = TournamentId(Uuid::from_u64_pair(1, self.seed));
        let Key(seed) = self.key(0, 0, 0);
        let mut tournament = Tournament::new(id, terms, ServerSeed(seed));
        for number in 0..self.players as usize {
            let register = Input::Register {
                player: player(number),
                name: "bot".into(),
                pass: false,
                bot: false,
                conflict_keys: Vec::new(),
            };
            advance(&mut tournament, START.before_ms(1_000), register);
        }
        advance(&mut tournament, START, Input::Tick);
        tournament
    }

    /// Returns the tables of the next round, or after pairings that leave nobody waiting.
    fn next_tables(&self, tournament: &mut Tournament, now: &mut Timestamp) -> Vec<TableSeating> {
        let is_arena = matches!(tournament.phase(), Phase::Arena { .. });
        while is_arena && tournament.waiting_players().len() >= usize::from(self.seats) {
            *now = now.after_ms(PAIRING_MS);
            advance(tournament, *now, Input::Tick);
        }
        if matches!(tournament.phase(), Phase::Break { .. }) {
            advance(tournament, *now, Input::Tick);
        }
        let effects = tournament.effects(*now).into_iter();
        effects
            .filter_map(|effect| match effect {
                Effect::OpenTable(table) => Some(table),
                Effect::EndTable(_) | Effect::Transfer(_) | Effect::Tick => None,
            })
            .collect()
    }

    fn play_table(&self, table: &TableSeating, round: u32) -> Vec<GameScore> {
        let mut bots: Vec<Box<dyn Bot<AnyGame>>> =
            table.players.iter().map(|player| self.build_bot(number_of(*player), round)).collect();
        let key = match table.deals.first() {
            Some(deal) => {
                let clients = vec![Contribution::none(); table.players.len()];
                deal.seed.key(&deal.id.0, &clients)
            }
            None => self.key(1, round, table.number.table),
        };
        let played = play_game(&self.rules, &mut bots, &mut ChanceRng::new(key));
        let mut points = vec![0; table.players.len()];
        for debt in &played.outcome.debts {
            let counts: u32 = debt.items.iter().map(|item| item.counts).sum();
            points[debt.from.index()] -= 100 * i64::from(counts);
            points[debt.to.index()] += 100 * i64::from(counts);
        }
        let score = |(player, points): (&PlayerId, i64)| GameScore {
            player: *player,
            points: Coins::from_hundredths(points),
            is_absent: false,
        };
        table.players.iter().zip(points).map(score).collect()
    }

    /// Builds the bot of this number; the strength grows with the number.
    fn build_bot(&self, number: u32, round: u32) -> Box<dyn Bot<AnyGame>> {
        let weakness = self.players - 1 - number;
        let errors = self.errors_percent * weakness * 100 / (self.players - 1).max(1);
        let mut rng = ChanceRng::new(self.key(2, round, number));
        Box::new(move |prompt: &BotPrompt<'_, AnyGame>| {
            if rng.below(10_000) < errors as usize {
                let mut legal = Vec::new();
                AnyGame::legal_in_view(prompt.view, &mut legal);
                let chosen = rng.below(legal.len());
                return legal.swap_remove(chosen);
            }
            AnyGame::choose_action(prompt.view).expect("the AI can act for the seat to act")
        })
    }

    fn key(&self, purpose: u32, round: u32, number: u32) -> Key {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_be_bytes());
        key[8..12].copy_from_slice(&purpose.to_be_bytes());
        key[12..16].copy_from_slice(&round.to_be_bytes());
        key[16..20].copy_from_slice(&number.to_be_bytes());
        Key(Hex(key))
    }
}

fn player(number: usize) -> PlayerId {
    PlayerId(Uuid::from_u128(number as u128))
}

fn number_of(player: PlayerId) -> u32 {
    u32::try_from(player.0.as_u128()).expect("players are numbered")
}

fn advance(tournament: &mut Tournament, now: Timestamp, input: Input) {
    let line = tournament.decide_line(now, input).expect("the input is accepted");
    tournament.advance(&line).expect("a decided line is accepted");
}

#[cfg(test)]
mod tests {
    use super::SplitHalf;
    use bahay_engine::catalog::AnyRules;

    #[test]
    fn a_duplicate_ranks_the_stronger_bots_first() {
        let rules = AnyRules::find_rule_set("tongits", "kingdom").unwrap().rules;
        let study =
            SplitHalf { rules, seats: 3, players: 30, rounds: 20, errors_percent: 90, seed: 1 };
        let duplicate = study.measure_duplicate();
        assert_eq!(duplicate, study.measure_duplicate());
        assert!(duplicate.with_strength > 500, "{duplicate:?}");
        let arena = study.measure_arena();
        assert!((-1_000..=1_000).contains(&arena.split_half), "{arena:?}");
    }
}
