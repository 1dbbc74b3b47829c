//! The result of a game at its table: the settlement, the POT and the crown after it, and the
//! record.

use crate::coins::Coins;
use crate::game::{Game, GameRules, Outcome};
use crate::seat::SeatSet;
use crate::table::event::Crown;
use crate::table::id::PlayerId;
use crate::table::phase::Phase;
use crate::table::record::{FORMAT, Record};
use crate::table::settlement::{PotPayout, Settlement};
use crate::table::terms::Terms;
use crate::table::{Table, version};

/// The result of an outcome at a table: the settlement, and the POT and the crown after it.
#[derive(Clone, Debug)]
pub struct TableOutcome {
    pub settlement: Settlement,
    pub pot_after: Coins,
    pub crown_after: Option<Crown>,
}

impl TableOutcome {
    /// Computes the result by rules 6.7, 6.8 and chapter 7. Returns `None` if an amount does not
    /// fit.
    pub fn compute<G: Game>(
        outcome: &Outcome,
        terms: &Terms<G::Rules>,
        stakes: &[Coins],
        pot: Coins,
        crown: Option<Crown>,
        players: &[PlayerId],
    ) -> Option<Self> {
        let per_bet = terms.rules.counts_per_bet();
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

impl<G: Game> Table<G> {
    /// Creates the record of the game; `None` while the game is running or if an amount
    /// does not fit.
    pub(super) fn make_record(&self) -> Option<Record<G>> {
        let Phase::Playing(playing) = &self.phase else { return None };
        let outcome = playing.state.outcome()?;
        let players = self.players();
        let TableOutcome { settlement, pot_after, crown_after } = TableOutcome::compute::<G>(
            &outcome,
            &self.terms,
            &playing.stakes,
            self.pot,
            self.crown,
            &players,
        )?;
        Some(Record {
            format: FORMAT.into(),
            engine: version::engine_name(self.engine),
            kind: self.terms.rules.kind().into(),
            game: playing.game,
            table: self.id,
            terms: (*self.terms).clone(),
            players,
            bots: self.bots().intersection(SeatSet::first_seats(self.seats_in_game())),
            opened_at: playing.opened_at,
            finished_at: self.at,
            commitment: playing.server_seed.commitment(),
            server_seed: playing.server_seed,
            clients: playing.clients.to_vec(),
            starter: playing.starter,
            chance: (*playing.chance).clone(),
            actions: playing.actions.iter().cloned().collect(),
            outcome,
            stakes: playing.stakes.to_vec(),
            settlement,
            pot_before: self.pot,
            pot_after,
            crown_before: self.crown,
            crown_after,
        })
    }
}
