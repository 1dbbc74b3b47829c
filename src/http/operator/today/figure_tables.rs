//! Tables of the figures of several periods side by side: players, bookings, and coins by kind.

use std::collections::BTreeSet;

use bahay_api::operator::today::{AccountFlow, PeriodFigures};
use bahay_engine::coins::Coins;
use maud::{Markup, html};

use crate::http::operator::desk_ui::{account_title, draw_table, group_thousands, purpose_title};
use crate::ledger::Code;

/// A column of the tables: a period, or the difference of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct FigureColumn<'a> {
    pub(super) name: &'a str,
    pub(super) figures: &'a PeriodFigures,
    /// Positive figures have a sign.
    pub(super) is_difference: bool,
}

#[derive(Clone, Copy, Debug)]
enum FigureUnit {
    Number,
    Coins,
}

/// A figure with its name and its unit.
type FigureLine = (&'static str, FigureUnit, fn(&PeriodFigures) -> i64);

const PLAYERS: [FigureLine; 5] = [
    ("People", FigureUnit::Number, |figures| figures.players.people),
    ("New: account created in the period", FigureUnit::Number, |figures| figures.players.new),
    ("Returning: played before", FigureUnit::Number, |figures| figures.players.returning),
    ("Others: older account, first game", FigureUnit::Number, |figures| {
        figures.players.people - figures.players.new - figures.players.returning
    }),
    ("House bots", FigureUnit::Number, |figures| figures.players.bots),
];

const BOOKINGS: [FigureLine; 12] = [
    ("Games settled", FigureUnit::Number, |figures| figures.booked.games_settled),
    ("Games opened", FigureUnit::Number, |figures| figures.booked.games_opened),
    ("Games voided", FigureUnit::Number, |figures| figures.booked.games_voided),
    ("Settlements reversed", FigureUnit::Number, |figures| figures.booked.settlements_reversed),
    ("Paid by losers", FigureUnit::Coins, |figures| figures.booked.payments.hundredths()),
    ("Fees", FigureUnit::Coins, |figures| figures.booked.fees.hundredths()),
    ("Paid into POTs", FigureUnit::Coins, |figures| figures.booked.antes.hundredths()),
    ("POTs taken", FigureUnit::Number, |figures| figures.booked.pots_taken),
    ("Coins of POTs taken", FigureUnit::Coins, |figures| figures.booked.pots.hundredths()),
    ("Issued", FigureUnit::Coins, |figures| figures.booked.issued.hundredths()),
    ("Claimed", FigureUnit::Coins, |figures| figures.booked.claimed.hundredths()),
    ("Withdrawn", FigureUnit::Coins, |figures| figures.booked.withdrawn.hundredths()),
];

/// A kind of coins: an account of the house, the purpose, and the direction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CoinKind {
    account: String,
    is_received: bool,
    code: Code,
}

/// The kinds that are listed even if no coins moved.
const USUAL_KINDS: [(&str, bool, Code); 9] = [
    ("fee", true, Code::Fee),
    ("issue", false, Code::Welcome),
    ("issue", false, Code::Daily),
    ("issue", false, Code::Relief),
    ("issue", false, Code::Adjustment),
    ("issue", false, Code::HouseBot),
    ("issue", true, Code::Sweep),
    ("pot", true, Code::Ante),
    ("pot", false, Code::Pot),
];

impl CoinKind {
    fn name(&self) -> String {
        let account = match (self.account.as_str(), self.is_received) {
            ("fee", true) => "Takings".to_owned(),
            ("fee", false) => "Takings returned".to_owned(),
            ("issue", true) => "Withdrawn".to_owned(),
            ("issue", false) => "Issued".to_owned(),
            ("pot", true) => "Into POTs".to_owned(),
            ("pot", false) => "Out of POTs".to_owned(),
            (other, true) => format!("Into {}", account_title(other)),
            (other, false) => format!("Out of {}", account_title(other)),
        };
        format!("{account}: {}", purpose_title(self.code))
    }

    fn amount(&self, figures: &PeriodFigures) -> i64 {
        let is_same = |flow: &&AccountFlow| flow.account == self.account && flow.code == self.code;
        let flow = figures.flows.iter().find(is_same);
        let amount = flow.map(|flow| if self.is_received { flow.received } else { flow.paid });
        amount.map_or(0, |amount| amount.hundredths())
    }
}

/// Draws the tables.
pub(super) fn draw_figures(columns: &[FigureColumn<'_>]) -> Markup {
    html! {
        (lines_table("Players of settled games, each counted once", &PLAYERS, columns))
        (lines_table("Bookings", &BOOKINGS, columns))
        (kinds_table(columns))
    }
}

fn lines_table(caption: &str, lines: &[FigureLine], columns: &[FigureColumn<'_>]) -> Markup {
    let draw = |(name, unit, of): &FigureLine| {
        let values = columns.iter().map(|column| of(column.figures)).collect();
        DrawnLine { name: (*name).to_owned(), unit: *unit, values }
    };
    let lines: Vec<_> = lines.iter().map(draw).collect();
    draw_lines(caption, &lines, columns)
}

/// Draws the takings, the issued coins and those of POTs, by purpose.
fn kinds_table(columns: &[FigureColumn<'_>]) -> Markup {
    let mut kinds: BTreeSet<CoinKind> = USUAL_KINDS
        .iter()
        .map(|&(account, is_received, code)| CoinKind {
            account: account.to_owned(),
            is_received,
            code,
        })
        .collect();
    for flow in columns.iter().flat_map(|column| &column.figures.flows) {
        for (is_received, amount) in [(true, flow.received), (false, flow.paid)] {
            if amount.hundredths() != 0 {
                let account = flow.account.clone();
                kinds.insert(CoinKind { account, is_received, code: flow.code });
            }
        }
    }
    let lines: Vec<_> = kinds
        .iter()
        .map(|kind| {
            let values = columns.iter().map(|column| kind.amount(column.figures)).collect();
            DrawnLine { name: kind.name(), unit: FigureUnit::Coins, values }
        })
        .collect();
    draw_lines("Takings, issued coins and POTs by kind", &lines, columns)
}

/// A line of a table, with a value for each column.
struct DrawnLine {
    name: String,
    unit: FigureUnit,
    values: Vec<i64>,
}

fn draw_lines(caption: &str, lines: &[DrawnLine], columns: &[FigureColumn<'_>]) -> Markup {
    let names = columns.iter().map(|column| format!("#{}", column.name));
    let names: Vec<String> = std::iter::once(String::new()).chain(names).collect();
    let rows = lines.iter().map(|DrawnLine { name, unit, values }| {
        let values = columns.iter().zip(values);
        let figures = values.map(|(column, value)| {
            let text = format_figure(*unit, *value, column.is_difference);
            html! { (text) }
        });
        std::iter::once(html! { (name) }).chain(figures).collect::<Vec<_>>()
    });
    draw_table(caption, &names, rows)
}

fn format_figure(unit: FigureUnit, value: i64, is_difference: bool) -> String {
    let text = match unit {
        FigureUnit::Number => value.to_string(),
        FigureUnit::Coins => Coins::from_hundredths(value).to_string(),
    };
    let sign = if is_difference && value > 0 { "+" } else { "" };
    group_thousands(&format!("{sign}{text}"))
}

#[cfg(test)]
mod tests {
    use super::{FigureColumn, FigureUnit, draw_figures, format_figure};
    use bahay_api::Coins;
    use bahay_api::operator::today::{AccountFlow, PeriodFigures};

    use crate::ledger::Code;

    #[test]
    fn differences_have_a_sign() {
        assert_eq!(format_figure(FigureUnit::Number, 1_200, false), "1,200");
        assert_eq!(format_figure(FigureUnit::Coins, 123_456, true), "+1,234.56");
        assert_eq!(format_figure(FigureUnit::Coins, -5, true), "-0.05");
        assert_eq!(format_figure(FigureUnit::Number, 0, true), "0");
    }

    #[test]
    fn usual_kinds_are_listed_and_others_if_coins_moved() {
        let none = Coins::default();
        let paid = Coins::from_hundredths(700);
        let flow = |account: &str, code, paid| AccountFlow {
            account: account.into(),
            code,
            received: none,
            paid,
        };
        let flows = vec![flow("fee", Code::Reversal, paid), flow("pot", Code::Refund, none)];
        let figures = PeriodFigures { flows, ..PeriodFigures::default() };
        let column = FigureColumn { name: "Today", figures: &figures, is_difference: false };
        let drawn = draw_figures(&[column]).into_string();
        for name in
            ["Takings: Fee", "Issued: Relief", "Issued: Grant to a house bot", "Into POTs: Ante"]
        {
            assert!(drawn.contains(name), "{name}: {drawn}");
        }
        assert!(
            drawn.contains("Takings returned: Reversal</td><td class=\"number\">7.00"),
            "{drawn}"
        );
        assert!(!drawn.contains("Out of POTs: Ante refunded"), "{drawn}");
    }
}
