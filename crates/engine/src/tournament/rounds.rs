//! Tournaments by rounds: stages, groups, tables, byes and cuts (chapters 2, 3 and 5).

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::chance::ServerSeed;
use crate::coins::Coins;
use crate::tournament::Tournament;
use crate::tournament::duplicate::{SCORE_EVEN, score_deal};
use crate::tournament::entrant::{Entrant, EntrantState, Standing};
use crate::tournament::event::{Event, GroupMember};
use crate::tournament::lots::{self, Purpose};
use crate::tournament::phase::Phase;
use crate::tournament::seating::{WaitingPlayer, balance_seats, seat_everybody};
use crate::tournament::tables::Tables;
use crate::tournament::terms::Stage;

impl Tournament {
    /// Starts the first stage that is not skipped: a stage whose cut would eliminate nobody is
    /// (rule 3.2).
    pub(super) fn start_first_stage(&mut self, events: &mut Vec<Event>) {
        let entered = self.entrants.entered();
        let stages = self.terms.stages();
        let is_played = |stage: &Stage| stage.advance == 0 || stage.advance < entered;
        let first = stages.iter().position(is_played).unwrap_or(0);
        self.start_stage(u32::try_from(first).unwrap_or(0), events);
    }

    /// Draws the groups of a stage (rule 3.2).
    fn start_stage(&mut self, index: u32, events: &mut Vec<Event>) {
        self.stage = index;
        self.round_of_stage = 0;
        let places = self.draw(Purpose::Group, index + 1, self.places_where(Entrant::takes_part));
        let seats = usize::from(self.terms.game.seats);
        let wanted = self.current_stage().groups as usize;
        let count = wanted.min(places.len() / seats).max(1);
        self.group_sizes = vec![0; count];
        let mut groups = vec![Vec::new(); count];
        for (number, place) in places.into_iter().enumerate() {
            let group = number % count;
            groups[group].push(self.at_place(place).player);
            self.group_sizes[group] += 1;
            let entrant = self.at_place_mut(place);
            entrant.group = u32::try_from(group).unwrap_or(0);
            entrant.standing = Standing { stage: index, score: 0, ..entrant.standing };
        }
        events.push(Event::StageStarted { stage: index + 1, groups });
    }

    fn current_stage(&self) -> Stage {
        self.terms.stages()[self.stage as usize]
    }

    fn group_count(&self) -> u32 {
        u32::try_from(self.group_sizes.len()).expect("the number of groups is bounded")
    }

    /// Orders entrants by lot (rule 2.3).
    fn draw(&self, purpose: Purpose, number: u32, mut places: Vec<u32>) -> Vec<u32> {
        let lot = |place: &u32| {
            lots::lot(&self.seed, self.id, purpose, number, self.at_place(*place).player)
        };
        places.sort_by_cached_key(lot);
        places
    }

    /// Adds a late entrant to the smallest group, of equal ones to the first (rule 1.5).
    pub(super) fn join_group(&mut self, place: u32, events: &mut Vec<Event>) {
        let sizes = (0..).zip(&mut self.group_sizes);
        let Some((group, size)) = sizes.min_by_key(|(_, size)| **size) else { return };
        *size += 1;
        let stage = self.stage;
        let entrant = self.at_place_mut(place);
        entrant.group = group;
        entrant.standing = Standing { stage, score: 0, ..entrant.standing };
        let members = vec![GroupMember { player: entrant.player, group }];
        events.push(Event::Joined { members });
    }

    /// Seats the tables of the next round (rules 2.4 and 2.5).
    pub(super) fn start_round(&mut self, events: &mut Vec<Event>) {
        let stage = self.current_stage();
        self.round += 1;
        self.round_of_stage += 1;
        self.last_table = 0;
        if self.round_of_stage == stage.rounds && self.pool.is_none() {
            self.close_registration(events);
        }
        let seats = usize::from(self.terms.game.seats);
        let mut tables = Vec::new();
        let mut byes = Vec::new();
        for group in 0..self.group_count() {
            let is_member = |entrant: &Entrant| entrant.takes_part() && entrant.group == group;
            let mut members = self.draw(Purpose::Seat, self.round, self.places_where(is_member));
            let without = members.len() % seats;
            let mut order = members.clone();
            order.sort_by_key(|place| self.at_place(*place).byes);
            byes.extend_from_slice(&order[..without]);
            members.retain(|place| !order[..without].contains(place));
            tables.extend(self.seat_members(&members, seats));
        }
        for place in &byes {
            self.at_place_mut(*place).byes += 1;
        }
        let round = self.round;
        let seated = self.seat_tables(round, tables, stage.games);
        self.phase = Phase::Round;
        self.byes = byes;
        let byes = self.players(&self.byes);
        let commitments = self.deal_seeds(round, stage.games);
        let commitments = commitments.iter().map(ServerSeed::commitment).collect();
        events.push(Event::Seated { round, tables: seated, byes, commitments });
    }

    fn seat_members(&self, members: &[u32], seats: usize) -> Vec<Vec<u32>> {
        let waiting: Vec<WaitingPlayer<'_>> =
            members.iter().map(|place| self.waiting_player(*place, false)).collect();
        let tables = seat_everybody(&waiting, seats);
        let counts = |place: u32, seat: usize| self.at_place(place).seat_counts[seat];
        tables.iter().map(|table| balance_seats(table, counts)).collect()
    }

    pub(super) fn waiting_player(&self, place: u32, accepts_recent: bool) -> WaitingPlayer<'_> {
        let entrant = self.at_place(place);
        WaitingPlayer {
            entrant: place,
            conflict_keys: &entrant.conflict_keys,
            recent: &entrant.recent,
            accepts_recent,
        }
    }

    /// Scores the round, and goes on with the next round, the cut, or the end.
    pub(super) fn finish_round(&mut self, events: &mut Vec<Event>) {
        let stage = self.current_stage();
        let round = self.round;
        if self.has_shared_deals() {
            self.score_duplicate_round(stage.games);
        }
        self.tables = Tables::default();
        let seeds = self.deal_seeds(round, stage.games);
        events.push(Event::RoundEnded { round, seeds });
        if self.round_of_stage >= stage.rounds {
            if stage.advance == 0 {
                self.end(events);
                return;
            }
            self.cut(stage, events);
            self.start_stage(self.stage + 1, events);
        }
        self.phase = Phase::Break { until: self.at.after_ms(self.terms.break_ms) };
    }

    /// Compares the tables of a round, deal by deal, and counts their points, which say nothing
    /// about the cards from here on (rule 5.7). A player who has not played a deal has an even score
    /// (rule 5.4).
    fn score_duplicate_round(&mut self, games: u32) {
        let mut points: BTreeMap<u32, Coins> = BTreeMap::new();
        for table in self.tables.iter() {
            for row in table.points.iter().flatten() {
                for (place, won) in table.entrants.iter().zip(row) {
                    let sum = points.entry(*place).or_default();
                    *sum = sum.checked_add(*won).expect("scores are bounded");
                }
            }
        }
        let even = i64::from(SCORE_EVEN) * i64::from(games);
        let tables = self.tables.iter().flat_map(|table| &table.entrants);
        let mut scores: BTreeMap<u32, i64> =
            tables.chain(&self.byes).map(|place| (*place, even)).collect();
        for game in 0..games as usize {
            let tables = self.tables.iter();
            let (entrants, points): (Vec<&Vec<u32>>, Vec<&Vec<Coins>>) = tables
                .filter_map(|table| Some((&table.entrants, table.points[game].as_ref()?)))
                .unzip();
            let rows: Vec<&[Coins]> = points.into_iter().map(Vec::as_slice).collect();
            for (entrants, row) in entrants.into_iter().zip(score_deal(&rows)) {
                for (place, score) in entrants.iter().zip(row) {
                    *scores.entry(*place).or_default() += i64::from(score) - i64::from(SCORE_EVEN);
                }
            }
        }
        for (place, score) in scores {
            self.at_place_mut(place).standing.score += score;
        }
        for (place, points) in points {
            self.at_place_mut(place).standing.add_points(points);
        }
    }

    /// Makes the cut of a stage: the best of each group advance, equal scores by lot, and the others
    /// have their places (rules 3.3 to 3.5).
    fn cut(&mut self, stage: Stage, events: &mut Vec<Event>) {
        if self.pool.is_none() {
            self.close_registration(events);
        }
        let mut advanced = Vec::new();
        let mut eliminated = Vec::new();
        let groups = self.group_count();
        for group in 0..groups {
            let is_member = |entrant: &Entrant| entrant.takes_part() && entrant.group == group;
            let mut members = self.draw(Purpose::Cut, self.stage + 1, self.places_where(is_member));
            members.sort_by_key(|place| Reverse(self.at_place(*place).standing.score));
            let quota = stage.advance / groups + u32::from(group < stage.advance % groups);
            let quota = (quota as usize).min(members.len());
            advanced.extend_from_slice(&members[..quota]);
            eliminated.extend_from_slice(&members[quota..]);
        }
        for place in &eliminated {
            self.entrants.set_state(*place, EntrantState::Eliminated);
        }
        self.rank(&mut eliminated);
        let stage = self.stage + 1;
        let lost = self.players(&eliminated);
        let persons = advanced.iter().filter(|place| !self.at_place(**place).is_bot).count();
        events.push(Event::Cut { stage, advanced: self.players(&advanced), eliminated: lost });
        self.give_places(eliminated, persons, events);
    }
}
