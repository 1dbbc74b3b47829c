//! The view model: the state as texts and numbers that a screen shows and a binding to another
//! language can export. Everything is derived from [`State`] and the time; nothing is stored.

use bahay_engine::catalog::AnyGame;
use bahay_engine::game::{Describe, Game, Piece, Refusal, Row};
use bahay_engine::seat::Seat;
use bahay_engine::table::{PhaseView, SeatView, Settlement, TableView, Timestamp};
use bahay_shell::catch_panic;

use crate::rest::PlayerWallet;
use crate::state::{Action, Link, State, TableState};

/// The label of a hand in a game's description of its view.
const HAND: &str = "hand";

/// Everything that an app shows. Amounts of coins are in hundredths, times in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screen {
    /// The state of the connection as one word: `off`, `signing_in`, `connecting`, `joining`,
    /// `live`, `weak`, `pausing`, `replaced`, `signed_out` or `broken`.
    pub link: &'static str,
    /// The time until the next attempt to connect, while the link is `pausing`.
    pub retry_in_ms: Option<i64>,
    /// The reason of `pausing`, `signed_out` or `broken`, for a log.
    pub link_reason: Option<String>,
    /// The name of the player who is signed in.
    pub player: Option<String>,
    pub table: Option<TableScreen>,
    /// True while a search for a table runs.
    pub is_seeking: bool,
    /// The number of unread notices, if known.
    pub notices: Option<u32>,
    pub wallet: Option<PlayerWallet>,
}

/// The player's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableScreen {
    /// The id of the table.
    pub table: String,
    /// The game's name, such as `tongits`.
    pub kind: String,
    pub version: u64,
    /// False while the table may have changed: an app shows it as outdated.
    pub is_current: bool,
    /// `waiting`, `preparing`, `opening`, `revealing`, `playing` or `settling`.
    pub phase: &'static str,
    pub seats: Vec<SeatScreen>,
    /// The cards of the player's own hand, in the notation of the game.
    pub hand: Vec<String>,
    pub countdown: Option<Countdown>,
    /// The open prompt, if the player is to answer it.
    pub prompt: Option<PromptScreen>,
    /// The player's legal actions; empty if others must act.
    pub actions: Vec<ActionScreen>,
    /// The action that a bot would choose, at a practice table.
    pub hint: Option<ActionScreen>,
    /// The balance of the POT.
    pub pot: i64,
    /// The view in words, line by line.
    pub lines: Vec<ScreenLine>,
    pub settlement: Option<SettlementScreen>,
}

/// A seat of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatScreen {
    /// The number of the seat, from 0.
    pub seat: u8,
    /// The player's name; `None` for a free seat.
    pub name: Option<String>,
    pub avatar: Option<String>,
    pub badge: SeatBadge,
    /// True for the seat of this client's player.
    pub is_own: bool,
    /// True if the table waits for this seat.
    pub is_prompted: bool,
    /// The number of wins in a row, if the seat has the crown.
    pub crown: Option<u8>,
}

/// The presence of a seat's player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatBadge {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Countdown {
    /// Its end, in the server's time.
    pub deadline_ms: i64,
    /// The remaining time; 0 if it has passed.
    pub left_ms: i64,
}

/// An open prompt, which an answer names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptScreen {
    /// The id of the game.
    pub game: String,
    /// The number of the prompt in the game.
    pub number: u32,
}

/// An action that the player can take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionScreen {
    /// The action as JSON, for [`ClientCore::read_action`].
    ///
    /// [`ClientCore::read_action`]: crate::ClientCore::read_action
    pub json: String,
    /// The action in words, such as `dumps 2C`.
    pub words: String,
}

impl ActionScreen {
    /// Describes an action of any game.
    pub fn from_action(action: &Action) -> Self {
        let pieces = catch_panic(|| AnyGame::describe_action(action)).unwrap_or_default();
        let json = serde_json::to_string(action).unwrap_or_default();
        Self { json, words: join_pieces(&pieces) }
    }
}

/// A line of the description of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreenLine {
    /// The seat that the line concerns.
    pub seat: Option<u8>,
    /// The label, such as `discards`.
    pub label: String,
    pub text: String,
}

/// The settlement of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettlementScreen {
    pub winner: Option<u8>,
    pub payments: Vec<PaymentScreen>,
    /// The payout of the POT, with its seat.
    pub pot: Option<(u8, i64)>,
}

/// A payment from one seat to another, before the fee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentScreen {
    pub from: u8,
    pub to: u8,
    pub owed: i64,
    /// The part of it that the stake could pay.
    pub paid: i64,
    /// The named items of the debt, each with the number of its rule and of counts.
    pub items: Vec<(String, String, u32)>,
}

/// The reason why an action is not legal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionRefusal {
    /// The stable code, in snake case, as in a refusal of the server.
    pub code: &'static str,
    /// The number of the rule that decides, such as `3.6`.
    pub rule: &'static str,
    /// A sentence in English.
    pub detail: String,
}

/// Returns the view model at this time of the caller's clock, which is `server_ms` in the server's
/// time.
pub(crate) fn to_screen(state: &State, now_ms: i64, server_ms: i64) -> Screen {
    let (retry_in_ms, link_reason) = match &state.link {
        Link::Pausing { until_ms, reason, .. } => {
            (Some((until_ms - now_ms).max(0)), Some(reason.clone()))
        }
        Link::SignedOut { code, .. } => (None, Some(code.clone())),
        Link::Broken { reason } => (None, Some(reason.clone())),
        _ => (None, None),
    };
    let table = state.table.as_ref().map(|table| to_table_screen(table, state, server_ms));
    Screen {
        link: name_link(&state.link),
        retry_in_ms,
        link_reason,
        player: state.player.as_ref().map(|player| player.name.clone()),
        table,
        is_seeking: state.seek.as_ref().is_some_and(|seek| seek.is_waiting()),
        notices: state.notices,
        wallet: state.wallet,
    }
}

/// Returns the reason why the player cannot take this action now; `None` if it is legal, or if
/// there is no game to act in.
pub(crate) fn find_refusal(table: &TableState, action: &Action) -> Option<ActionRefusal> {
    let PhaseView::Playing { view, .. } = &table.view.phase else {
        return None;
    };
    let refusal = catch_panic(|| AnyGame::refusal_in_view(view, action)).ok()??;
    let detail = refusal.to_string();
    Some(ActionRefusal { code: refusal.code(), rule: refusal.rule(), detail })
}

fn to_table_screen(table: &TableState, state: &State, server_ms: i64) -> TableScreen {
    let TableState { view, version, is_current, prompt, .. } = table;
    let legal = prompt.as_ref().map(|prompt| prompt.legal.as_slice()).unwrap_or_default();
    let rows = describe(view);
    let is_hand = |row: &&Row| row.label == HAND && row.seat.is_some() && row.seat == view.seat;
    let hand = rows.iter().find(is_hand).map(|row| list_tokens(&row.pieces)).unwrap_or_default();
    let deadline_ms = deadline_of(table).map(Timestamp::ms);
    TableScreen {
        table: view.table.0.to_string(),
        kind: view.kind.clone(),
        version: *version,
        is_current: *is_current,
        phase: name_phase(view),
        seats: list_seats(table),
        hand,
        countdown: deadline_ms.map(|deadline_ms| Countdown {
            deadline_ms,
            left_ms: deadline_ms.saturating_sub(server_ms).max(0),
        }),
        prompt: prompt
            .as_ref()
            .filter(|prompt| !prompt.legal.is_empty())
            .map(|prompt| PromptScreen { game: prompt.game.0.to_string(), number: prompt.number }),
        actions: legal.iter().map(ActionScreen::from_action).collect(),
        hint: state.hint.as_ref().map(|hint| ActionScreen::from_action(&hint.action)),
        pot: view.pot.hundredths(),
        lines: rows.iter().map(to_line).collect(),
        settlement: match &view.phase {
            PhaseView::Settling { settlement, .. } => Some(to_settlement_screen(settlement)),
            _ => None,
        },
    }
}

fn list_seats(table: &TableState) -> Vec<SeatScreen> {
    let view = &table.view;
    let seats = (0..).map_while(Seat::new).zip(&view.seats);
    let screens = seats.map(|(seat, occupant)| {
        let crown = view.crown.filter(|crown| {
            occupant.as_ref().is_some_and(|occupant| occupant.player == crown.player)
        });
        SeatScreen {
            seat: seat.number(),
            name: occupant.as_ref().map(|occupant| occupant.name.clone()),
            avatar: occupant.as_ref().and_then(|occupant| occupant.avatar.clone()),
            badge: to_badge(occupant.as_ref()),
            is_own: view.seat == Some(seat),
            is_prompted: table.prompt.as_ref().is_some_and(|prompt| prompt.seats.contains(seat)),
            crown: crown.map(|crown| crown.wins),
        }
    });
    screens.collect()
}

fn to_badge(occupant: Option<&SeatView>) -> SeatBadge {
    match occupant {
        None => SeatBadge::Free,
        Some(SeatView { bot: true, .. }) => SeatBadge::Bot,
        Some(SeatView { taken_over: true, .. }) => SeatBadge::TakenOver,
        Some(SeatView { connected: false, .. }) => SeatBadge::Reconnecting,
        Some(_) => SeatBadge::Present,
    }
}

fn deadline_of(table: &TableState) -> Option<Timestamp> {
    match &table.view.phase {
        PhaseView::Preparing { deadline_ms, .. } | PhaseView::Revealing { deadline_ms, .. } => {
            Some(*deadline_ms)
        }
        PhaseView::Playing { deadline_ms, .. } => (*deadline_ms).filter(|_| table.prompt.is_some()),
        PhaseView::Waiting | PhaseView::Opening { .. } | PhaseView::Settling { .. } => None,
    }
}

/// Describes the view of the running game; nothing if the engine cannot.
fn describe(view: &TableView<AnyGame>) -> Vec<Row> {
    match &view.phase {
        PhaseView::Playing { view, .. } => {
            catch_panic(|| AnyGame::describe(view)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn to_line(row: &Row) -> ScreenLine {
    let Row { seat, label, pieces } = row;
    let seat = seat.map(Seat::number);
    ScreenLine { seat, label: label.clone().into_owned(), text: join_pieces(pieces) }
}

fn to_settlement_screen(settlement: &Settlement) -> SettlementScreen {
    let payments = settlement.payments.iter().map(|payment| PaymentScreen {
        from: payment.from.number(),
        to: payment.to.number(),
        owed: payment.owed.hundredths(),
        paid: payment.paid.hundredths(),
        items: payment
            .items
            .iter()
            .map(|item| (item.name.to_string(), item.rule.to_string(), item.counts))
            .collect(),
    });
    SettlementScreen {
        winner: settlement.winner.map(Seat::number),
        payments: payments.collect(),
        pot: settlement.pot.map(|pot| (pot.seat.number(), pot.amount.hundredths())),
    }
}

fn list_tokens(pieces: &[Piece]) -> Vec<String> {
    let tokens = pieces.iter().filter_map(|piece| match piece {
        Piece::Token { text, .. } => Some(text.clone()),
        Piece::Text(_) | Piece::Seat(_) => None,
    });
    tokens.collect()
}

fn join_pieces(pieces: &[Piece]) -> String {
    let words: Vec<String> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.to_string(),
            Piece::Seat(seat) => format!("seat {seat}"),
            Piece::Token { text, .. } => text.clone(),
        })
        .collect();
    words.join(" ")
}

fn name_link(link: &Link) -> &'static str {
    match link {
        Link::Off => "off",
        Link::SigningIn => "signing_in",
        Link::Connecting { .. } => "connecting",
        Link::Joining => "joining",
        Link::Live => "live",
        Link::Weak => "weak",
        Link::Pausing { .. } => "pausing",
        Link::Replaced => "replaced",
        Link::SignedOut { .. } => "signed_out",
        Link::Broken { .. } => "broken",
    }
}

fn name_phase(view: &TableView<AnyGame>) -> &'static str {
    match &view.phase {
        PhaseView::Waiting => "waiting",
        PhaseView::Preparing { .. } => "preparing",
        PhaseView::Opening { .. } => "opening",
        PhaseView::Revealing { .. } => "revealing",
        PhaseView::Playing { .. } => "playing",
        PhaseView::Settling { .. } => "settling",
    }
}
