//! The settlement of a game: the payments of the losers, the fee, the release of the stakes, and
//! the payout of a won POT (rules 6.7, 6.8 and 7.2). The engine computes the settlement; it is
//! checked here against itself and against the books before any coin moves.

use bahay_engine::coins::Coins;
use bahay_engine::seat::Seat;
use bahay_engine::table::{Fee, GameId, PlayerId, Settlement, TableId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::Ledger;
use crate::books::{Books, FinishedGame, LedgerGame, Move};
use crate::canonical::{Document, to_canonical_json, to_canonical_json_with};
use crate::chart::{Account, Code};
use crate::error::{LedgerError, SettlementFault};
use crate::operation::{
    Accounts, Documents, Kind, Operation, accounts_of_game, check_name, check_players, check_time,
    seats_of,
};
use bahay_base::states::GameState;

/// The settlement of a finished game with its record. Its key is `settle:<game>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettleGame {
    pub game: GameId,
    pub table: TableId,
    pub room: String,
    /// The players by seat, as at the opening.
    pub players: Vec<PlayerId>,
    pub settlement: Settlement,
    /// The document from which anybody can verify the game. It is hashed with the other fields, in
    /// its sorted position.
    #[serde(skip)]
    pub record: Document,
    pub finished_at_ms: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettlementOutcome {
    /// By seat, the change by the game without the ante.
    pub net: Vec<Coins>,
    /// By seat, the balance of the wallet after the settlement.
    pub wallets: Vec<Coins>,
    /// The balance that stays in the POT.
    pub pot: Coins,
}

impl Operation for SettleGame {
    const KIND: Kind = Kind { name: "settle", irreversible: None };

    type Outcome = SettlementOutcome;

    fn key(&self) -> String {
        format!("settle:{}", self.game)
    }

    fn canonical_input(&self) -> Result<String, serde_json::Error> {
        to_canonical_json_with(self, "record", &self.record)
    }

    fn check(&self) -> Result<(), LedgerError> {
        check_name(&self.room)?;
        check_time(self.finished_at_ms)?;
        check_players(&self.players)
    }

    fn game(&self) -> Option<GameId> {
        Some(self.game)
    }

    fn accounts(&self) -> Accounts {
        let used = accounts_of_game(self.game, self.table, &self.players).collect();
        Accounts { used, house: vec![Account::Fee(self.room.clone())], ..Accounts::default() }
    }

    fn documents(&self) -> Option<Documents<'_>> {
        Some(Documents { settlement: &self.settlement, record: &self.record })
    }

    fn decide(&self, books: &mut Books) -> Result<SettlementOutcome, LedgerError> {
        let game = books.games.find_open(self.game)?;
        check_same(self, game)?;
        let pot = Account::Pot(self.table);
        let stakes: Vec<_> = seats_of(&self.players)
            .map(|(seat, _)| books.balance(&Account::Stake(self.game, seat)))
            .collect();
        if stakes != game.stakes {
            return Err(LedgerError::broken(format!(
                "the stakes of game {} are incomplete",
                self.game
            )));
        }
        let refuse = |fault| LedgerError::Settlement { game: self.game, fault };
        let plan =
            plan_settlement(&self.settlement, &stakes, books.balance(&pot)).map_err(refuse)?;

        let wallets_before = books.wallet_balances(&self.players);
        books.post(&build_moves(self, &plan))?;
        let wallets = books.wallet_balances(&self.players);
        check_wallets(&wallets_before, &wallets, &stakes, &plan.net)?;

        books.finish_game(
            self.game,
            FinishedGame {
                state: GameState::Settled,
                finished_at_ms: Some(self.finished_at_ms),
                void_reason: None,
                net: plan.net.clone(),
            },
        );
        Ok(SettlementOutcome { net: plan.net, wallets, pot: books.balance(&pot) })
    }
}

impl Ledger {
    /// Books a settlement and stores the game's record.
    pub async fn settle_game(&self, input: SettleGame) -> Result<SettlementOutcome, LedgerError> {
        self.submit(input).await
    }
}

/// The input of a settlement, as stored. The documents are not parsed into today's types, because a
/// field that a later version adds must not change the input of an earlier settlement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StoredSettlement {
    pub game: GameId,
    pub table: TableId,
    pub room: String,
    /// The players by seat.
    pub players: Vec<PlayerId>,
    pub settlement: Value,
    pub record: Value,
    pub finished_at_ms: i64,
}

/// Returns the SHA-256 that the operation `settle:<game>` has if its documents are unchanged.
pub fn settlement_hash(stored: &StoredSettlement) -> [u8; 32] {
    let input = to_canonical_json(stored).expect("writing to memory succeeds");
    Sha256::digest(input).into()
}

fn check_same(input: &SettleGame, game: &LedgerGame) -> Result<(), LedgerError> {
    let parts = [
        ("table", input.table == game.table),
        ("room", input.room == game.room),
        ("players", input.players == game.players),
    ];
    match parts.into_iter().find(|(_, is_same)| !is_same) {
        Some((what, _)) => Err(LedgerError::GameDiffers { game: input.game, what }),
        None => Ok(()),
    }
}

/// A validated settlement.
struct SettlementPlan {
    /// By seat, the rest of the stake.
    left: Vec<Coins>,
    /// By seat, the change by the game without the ante.
    net: Vec<Coins>,
}

/// Checks a settlement against the stakes and the POT that must cover it.
fn plan_settlement(
    settlement: &Settlement,
    stakes: &[Coins],
    pot: Coins,
) -> Result<SettlementPlan, SettlementFault> {
    let mut left = stakes.to_vec();
    let mut received = vec![Coins::ZERO; stakes.len()];
    for payment in &settlement.payments {
        let from = payment.from;
        let to = payment.to;
        let paid = payment.paid;
        if from == to {
            return Err(SettlementFault::PaysItself { seat: from });
        }
        if paid.is_negative() || paid > payment.owed {
            return Err(SettlementFault::AmountInvalid);
        }
        let stake_left = amount_at(&mut left, from)?;
        *stake_left = stake_left.checked_sub(paid).ok_or(SettlementFault::Overflow)?;
        let sum = amount_at(&mut received, to)?;
        *sum = sum.checked_add(paid).ok_or(SettlementFault::Overflow)?;
    }
    for (seat, (left, stake)) in Seat::all(seat_count(stakes)).zip(left.iter().zip(stakes)) {
        if left.is_negative() {
            let paid = stake.checked_sub(*left).ok_or(SettlementFault::Overflow)?;
            return Err(SettlementFault::StakeExceeded { seat, stake: *stake, paid });
        }
    }
    check_fees(settlement, &received)?;
    if let Some(payout) = settlement.pot {
        amount_at(&mut received, payout.seat)?;
        if payout.amount != pot {
            return Err(SettlementFault::PotDiffers { pot, paid: payout.amount });
        }
    }
    let net = check_conserved(settlement, seat_count(stakes))?;
    Ok(SettlementPlan { left, net })
}

/// Checks that each seat's fees are computed on exactly the amount that the seat received, once.
fn check_fees(settlement: &Settlement, received: &[Coins]) -> Result<(), SettlementFault> {
    let mut gross = vec![Coins::ZERO; received.len()];
    for fee in &settlement.fees {
        let sum = amount_at(&mut gross, fee.seat)?;
        *sum = sum.checked_add(fee.gross).ok_or(SettlementFault::Overflow)?;
        if fee.gross.is_negative() || fee.fee.is_negative() {
            return Err(SettlementFault::AmountInvalid);
        }
        if fee.fee > fee.gross {
            let Fee { seat, gross, fee } = *fee;
            return Err(SettlementFault::FeeExceedsGross { seat, gross, fee });
        }
    }
    for (seat, (received, gross)) in
        Seat::all(seat_count(received)).zip(received.iter().zip(&gross))
    {
        if received != gross {
            let [received, gross] = [*received, *gross];
            return Err(SettlementFault::GrossDiffers { seat, received, gross });
        }
    }
    Ok(())
}

/// Checks that the net results and the fees sum to the POT's payout, to the hundredth. Returns the
/// net results.
fn check_conserved(settlement: &Settlement, seats: u8) -> Result<Vec<Coins>, SettlementFault> {
    let net: Option<Vec<_>> = Seat::all(seats).map(|seat| settlement.net(seat)).collect();
    let net = net.ok_or(SettlementFault::Overflow)?;
    let fees = settlement.fees.iter().map(|fee| fee.fee);
    let sum = Coins::checked_sum(net.iter().copied().chain(fees));
    let pot = settlement.pot.map_or(Coins::ZERO, |payout| payout.amount);
    if sum.ok_or(SettlementFault::Overflow)? != pot {
        return Err(SettlementFault::NotConserved);
    }
    Ok(net)
}

fn amount_at(amounts: &mut [Coins], seat: Seat) -> Result<&mut Coins, SettlementFault> {
    amounts.get_mut(seat.index()).ok_or(SettlementFault::SeatUnknown { seat })
}

fn seat_count(amounts: &[Coins]) -> u8 {
    u8::try_from(amounts.len()).unwrap_or(u8::MAX)
}

/// Returns the transfers in the order in which a player would list them. Amounts of zero are
/// omitted: a loser whose stake is used up pays the next receiver nothing.
fn build_moves(input: &SettleGame, plan: &SettlementPlan) -> Vec<Move> {
    let SettleGame { game, table, room, players, settlement, .. } = input;
    let wallet = |seat: Seat| Account::Wallet(players[seat.index()]);
    let stake = |seat: Seat| Account::Stake(*game, seat);
    let payments = settlement.payments.iter().map(|payment| Move {
        code: Code::Payment,
        source: stake(payment.from),
        destination: wallet(payment.to),
        amount: payment.paid,
    });
    let fees = settlement.fees.iter().map(|fee| Move {
        code: Code::Fee,
        source: wallet(fee.seat),
        destination: Account::Fee(room.clone()),
        amount: fee.fee,
    });
    let releases = seats_of(players).zip(&plan.left).map(|((seat, player), left)| Move {
        code: Code::Release,
        source: stake(seat),
        destination: Account::Wallet(player),
        amount: *left,
    });
    let pot = settlement.pot.iter().map(|payout| Move {
        code: Code::Pot,
        source: Account::Pot(*table),
        destination: wallet(payout.seat),
        amount: payout.amount,
    });
    payments.chain(fees).chain(releases).chain(pot).filter(|one| !one.amount.is_zero()).collect()
}

/// Checks the result of the booking, as the counterpart of [`check_conserved`]: each wallet has
/// grown by its stake and its net result, so every stake is empty and no coin is missing.
fn check_wallets(
    before: &[Coins],
    after: &[Coins],
    stakes: &[Coins],
    net: &[Coins],
) -> Result<(), LedgerError> {
    let expected = before.iter().zip(stakes).zip(net);
    let expected: Option<Vec<_>> = expected
        .map(|((before, stake), net)| before.checked_add(*stake)?.checked_add(*net))
        .collect();
    if expected.as_deref() != Some(after) {
        return Err(LedgerError::broken("the wallets do not match the settlement"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{SettleGame, StoredSettlement, plan_settlement, settlement_hash};
    use crate::canonical::Document;
    use crate::error::SettlementFault;
    use crate::operation::Request;
    use bahay_engine::coins::Coins;
    use bahay_engine::seat::Seat;
    use bahay_engine::table::{Fee, GameId, Payment, PlayerId, PotPayout, Settlement, TableId};
    use serde_json::{Value, json};
    use sha2::{Digest as _, Sha256};
    use uuid::Uuid;

    fn coins(hundredths: i64) -> Coins {
        Coins::from_hundredths(hundredths)
    }

    fn seat(number: u8) -> Seat {
        Seat::new(number).unwrap()
    }

    fn payment(from: u8, to: u8, paid: i64) -> Payment {
        let owed = coins(300);
        let paid = coins(paid);
        Payment { from: seat(from), to: seat(to), items: Vec::new(), owed, paid }
    }

    fn fee(number: u8, gross: i64, fee: i64) -> Fee {
        Fee { seat: seat(number), gross: coins(gross), fee: coins(fee) }
    }

    /// The example of rule 6.10.
    fn settlement() -> Settlement {
        Settlement {
            winner: Some(seat(1)),
            payments: vec![payment(0, 1, 300), payment(2, 1, 300)],
            fees: vec![fee(1, 600, 30)],
            pot: Some(PotPayout { seat: seat(1), amount: coins(600) }),
        }
    }

    fn check(change: impl FnOnce(&mut Settlement), expected: Result<[i64; 3], SettlementFault>) {
        let mut settlement = settlement();
        change(&mut settlement);
        let plan = plan_settlement(&settlement, &[coins(1400), coins(50), coins(300)], coins(600));
        let net = plan.map(|plan| plan.net);
        assert_eq!(net, expected.map(|net| net.map(coins).to_vec()));
    }

    #[test]
    fn a_settlement_is_accepted_or_rejected_as_a_whole() {
        use SettlementFault::{
            AmountInvalid, FeeExceedsGross, GrossDiffers, Overflow, PaysItself, PotDiffers,
            SeatUnknown, StakeExceeded,
        };
        let one = seat(1);
        let two = seat(2);
        check(|_| {}, Ok([-300, 1170, -300]));
        check(|it| it.pot = None, Ok([-300, 570, -300]));
        check(|it| it.payments[0].to = seat(5), Err(SeatUnknown { seat: seat(5) }));
        check(|it| it.payments[0].from = one, Err(PaysItself { seat: one }));
        check(|it| it.payments[0].paid = coins(-1), Err(AmountInvalid));
        check(|it| it.payments[0].paid = coins(301), Err(AmountInvalid));
        let exceeded = StakeExceeded { seat: two, stake: coins(300), paid: coins(600) };
        check(|it| it.payments[0].from = two, Err(exceeded));
        let differs = GrossDiffers { seat: one, received: coins(600), gross: coins(599) };
        check(|it| it.fees[0].gross = coins(599), Err(differs));
        let differs = GrossDiffers { seat: one, received: coins(600), gross: coins(0) };
        check(|it| it.fees.clear(), Err(differs));
        let exceeds = FeeExceedsGross { seat: one, gross: coins(600), fee: coins(601) };
        check(|it| it.fees[0].fee = coins(601), Err(exceeds));
        check(|it| it.fees[0].fee = coins(-1), Err(AmountInvalid));
        let pot = |amount| Some(PotPayout { seat: one, amount: coins(amount) });
        let differs = PotDiffers { pot: coins(600), paid: coins(599) };
        check(|it| it.pot = pot(599), Err(differs));
        let huge = Payment { owed: coins(i64::MAX), ..payment(0, 1, i64::MAX) };
        check(|it| it.payments.extend([huge.clone(), huge]), Err(Overflow));
    }

    const IDS: [Uuid; 4] =
        [Uuid::from_u128(1), Uuid::from_u128(2), Uuid::from_u128(3), Uuid::from_u128(4)];

    fn settle_game(record: &Value) -> SettleGame {
        let [game, table, one, two] = IDS;
        SettleGame {
            game: GameId(game),
            table: TableId(table),
            room: "newbie".into(),
            players: vec![PlayerId(one), PlayerId(two)],
            settlement: Settlement::default(),
            record: Document::canonicalize(record).unwrap(),
            finished_at_ms: 1_750_000_000_000,
        }
    }

    /// Hashes are stored, so a later version must compute the same ones.
    #[test]
    fn the_record_is_hashed_in_its_sorted_position() {
        let [game, table, one, two] = IDS;
        let text = format!(
            "{{\"finished_at_ms\":1750000000000,\"game\":\"{game}\",\
            \"players\":[\"{one}\",\"{two}\"],\"record\":{{\"a\":[2],\"b\":1}},\
            \"room\":\"newbie\",\"settlement\":{{\"fees\":[],\"payments\":[],\"pot\":null,\
            \"winner\":null}},\"table\":\"{table}\"}}"
        );
        let expected: [u8; 32] = Sha256::digest(text).into();
        let request = Request::new(settle_game(&json!({ "b": 1, "a": [2] }))).unwrap();
        assert_eq!(request.input_hash, expected);
    }

    #[test]
    fn stored_documents_reproduce_the_input_hash() {
        let record = json!({ "kind": "tongits", "actions": [] });
        let input = settle_game(&record);
        let stored = StoredSettlement {
            game: input.game,
            table: input.table,
            room: input.room.clone(),
            players: input.players.clone(),
            settlement: serde_json::to_value(&input.settlement).unwrap(),
            record,
            finished_at_ms: input.finished_at_ms,
        };
        let request = Request::new(input).unwrap();
        assert_eq!(settlement_hash(&stored), request.input_hash);
    }
}
