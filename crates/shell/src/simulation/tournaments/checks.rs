//! The checks at the end of a tournament: the journal replays, no coin is left, everybody has a
//! result, and the ledger, the passes, the games and the nodes agree with the journal.

use std::collections::{BTreeMap, BTreeSet};

use bahay_engine::table::{PlayerId, Timestamp};
use bahay_engine::testing::ANNOUNCED_MS;
use bahay_engine::tournament::{
    Direction, EntrantState, Event, Input, Payment, Phase, Tournament, Transfer, TransferKey,
};

use super::World;
use super::database::{Database, to_result};

/// The events of the journal, by what they say.
#[derive(Default)]
struct JournalEvents {
    transfers: Vec<Transfer>,
    /// The entries that passes pay.
    pass_entries: BTreeSet<(PlayerId, u32)>,
    placed: BTreeSet<PlayerId>,
}

impl World {
    /// Checks the run and returns its tournament.
    pub(super) fn check_end(&self) -> Result<Tournament, String> {
        let database = self.database.borrow();
        let (tournament, events) = self.replay(&database)?;
        check_transfers(&database, &events)?;
        check_passes(&database, &events)?;
        check_games(&database)?;
        check_results(&database, &tournament, &events)?;
        self.check_nodes(&database, &tournament)?;
        Ok(tournament)
    }

    /// Replays the journal, and compares the list of results with that of the nodes.
    fn replay(&self, database: &Database) -> Result<(Tournament, JournalEvents), String> {
        let mut tournament = self.announced.clone();
        let announced_at = Timestamp::from_ms(ANNOUNCED_MS);
        let mut results = to_result(announced_at, &tournament.announcement());
        let mut events = JournalEvents::default();
        for (version, line) in (1..).zip(&database.journal) {
            let refused = |rejection| format!("line {version} does not replay: {rejection}");
            for event in tournament.advance(line).map_err(refused)? {
                results.push_str(&to_result(line.at, &event));
                events.add(event);
            }
        }
        let is_equal = results == database.results;
        ensure(is_equal, || "the journal replays to other results".into())?;
        Ok((tournament, events))
    }

    fn check_nodes(&self, database: &Database, tournament: &Tournament) -> Result<(), String> {
        for slot in self.slots.borrow().iter() {
            let Some(node) = &slot.node else { continue };
            let Some(mut replica) = node.replica.borrow().clone() else { continue };
            let lines = database.read_lines(replica.version);
            replica.follow(&lines).map_err(|error| error.to_string())?;
            let is_equal = *replica.tournament == *tournament;
            ensure(is_equal, || format!("node {} has another tournament", node.slot))?;
        }
        Ok(())
    }
}

impl JournalEvents {
    fn add(&mut self, event: Event) {
        match event {
            Event::Transferred { transfer } => self.transfers.push(transfer),
            Event::Registered { player, number, payment: Payment::Pass, .. } => {
                self.pass_entries.insert((player, number));
            }
            Event::Placed { places } => {
                self.placed.extend(places.iter().map(|place| place.player));
            }
            _ => {}
        }
    }
}

/// Checks that the ledger has booked exactly the transfers of the journal, each once, and that its
/// account of the tournament is empty.
fn check_transfers(database: &Database, events: &JournalEvents) -> Result<(), String> {
    let mut noted = BTreeMap::new();
    for transfer in events.transfers.iter().filter(|one| one.payment != Payment::Pass) {
        let earlier = noted.insert(transfer.key, *transfer);
        ensure(earlier.is_none(), || format!("{} is noted twice", transfer.key))?;
    }
    ensure(noted == database.booked, || "the ledger has other transfers than the journal".into())?;
    let sum: i64 = database.booked.values().map(signed_amount).sum();
    ensure(sum == 0, || format!("the ledger's account has {sum}"))
}

/// Returns the amount by which a transfer changes the account of the tournament, in hundredths.
fn signed_amount(transfer: &Transfer) -> i64 {
    let amount = transfer.amount.hundredths();
    match transfer.key.direction() {
        Direction::FromPlayer | Direction::FromHouse => amount,
        Direction::ToPlayer | Direction::ToHouse => -amount,
    }
}

/// Checks that each registration by a pass holds one, and that those of returned entries are free.
fn check_passes(database: &Database, events: &JournalEvents) -> Result<(), String> {
    let held: BTreeSet<_> = database.passes.keys().copied().collect();
    ensure(held == events.pass_entries, || "other passes are held than registered by".into())?;
    let returned = events.transfers.iter().filter_map(|transfer| match transfer.key {
        TransferKey::Return { player, number } if transfer.payment == Payment::Pass => {
            Some((player, number))
        }
        _ => None,
    });
    let returned: BTreeSet<_> = returned.collect();
    let free = database.passes.iter().filter(|(_, is_free)| **is_free).map(|(entry, _)| *entry);
    ensure(free.eq(returned), || "other passes are free than returned".into())
}

/// Checks that each stored game is scored at most once, and marked by the line that scores it.
fn check_games(database: &Database) -> Result<(), String> {
    let mut scored = BTreeSet::new();
    for (version, line) in (1..).zip(&database.journal) {
        let Input::GameScored { table, game, scores } = &line.input else { continue };
        let name = || format!("game {game} of table {table}");
        ensure(scored.insert((*table, *game)), || format!("{} is scored twice", name()))?;
        let row = database.find_game(*table, *game);
        let row = row.ok_or_else(|| format!("{} is scored and not stored", name()))?;
        ensure(row.game.scores == *scores, || format!("{} has other scores", name()))?;
        let marked = row.scored_in;
        ensure(marked == Some(version), || {
            format!("{} is scored in {version} and marked in {marked:?}", name())
        })?;
    }
    let are_marked = database.games.values().all(|row| row.scored_in.is_some());
    ensure(are_marked, || "a stored game is not marked as scored".into())
}

/// Checks the account of the tournament, the places, and the prizes.
fn check_results(
    database: &Database,
    tournament: &Tournament,
    events: &JournalEvents,
) -> Result<(), String> {
    let balance = tournament.balance();
    ensure(balance.is_zero(), || format!("{balance} is left on the account"))?;
    ensure(tournament.is_settled(), || "a transfer is pending".into())?;
    if !matches!(tournament.phase(), Phase::Ended) {
        return Ok(());
    }
    for entrant in tournament.entrants().filter(|entrant| !entrant.is_bot) {
        let is_ranked = matches!(entrant.state(), EntrantState::Entered | EntrantState::Eliminated);
        let has_place = events.placed.contains(&entrant.player);
        ensure(is_ranked == has_place, || format!("{} has no result", entrant.name))?;
    }
    let is_prize = |transfer: &&Transfer| matches!(transfer.key, TransferKey::Place { .. });
    let prizes = database.booked.values().filter(is_prize);
    let prizes: i64 = prizes.map(|transfer| transfer.amount.hundredths()).sum();
    let pool = tournament.pool().map_or(0, |pool| pool.amount.hundredths());
    ensure(prizes == pool, || format!("prizes of {prizes} from a pool of {pool}"))
}

/// Returns a failure unless a condition holds.
fn ensure(holds: bool, failure: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(failure()) }
}
