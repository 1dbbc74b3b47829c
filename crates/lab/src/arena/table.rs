//! The result of a contest as a table for a terminal.

use std::io::{self, Write};

use bahay_bots::arena::{Contest, Estimate, format_hundredths};
use bahay_engine::catalog;

use super::ContestReport;

/// The number of hundredths of a percent in a whole.
const WHOLE: i64 = 10_000;

pub(super) fn write_table(report: &ContestReport<'_>, out: &mut impl Write) -> io::Result<()> {
    let ContestReport { contest, rule_set, title, tally } = report;
    let Contest { terms, bots, seed, is_duplicate } = contest;
    let rotated = if *is_duplicate { "each deal with all seats rotated" } else { "seats rotated" };
    let games = tally.games();
    writeln!(out, "{games} games of {title} ({rule_set}), seed {seed}, {rotated}")?;
    let bet = terms.price.bet.checked_mul(terms.price.multiplier).unwrap_or_default();
    let fee = format_hundredths(terms.price.fee_basis_points.into());
    let par = format_hundredths(WHOLE / i64::try_from(bots.len()).unwrap_or(WHOLE));
    writeln!(out, "a bet is {bet} coins, the fee {fee} %; par is {par} % of the games")?;
    writeln!(out, "intervals hold the true mean with 95 of 100; coins are after the fee")?;
    writeln!(out)?;
    let has_pot = terms.hits.is_some();
    let pots = if has_pot { "      POTs   coins a game by POTs" } else { "" };
    writeln!(out, "bot            won        share, %          coins a game{pots}")?;
    for (bot, grade) in bots.iter().enumerate() {
        let share = format_estimate(tally.win_share(bot), format_hundredths);
        let coins = format_estimate(tally.coins(bot), format_coins);
        write!(out, "{:<8} {:>9} {share:>15} {coins:>21}", grade.name(), tally.wins(bot))?;
        if has_pot {
            let by_pots = format_estimate(tally.pot_coins(bot), format_coins);
            write!(out, " {:>9} {by_pots:>22}", tally.pots(bot))?;
        }
        writeln!(out)?;
    }
    writeln!(out)?;
    let names: String = bots.iter().map(|grade| format!("{:>10}", grade.name())).collect();
    writeln!(out, "{:<26}{:>10}{:>9}{names}", "ends by", "games", "%")?;
    let kind = catalog::kinds().into_iter().find(|kind| kind.name == terms.rules.kind());
    for ending in kind.map_or(&[][..], |kind| kind.endings) {
        let count = tally.games_ended_by(ending.name);
        let won =
            (0..bots.len()).map(|bot| format!("{:>10}", tally.wins_ended_by(bot, ending.name)));
        let won: String = won.collect();
        let share = i64::try_from(count * 10_000 / games.max(1)).unwrap_or(0);
        writeln!(out, "{:<26}{count:>10}{:>9}{won}", ending.title, format_hundredths(share))?;
    }
    Ok(())
}

fn format_estimate(estimate: Option<Estimate>, written: impl Fn(i64) -> String) -> String {
    let Some(Estimate { mean, half_width }) = estimate else { return "unknown".to_owned() };
    format!("{} ± {}", written(mean), written(half_width).trim_start_matches('+'))
}

/// Formats ten-thousandths of a coin.
fn format_coins(amount: i64) -> String {
    let sign = if amount < 0 { "-" } else { "+" };
    let amount = amount.unsigned_abs();
    format!("{sign}{}.{:04}", amount / 10_000, amount % 10_000)
}

#[cfg(test)]
mod tests {
    use super::{Estimate, format_coins, format_estimate};

    #[test]
    fn amounts_keep_their_sign_below_a_coin() {
        let written = format_estimate(Some(Estimate { mean: -42, half_width: 7 }), format_coins);
        assert_eq!(written, "-0.0042 ± 0.0007");
        assert_eq!(format_coins(123_456), "+12.3456");
        assert_eq!(format_estimate(None, format_coins), "unknown");
    }
}
