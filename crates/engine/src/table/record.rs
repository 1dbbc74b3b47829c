//! The record of a finished game, from which anybody can verify its deal, every action and its
//! settlement without this code.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::chance::{ChanceAnswer, Commitment, Contribution, ServerSeed};
use crate::coins::Coins;
use crate::game::{Game, GameKind, Outcome};
use crate::seat::{Seat, SeatSet};
use crate::table::event::Crown;
use crate::table::id::{GameId, PlayerId, TableId};
use crate::table::phase::Playing;
use crate::table::settlement::{PotPayout, Settlement};
use crate::table::terms::Terms;
use crate::table::time::Timestamp;
use crate::table::{Table, version};

/// The version of the record's format.
pub const FORMAT: &str = "bahay/record/v1";

/// The origin of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionOrigin {
    Player,
    Clock,
    Ai,
}

/// An action of a game, as it was played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedAction<A> {
    pub at: Timestamp,
    pub seat: Seat,
    pub by: ActionOrigin,
    pub action: A,
}

/// The record of a finished game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = "G: GameKind"), deny_unknown_fields)]
pub struct Record<G: Game> {
    pub format: String,
    /// The version of the engine that played the game, such as `bahay/engine/v1`.
    pub engine: String,
    /// The game's name, such as `tongits`.
    pub kind: String,
    pub game: GameId,
    pub table: TableId,
    pub terms: Terms<G::Rules>,
    /// The players by seat.
    pub players: Vec<PlayerId>,
    /// The seats of the house bots (rule 8.6).
    pub bots: SeatSet,
    pub opened_at: Timestamp,
    pub finished_at: Timestamp,
    /// The commitment to the server seed.
    pub commitment: Commitment,
    pub server_seed: ServerSeed,
    /// By seat, the commitment and the revealed text of each client, and the seed of the deal.
    pub clients: Vec<Contribution>,
    /// The seat that began because of an earlier win; `None` if chance decided (rule 2.2).
    pub starter: Option<Seat>,
    /// The answers of chance in order; for a card game they include the deck.
    pub chance: Vec<ChanceAnswer>,
    pub actions: Vec<RecordedAction<G::Action>>,
    pub outcome: Outcome,
    /// The coins that the ledger held for each seat.
    pub stakes: Vec<Coins>,
    pub settlement: Settlement,
    /// The POT including this game's antes.
    pub pot_before: Coins,
    pub pot_after: Coins,
    /// The crown before the game.
    pub crown_before: Option<Crown>,
    pub crown_after: Option<Crown>,
}

/// The result of an outcome at a table: the settlement, and the POT and the crown after it.
pub(crate) struct TableOutcome {
    pub(crate) settlement: Settlement,
    pub(crate) pot_after: Coins,
    pub(crate) crown_after: Option<Crown>,
}

impl TableOutcome {
    /// Computes the result by rules 6.7, 6.8 and chapter 7. Returns `None` if an amount does not
    /// fit.
    pub(crate) fn compute<G: Game>(
        outcome: &Outcome,
        terms: &Terms<G::Rules>,
        stakes: &[Coins],
        pot: Coins,
        crown: Option<Crown>,
        players: &[PlayerId],
    ) -> Option<Self> {
        let per_bet = G::counts_per_bet(&terms.rules);
        let settle =
            |bonus, payout| Settlement::new(outcome, &terms.price, per_bet, stakes, bonus, payout);
        let Some((hits, seat)) = terms.hits.zip(outcome.winner) else {
            // Without a winner the POT remains and no crown moves (rule 5.3).
            let crown_after = crown.filter(|_| terms.hits.is_some());
            return Some(Self { settlement: settle(0, None)?, pot_after: pot, crown_after });
        };
        let crown = Crown::after_win(crown, *players.get(seat.index())?);
        let takes_pot = crown.wins >= hits.to_win || outcome.takes_pot;
        if takes_pot {
            let settlement = settle(0, Some(PotPayout { seat, amount: pot }))?;
            return Some(Self { settlement, pot_after: Coins::ZERO, crown_after: None });
        }
        let bonus = if crown.wins == 2 { hits.second_hit_bonus } else { 0 };
        Some(Self { settlement: settle(bonus, None)?, pot_after: pot, crown_after: Some(crown) })
    }
}

impl<G: Game> Record<G> {
    /// Creates the record of the table's game; `None` while the game is running or if an amount
    /// does not fit.
    pub(super) fn from_table(table: &Table<G>, playing: &Playing<G>) -> Option<Self> {
        let outcome = playing.state.outcome()?;
        let players = table.players();
        let TableOutcome { settlement, pot_after, crown_after } = TableOutcome::compute::<G>(
            &outcome,
            &table.terms,
            &playing.stakes,
            table.pot,
            table.crown,
            &players,
        )?;
        Some(Self {
            format: FORMAT.into(),
            engine: version::engine_name(table.engine),
            kind: G::kind(&table.terms.rules).into(),
            game: playing.game,
            table: table.id,
            terms: (*table.terms).clone(),
            players,
            bots: table.bots().intersection(SeatSet::first(table.seats_in_game())),
            opened_at: playing.opened_at,
            finished_at: table.at,
            commitment: playing.server_seed.commitment(),
            server_seed: playing.server_seed,
            clients: playing.clients.to_vec(),
            starter: playing.starter,
            chance: (*playing.chance).clone(),
            actions: playing.actions.iter().cloned().collect(),
            outcome,
            stakes: playing.stakes.to_vec(),
            settlement,
            pot_before: table.pot,
            pot_after,
            crown_before: table.crown,
            crown_after,
        })
    }
}
