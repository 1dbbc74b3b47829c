//! The void of an open game: every ante and every stake returns to its wallet.

use bahay_engine::coins::Coins;
use bahay_engine::table::{GameId, PlayerId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Ledger;
use crate::books::{Books, FinishedGame, Move};
use crate::chart::{Account, Code};
use crate::error::LedgerError;
use crate::operation::{Accounts, Kind, Operation, seats_of};
use bahay_base::entropy;
use bahay_base::reason::Reason;
use bahay_base::states::GameState;

/// The void of an open game that cannot be finished. Its key is `void:<game>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct VoidGame {
    game: GameId,
    /// The reason, which is not hashed: two nodes may void the same lost game with different words,
    /// and the first reason stays.
    #[serde(skip)]
    reason: Reason,
    /// The caller's id, which is not hashed either.
    #[serde(skip)]
    call: Uuid,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoidOutcome {
    /// The id of the call that voided the game. A later call gets the same answer.
    pub call: Uuid,
    /// The players by seat.
    pub players: Vec<PlayerId>,
    /// The ante that each seat got back out of the POT.
    pub ante: Coins,
    /// By seat, the stake that was released.
    pub stakes: Vec<Coins>,
    /// By seat, the balance of the wallet after the void.
    pub wallets: Vec<Coins>,
}

impl VoidGame {
    fn new(game: GameId, reason: &Reason) -> Self {
        Self { game, reason: reason.clone(), call: entropy::uuid() }
    }
}

impl Operation for VoidGame {
    const KIND: Kind = Kind {
        name: "void",
        irreversible: Some("an opening or a void cannot be reversed, only a settlement"),
    };

    type Outcome = VoidOutcome;

    fn key(&self) -> String {
        format!("void:{}", self.game)
    }

    fn game(&self) -> Option<GameId> {
        Some(self.game)
    }

    fn accounts(&self) -> Accounts {
        Accounts { of_booked_game: true, ..Accounts::default() }
    }

    fn decide(&self, books: &mut Books) -> Result<VoidOutcome, LedgerError> {
        let game = books.games.find_open(self.game)?;
        let ante = game.ante;
        let players = game.players.clone();
        let stakes = game.stakes.clone();
        let refunds = players.iter().map(|player| Move {
            code: Code::Refund,
            source: Account::Pot(game.table),
            destination: Account::Wallet(*player),
            amount: ante,
        });
        let releases = seats_of(&players).zip(&stakes).map(|((seat, player), stake)| Move {
            code: Code::Release,
            source: Account::Stake(self.game, seat),
            destination: Account::Wallet(player),
            amount: *stake,
        });
        let moves: Vec<_> =
            refunds.filter(|refund| !refund.amount.is_zero()).chain(releases).collect();
        books.post(&moves)?;
        let net = vec![Default::default(); players.len()];
        books.finish_game(
            self.game,
            FinishedGame {
                state: GameState::Voided,
                finished_at_ms: None,
                void_reason: Some(self.reason.to_string()),
                net,
            },
        );
        let wallets = books.wallet_balances(&players);
        Ok(VoidOutcome { call: self.call, players, ante, stakes, wallets })
    }
}

impl Ledger {
    /// Voids an open game: antes and stakes return to the wallets. `reason` is text for people.
    pub async fn void_game(
        &self,
        game: GameId,
        reason: &Reason,
    ) -> Result<VoidOutcome, LedgerError> {
        self.run_single(VoidGame::new(game, reason)).await
    }

    /// Voids an open game like [`Ledger::void_game`]. Returns whether this call voided it, and not
    /// an earlier one.
    pub async fn void_game_first(
        &self,
        game: GameId,
        reason: &Reason,
    ) -> Result<bool, LedgerError> {
        let void = VoidGame::new(game, reason);
        let call = void.call;
        Ok(self.run_single(void).await?.call == call)
    }
}

#[cfg(test)]
mod tests {
    use super::VoidGame;
    use crate::operation::Request;
    use bahay_engine::table::GameId;
    use uuid::Uuid;

    #[test]
    fn the_reason_of_a_void_is_not_compared() {
        let request = |reason: &str| {
            Request::new(VoidGame::new(GameId(Uuid::nil()), &reason.parse().unwrap())).unwrap()
        };
        let lost = request("live state lost");
        assert_eq!(lost.input_hash, request("its table was lost").input_hash);
        assert_eq!(lost.key, format!("void:{}", Uuid::nil()));
    }
}
