//! The view model: everything that an app shows, as texts and numbers.

use bahay_client::{
    Action, ActionRefusal, ActionScreen, Countdown, PaymentScreen, PlayerWallet, PromptScreen,
    Screen, ScreenLine, SeatBadge, SeatScreen, SettlementScreen, TableScreen,
};

/// Everything that an app shows. Amounts of coins are in hundredths, times in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct ScreenModel {
    /// The state of the connection as one word: `off`, `signing_in`, `connecting`, `joining`,
    /// `live`, `weak`, `pausing`, `replaced`, `signed_out` or `broken`.
    pub link: String,
    /// The time until the next attempt to connect, while the link is `pausing`.
    pub retry_in_ms: Option<i64>,
    /// The reason of `pausing`, `signed_out` or `broken`, for a log.
    pub link_reason: Option<String>,
    /// The name of the player who is signed in.
    pub player: Option<String>,
    pub table: Option<TableModel>,
    /// True while a search for a table runs.
    pub is_seeking: bool,
    /// The number of unread notices, if known.
    pub notices: Option<u32>,
    /// The player's coins, if the options ask for them.
    pub wallet: Option<WalletModel>,
}

/// The player's coins, in hundredths of a coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Record)]
pub struct WalletModel {
    /// The coins that can be spent.
    pub available: i64,
    /// The stakes held in running games.
    pub held: i64,
}

/// The player's table.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct TableModel {
    /// The id of the table.
    pub table: String,
    /// The game's name, such as `tongits`.
    pub kind: String,
    pub version: u64,
    /// False while the table may have changed: an app shows it as outdated.
    pub is_current: bool,
    /// `waiting`, `preparing`, `opening`, `revealing`, `playing` or `settling`.
    pub phase: String,
    pub seats: Vec<SeatModel>,
    /// The cards of the player's own hand, in the notation of the game.
    pub hand: Vec<String>,
    pub countdown: Option<CountdownModel>,
    /// The open prompt, if the player is to answer it.
    pub prompt: Option<PromptModel>,
    /// The player's legal actions; empty if others must act.
    pub actions: Vec<ActionModel>,
    /// The action that a bot would choose, at a practice table.
    pub hint: Option<ActionModel>,
    /// The balance of the POT.
    pub pot: i64,
    /// The view in words, line by line.
    pub lines: Vec<TableLine>,
    pub settlement: Option<SettlementModel>,
}

/// A seat of the table.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct SeatModel {
    /// The number of the seat, from 0.
    pub seat: u8,
    /// The player's name; `None` for a free seat.
    pub name: Option<String>,
    pub avatar: Option<String>,
    pub presence: SeatPresence,
    /// True for the seat of this client's player.
    pub is_own: bool,
    /// True if the table waits for this seat.
    pub is_prompted: bool,
    /// The number of wins in a row, if the seat has the crown.
    pub crown: Option<u8>,
}

/// The presence of a seat's player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum SeatPresence {
    /// The seat is free.
    Free,
    Present,
    /// A house bot plays.
    Bot,
    /// The player has lost the connection, and has time to come back.
    Reconnecting,
    /// The AI acts for the player, who is away, has left, or has missed countdowns.
    TakenOver,
}

/// A running countdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Record)]
pub struct CountdownModel {
    /// Its end, in the server's time.
    pub deadline_ms: i64,
    /// The remaining time; 0 if it has passed.
    pub left_ms: i64,
}

/// An open prompt, which `PlayerWish.Answer` names.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct PromptModel {
    /// The id of the game.
    pub game: String,
    /// The number of the prompt in the game.
    pub number: u32,
}

/// An action that the player can take.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct ActionModel {
    /// The action as JSON, for `PlayerWish.Answer`.
    pub json: String,
    /// The action in words, such as `dumps 2C`.
    pub words: String,
}

/// A line of the description of a table.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct TableLine {
    /// The seat that the line concerns.
    pub seat: Option<u8>,
    /// The label, such as `discards`.
    pub label: String,
    pub text: String,
}

/// The settlement of a game.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct SettlementModel {
    pub winner: Option<u8>,
    pub payments: Vec<PaymentModel>,
    pub pot: Option<PotPayout>,
}

/// The payout of the POT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Record)]
pub struct PotPayout {
    pub seat: u8,
    pub amount: i64,
}

/// A payment from one seat to another, before the fee.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct PaymentModel {
    /// The seat that pays.
    pub payer: u8,
    /// The seat that is paid.
    pub payee: u8,
    pub owed: i64,
    /// The part of it that the stake could pay.
    pub paid: i64,
    pub items: Vec<PaymentItem>,
}

/// A named item of a debt.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct PaymentItem {
    pub name: String,
    /// The number of its rule, such as `7.2`.
    pub rule: String,
    pub counts: u32,
}

/// The reason why an action is not legal.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct ActionRefusalModel {
    /// The stable code, in snake case, as in a refusal of the server.
    pub code: String,
    /// The number of the rule that decides, such as `3.6`.
    pub rule: String,
    /// A sentence in English.
    pub detail: String,
}

impl From<Screen> for ScreenModel {
    fn from(screen: Screen) -> Self {
        let Screen { link, retry_in_ms, link_reason, player, table, is_seeking, notices, wallet } =
            screen;
        Self {
            link: link.to_owned(),
            retry_in_ms,
            link_reason,
            player,
            table: table.map(TableModel::from),
            is_seeking,
            notices,
            wallet: wallet.map(|PlayerWallet { available, held }| WalletModel { available, held }),
        }
    }
}

impl From<TableScreen> for TableModel {
    fn from(table: TableScreen) -> Self {
        Self {
            table: table.table,
            kind: table.kind,
            version: table.version,
            is_current: table.is_current,
            phase: table.phase.to_owned(),
            seats: table.seats.into_iter().map(SeatModel::from).collect(),
            hand: table.hand,
            countdown: table
                .countdown
                .map(|Countdown { deadline_ms, left_ms }| CountdownModel { deadline_ms, left_ms }),
            prompt: table.prompt.map(PromptModel::from),
            actions: table.actions.into_iter().map(ActionModel::from).collect(),
            hint: table.hint.map(ActionModel::from),
            pot: table.pot,
            lines: table.lines.into_iter().map(TableLine::from).collect(),
            settlement: table.settlement.map(SettlementModel::from),
        }
    }
}

impl From<SeatScreen> for SeatModel {
    fn from(seat: SeatScreen) -> Self {
        let SeatScreen { seat, name, avatar, badge, is_own, is_prompted, crown } = seat;
        let presence = match badge {
            SeatBadge::Free => SeatPresence::Free,
            SeatBadge::Present => SeatPresence::Present,
            SeatBadge::Bot => SeatPresence::Bot,
            SeatBadge::Reconnecting => SeatPresence::Reconnecting,
            SeatBadge::TakenOver => SeatPresence::TakenOver,
        };
        Self { seat, name, avatar, presence, is_own, is_prompted, crown }
    }
}

impl From<PromptScreen> for PromptModel {
    fn from(PromptScreen { game, number }: PromptScreen) -> Self {
        Self { game, number }
    }
}

impl From<ActionScreen> for ActionModel {
    fn from(ActionScreen { json, words }: ActionScreen) -> Self {
        Self { json, words }
    }
}

impl ActionModel {
    /// Describes an action of any game.
    pub(crate) fn from_action(action: &Action) -> Self {
        ActionScreen::from_action(action).into()
    }
}

impl From<ScreenLine> for TableLine {
    fn from(ScreenLine { seat, label, text }: ScreenLine) -> Self {
        Self { seat, label, text }
    }
}

impl From<SettlementScreen> for SettlementModel {
    fn from(settlement: SettlementScreen) -> Self {
        let SettlementScreen { winner, payments, pot } = settlement;
        Self {
            winner,
            payments: payments.into_iter().map(PaymentModel::from).collect(),
            pot: pot.map(|(seat, amount)| PotPayout { seat, amount }),
        }
    }
}

impl From<PaymentScreen> for PaymentModel {
    fn from(payment: PaymentScreen) -> Self {
        let PaymentScreen { from: payer, to: payee, owed, paid, items } = payment;
        let items = items
            .into_iter()
            .map(|(name, rule, counts)| PaymentItem { name, rule, counts })
            .collect();
        Self { payer, payee, owed, paid, items }
    }
}

impl From<ActionRefusal> for ActionRefusalModel {
    fn from(ActionRefusal { code, rule, detail }: ActionRefusal) -> Self {
        Self { code: code.to_owned(), rule: rule.to_owned(), detail }
    }
}
