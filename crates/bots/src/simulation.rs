//! A table in virtual time: the table, its host, its ledger and its players as one value that is
//! driven by one seed. Time jumps from one event to the next, so thousands of games take seconds,
//! and the same seed gives the same games.
//!
//! The players choose actions as the AI does, at a human pace, with habits: they stay silent, lose
//! the connection, leave during a game, or send late, duplicate or forged inputs. A new player
//! takes every seat that becomes free. The ledger is perfect and always answers.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use uuid::Uuid;

use crate::ai::Ai;
use crate::table::ai_action;
use bahay_engine::chance::{ChanceRng, ClientSeed, Key, ServerSeed};
use bahay_engine::coins::Coins;
use bahay_engine::game::Game;
use bahay_engine::hex::Hex;
use bahay_engine::seat::{Seat, SeatSet};
use bahay_engine::table::{
    ConnectionId, Effect, Event, GameEntropy, GameId, Input, Line, Phase, PlayerId, PotRefund,
    Record, Rejection, Share, Table, TableId, Terms, Timestamp, TournamentPlayer, Transition,
};
use bahay_engine::variants;

/// The time that a player takes to answer a prompt, in milliseconds.
const THOUGHT_MS: core::ops::Range<u32> = 300..4_000;

/// The time after which a client reveals its text, in milliseconds; some clients do so too late.
const REVEALED_MS: core::ops::Range<u32> = 50..2_300;

/// The frequency of the players' disturbances, in thousandths of their turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Habits {
    /// The player lets the countdown pass.
    pub silent: u32,
    /// The player loses the connection for some seconds.
    pub disconnect: u32,
    /// The player leaves the table.
    pub leave: u32,
    /// The player sends an input that the table must refuse.
    pub noise: u32,
    /// The player is removed instead of becoming ready.
    pub removed: u32,
}

impl Habits {
    /// Frequent disturbances of every kind that a table must tolerate.
    pub const ROUGH: Self = Self { silent: 60, disconnect: 40, leave: 5, noise: 150, removed: 0 };
}

/// One step of the simulation: the journal line and the events.
#[derive(Clone, Debug)]
pub struct SimulationStep<G: Game> {
    pub line: Line<G::Action>,
    pub events: Vec<Event<G::Event>>,
    /// The record of a game that was settled by this step.
    pub record: Option<Record<G>>,
}

/// A simulated table with its ledger and its players.
#[derive(Clone, Debug)]
pub struct Simulation<G: Game> {
    table: Table<G>,
    now: Timestamp,
    habits: Habits,
    chance: ChanceRng,
    /// The number of ids issued so far.
    ids: u64,
    /// The next intention of each present player, with its time.
    intentions: BTreeMap<PlayerId, (Timestamp, Intention)>,
    /// The text of each client's latest seed.
    texts: BTreeMap<PlayerId, String>,
    wallets: BTreeMap<PlayerId, Coins>,
    /// The coins held for the players of the running game, by seat.
    held: Vec<(PlayerId, Coins)>,
    pot: Coins,
    /// The coins that each player has paid into the POT since it was last won.
    paid: BTreeMap<PlayerId, Coins>,
    fees: Coins,
    granted: Coins,
    welcome: Coins,
    refused: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Intention {
    Ready,
    Reveal,
    Act { prompt: u32 },
    Return,
}

impl<G: Ai> Simulation<G> {
    /// Creates a simulation in which a new player's wallet holds `welcome`.
    ///
    /// # Panics
    /// If that is less than a player needs to sit down, because no game would ever begin.
    pub fn new(seed: u64, terms: Terms<G::Rules>, habits: Habits, welcome: Coins) -> Self {
        let needed = terms.wallet_min().expect("terms that fit");
        assert!(welcome >= needed, "a new player has too little to sit down");
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self {
            table: Table::new(TableId(Uuid::from_u64_pair(seed, 0)), terms),
            now: Timestamp::from_ms(0),
            habits,
            chance: ChanceRng::new(Key(Hex(key))),
            ids: 0,
            intentions: BTreeMap::new(),
            texts: BTreeMap::new(),
            wallets: BTreeMap::new(),
            held: Vec::new(),
            pot: Coins::ZERO,
            paid: BTreeMap::new(),
            fees: Coins::ZERO,
            granted: Coins::ZERO,
            welcome,
            refused: 0,
        }
    }

    /// Creates a simulation of a table of a tournament. Its terms name the players, who connect one
    /// after the other, and `seeds` are those of its deals if other tables play the same ones.
    ///
    /// # Panics
    /// If the terms are not those of a tournament.
    pub fn at_tournament(
        seed: u64,
        terms: Terms<G::Rules>,
        habits: Habits,
        seeds: Vec<ServerSeed>,
    ) -> Self {
        let seating = terms.tournament.as_ref().expect("terms of a tournament");
        let players = seating.players.clone();
        let mut simulation = Self::new(seed, terms, habits, Coins::from_hundredths(i64::MAX));
        for player in &players {
            simulation.schedule(*player, Intention::Return, THOUGHT_MS);
        }
        let seated = (1..).zip(players).map(|(number, player)| TournamentPlayer {
            player,
            name: format!("player {number}"),
            avatar: None,
            bot: false,
        });
        let table = simulation.table.with_tournament_players(seated, 0, simulation.now);
        simulation.table = table.with_shared_seeds(seeds);
        simulation
    }

    pub fn table(&self) -> &Table<G> {
        &self.table
    }

    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns the text of the seed that this player's client committed to last.
    pub fn seed_text(&self, player: PlayerId) -> Option<&str> {
        self.texts.get(&player).map(String::as_str)
    }

    /// Returns the number of refused inputs of players.
    pub fn refusal_count(&self) -> u64 {
        self.refused
    }

    /// Returns the granted coins less all existing coins, which is always zero.
    pub fn missing_coins(&self) -> Coins {
        let held = self.held.iter().map(|(_, stake)| *stake);
        let everywhere: Coins =
            self.wallets.values().copied().chain(held).chain([self.pot, self.fees]).sum();
        self.granted.checked_sub(everywhere).expect("amounts of a simulation fit")
    }

    /// Advances to the next accepted input.
    pub fn step(&mut self) -> SimulationStep<G> {
        loop {
            if let Some(input) = self.due_input() {
                match self.submit(input) {
                    Ok(happened) => return happened,
                    Err(_) => self.refused += 1,
                }
            }
        }
    }

    /// Plays until `games` games are settled, and passes each record to `settled`.
    pub fn play(&mut self, games: u64, mut settled: impl FnMut(&SimulationStep<G>, &Record<G>)) {
        let mut done = 0;
        while done < games {
            let happened = self.step();
            if let Some(record) = &happened.record {
                settled(&happened, record);
                done += 1;
            }
        }
    }

    fn submit(
        &mut self,
        input: Input<G::Action>,
    ) -> Result<SimulationStep<G>, Rejection<G::Refusal>> {
        let fresh = GameEntropy {
            seed: ServerSeed(Hex(self.draw_bytes())),
            game: GameId(Uuid::from_bytes(self.draw_bytes())),
        };
        let Transition { line, table, events } = self.table.decide(self.now, input, || fresh)?;
        let record = match self.table.phase() {
            Phase::Settling(settling) if !matches!(table.phase(), Phase::Settling(_)) => {
                Some(settling.record.clone())
            }
            _ => None,
        };
        self.table = table;
        for event in &events {
            self.plan_reaction(event);
        }
        self.plan_actions();
        Ok(SimulationStep { line, events, record })
    }

    /// Returns the next input in time: an answer of the ledger, a new player, a player's intention,
    /// or the clock.
    fn due_input(&mut self) -> Option<Input<G::Action>> {
        if let Some(input) = self.ledger_input() {
            return Some(input);
        }
        if self.table.seats_free() > 0 && matches!(self.table.phase(), Phase::Waiting) {
            let player = PlayerId(self.next_id());
            self.wallets.insert(player, self.welcome);
            self.granted = self.granted.checked_add(self.welcome).expect("grants fit");
            self.intentions.insert(player, (self.now, Intention::Return));
            return Some(Input::sit(player, format!("player {}", self.ids)));
        }
        let player = self.intentions.iter().min_by_key(|(_, (at, _))| *at);
        let player = player.map(|(player, (at, intention))| (*at, *player, *intention));
        match (player, self.table.deadline()) {
            (Some((at, player, intention)), deadline)
                if deadline.is_none_or(|deadline| at <= deadline) =>
            {
                self.now = self.now.max(at);
                self.intentions.remove(&player);
                self.player_input(player, intention)
            }
            (_, Some(deadline)) => {
                self.now = self.now.max(deadline);
                match self.table.effects(self.now).first() {
                    Some(Effect::ChooseAction { seat, .. }) => ai_action(&self.table, *seat),
                    Some(
                        Effect::Tick
                        | Effect::Open(_)
                        | Effect::Settle(_)
                        | Effect::Report { .. }
                        | Effect::RefundPot(_),
                    )
                    | None => Some(Input::Tick),
                }
            }
            (_, None) => unreachable!("an idle player at a full table has an intention"),
        }
    }

    fn ledger_input(&mut self) -> Option<Input<G::Action>> {
        match self.table.effects(self.now).first()? {
            Effect::Open(opening) => {
                let game = opening.game;
                let terms = self.table.terms();
                let players = self.table.players();
                let stake_terms = terms.stake_terms(self.table.seats_in_game());
                let stake_terms = stake_terms.expect("terms that fit");
                let ante = stake_terms.ante;
                let stake = |player: &PlayerId| stake_terms.stake_of(self.wallets[player]);
                let poor: SeatSet = Seat::all(self.table.seats_in_game())
                    .filter(|seat| stake(&players[seat.index()]).is_none())
                    .collect();
                if !poor.is_empty() {
                    return Some(Input::OpenFailed { game, seats: poor });
                }
                let stakes: Vec<Coins> = players.iter().filter_map(stake).collect();
                for (player, stake) in players.iter().zip(&stakes) {
                    self.pay(*player, Coins::ZERO.checked_sub(ante).expect("an ante fits"));
                    self.pay(*player, Coins::ZERO.checked_sub(*stake).expect("a stake fits"));
                    self.pot = self.pot.checked_add(ante).expect("a POT fits");
                    let paid = self.paid.entry(*player).or_default();
                    *paid = paid.checked_add(ante).expect("a sum of payments fits");
                }
                self.held = players.into_iter().zip(stakes.iter().copied()).collect();
                Some(Input::Opened { game, stakes, pot: self.pot })
            }
            Effect::Settle(record) => {
                let record = (*record).clone();
                let held = core::mem::take(&mut self.held);
                for (seat, (player, stake)) in Seat::all(self.table.seats_in_game()).zip(held) {
                    let net = record.settlement.net(seat).expect("a net result fits");
                    self.pay(player, stake);
                    self.pay(player, net);
                }
                let fees = record.settlement.fees.iter().map(|fee| fee.fee);
                self.fees = self.fees.checked_add(fees.sum()).expect("fees fit");
                if record.settlement.pot.is_some() {
                    self.pot = Coins::ZERO;
                    self.paid.clear();
                }
                Some(Input::Settled { game: record.game })
            }
            Effect::RefundPot(due) => {
                let PotRefund { game, player, .. } = *due;
                let paid = match player {
                    Some(player) => self.paid.remove_entry(&player).into_iter().collect(),
                    None => core::mem::take(&mut self.paid),
                };
                let shares = paid.into_iter().map(|(player, amount)| Share { player, amount });
                let shares: Vec<Share> = shares.collect();
                for Share { player, amount } in &shares {
                    self.pay(*player, *amount);
                    self.pot = self.pot.checked_sub(*amount).expect("a POT fits");
                }
                Some(Input::PotRefunded { game, player, pot: self.pot, shares })
            }
            Effect::Report { record, .. } => Some(Input::Settled { game: record.game }),
            Effect::ChooseAction { .. } | Effect::Tick => None,
        }
    }

    fn pay(&mut self, player: PlayerId, amount: Coins) {
        let wallet = self.wallets.get_mut(&player).expect("a payer has a wallet");
        *wallet = wallet.checked_add(amount).expect("a wallet fits");
        assert!(!wallet.is_negative(), "a wallet went below zero");
    }

    fn player_input(&mut self, player: PlayerId, intention: Intention) -> Option<Input<G::Action>> {
        let seat = self.table.seat_of(player)?;
        match intention {
            Intention::Return => {
                let connection = ConnectionId(self.next_id());
                Some(Input::Connect { player, connection })
            }
            Intention::Ready => {
                if self.is_drawn(self.habits.removed) {
                    return Some(Input::Remove { player });
                }
                let game = self.table.phase().game()?;
                let text = (self.draw_below(2) == 0).then(|| format!("luck {} {game}", self.ids));
                let commitment = text.as_ref().map(|text| ClientSeed::from_text(text).commitment());
                if let Some(text) = text {
                    self.texts.insert(player, text);
                }
                Some(Input::Ready { player, game, commitment })
            }
            Intention::Reveal => {
                let Phase::Revealing(revealing) = self.table.phase() else { return None };
                let game = revealing.game;
                if self.is_drawn(self.habits.disconnect) {
                    return self.disconnect(player, seat, 100..10_000);
                }
                if self.is_drawn(self.habits.noise) {
                    self.intend_after_ms(50, player, Intention::Reveal);
                    return Some(Input::Reveal { player, game, text: "another".into() });
                }
                let text = self.texts.get(&player)?.clone();
                Some(Input::Reveal { player, game, text })
            }
            Intention::Act { prompt } => {
                let Phase::Playing(playing) = self.table.phase() else { return None };
                if playing.prompt.number != prompt || !playing.prompt.seats.contains(seat) {
                    return None;
                }
                let game = playing.game;
                let habits = self.habits;
                if self.is_drawn(habits.silent) {
                    return None;
                }
                if self.is_drawn(habits.leave) {
                    return Some(Input::Leave { player });
                }
                if self.is_drawn(habits.disconnect) {
                    return self.disconnect(player, seat, 500..40_000);
                }
                if self.is_drawn(habits.noise) {
                    self.intend_after_ms(50, player, intention);
                    return self.noise_input(player, seat, game, prompt);
                }
                let Input::AiAction { action, .. } = ai_action(&self.table, seat)? else {
                    return None;
                };
                Some(Input::Act { player, game, prompt, action })
            }
        }
    }

    /// Disconnects a player, who returns after a time in this range, in milliseconds.
    fn disconnect(
        &mut self,
        player: PlayerId,
        seat: Seat,
        away_ms: core::ops::Range<u32>,
    ) -> Option<Input<G::Action>> {
        let connection = self.table.occupant(seat)?.connection?;
        self.schedule(player, Intention::Return, away_ms);
        Some(Input::Disconnect { player, connection })
    }

    /// Returns a late, duplicate, foreign or forged input, which the table must refuse.
    fn noise_input(
        &mut self,
        player: PlayerId,
        seat: Seat,
        game: GameId,
        prompt: u32,
    ) -> Option<Input<G::Action>> {
        let Some(Input::AiAction { action, .. }) = ai_action(&self.table, seat) else {
            return None;
        };
        let other = self.table.occupants().find(|(other, _)| *other != seat)?.1.player;
        let foreign = GameId(self.next_id());
        let stranger = PlayerId(self.next_id());
        Some(match self.draw_in(0..8) {
            0 => Input::Act { player, game, prompt: prompt.wrapping_sub(1), action },
            1 => Input::Act { player, game: foreign, prompt, action },
            2 => Input::Act { player: stranger, game, prompt, action },
            3 => Input::AiAction { player, game, prompt, action },
            4 => Input::Ready { player, game, commitment: None },
            5 => Input::sit(player, "twice"),
            6 => Input::Settled { game },
            _ => Input::Disconnect { player: other, connection: ConnectionId(stranger.0) },
        })
    }

    /// Plans the players' reactions to an event.
    fn plan_reaction(&mut self, event: &Event<G::Event>) {
        match event {
            Event::Preparing { .. } => {
                for player in self.present_players(|_| true) {
                    self.schedule(player, Intention::Ready, THOUGHT_MS);
                }
            }
            Event::Presence { seat, connected: true } => {
                let intention = match self.table.phase() {
                    Phase::Preparing(_) => Some(Intention::Ready),
                    Phase::Revealing(revealing) if revealing.unrevealed_seats().contains(*seat) => {
                        Some(Intention::Reveal)
                    }
                    variants!(Phase: Waiting, Opening, Revealing, Playing, Settling) => None,
                };
                let player = self.table.occupant(*seat).map(|occupant| occupant.player);
                if let (Some(player), Some(intention)) = (player, intention) {
                    self.schedule(player, intention, THOUGHT_MS);
                }
            }
            Event::Revealing { .. } => {
                let Phase::Revealing(revealing) = self.table.phase() else { return };
                let unrevealed = revealing.unrevealed_seats();
                for player in self.present_players(|seat| unrevealed.contains(seat)) {
                    self.schedule(player, Intention::Reveal, REVEALED_MS);
                }
            }
            Event::Left { player, .. } => {
                self.intentions.remove(player);
            }
            _ => {}
        }
    }

    /// Returns the connected players at these seats.
    fn present_players(&self, is_asked: impl Fn(Seat) -> bool) -> Vec<PlayerId> {
        let occupants = self.table.occupants();
        let present = occupants.filter(|(_, occupant)| occupant.connection.is_some());
        present.filter(|(seat, _)| is_asked(*seat)).map(|(_, occupant)| occupant.player).collect()
    }

    /// Plans an answer of every prompted player who is present.
    fn plan_actions(&mut self) {
        let Phase::Playing(playing) = self.table.phase() else { return };
        let intention = Intention::Act { prompt: playing.prompt.number };
        let prompted: Vec<PlayerId> = playing
            .prompt
            .seats
            .iter()
            .filter_map(|seat| self.table.occupant(seat))
            .filter(|occupant| occupant.connection.is_some() && !occupant.left)
            .map(|occupant| occupant.player)
            .collect();
        for player in prompted {
            let known = self.intentions.get(&player).map(|(_, intention)| *intention);
            if known != Some(intention) && known != Some(Intention::Return) {
                self.schedule(player, intention, THOUGHT_MS);
            }
        }
    }

    /// Plans an intention of a player after a random time in this range, in milliseconds.
    fn schedule(
        &mut self,
        player: PlayerId,
        intention: Intention,
        after_ms: core::ops::Range<u32>,
    ) {
        let after_ms = self.draw_in(after_ms);
        self.intend_after_ms(after_ms, player, intention);
    }

    fn intend_after_ms(&mut self, ms: u32, player: PlayerId, intention: Intention) {
        self.intentions.insert(player, (self.now.after_ms(ms), intention));
    }

    fn next_id(&mut self) -> Uuid {
        self.ids += 1;
        Uuid::from_u64_pair(self.table.id().0.as_u64_pair().0, self.ids)
    }

    fn draw_below(&mut self, below: u32) -> u32 {
        u32::try_from(self.chance.below(below as usize)).expect("a draw below a 32-bit number fits")
    }

    fn draw_in(&mut self, range: core::ops::Range<u32>) -> u32 {
        range.start + self.draw_below(range.end - range.start)
    }

    fn is_drawn(&mut self, share: u32) -> bool {
        share > 0 && self.draw_below(1_000) < share
    }

    fn draw_bytes<const N: usize>(&mut self) -> [u8; N] {
        core::array::from_fn(|_| u8::try_from(self.draw_below(256)).expect("below 256"))
    }
}
