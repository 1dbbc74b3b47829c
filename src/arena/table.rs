//! What came of a contest, as a table for a terminal.

use std::io::{self, Write};

use bahay_engine::arena::{Contest, Estimate};
use bahay_engine::catalog;

use super::{Shown, percent};

/// Hundredths of a percent in a whole.
const WHOLE: i64 = 10_000;

pub(super) fn write(shown: &Shown<'_>, out: &mut impl Write) -> io::Result<()> {
    let Shown { contest, rule_set, title, tally } = shown;
    let Contest { terms, bots, seed, is_duplicate } = contest;
    let rotated = if *is_duplicate { "each deal with all seats rotated" } else { "seats rotated" };
    let games = tally.games();
    writeln!(out, "{games} games of {title} ({rule_set}), seed {seed}, {rotated}")?;
    let bet = terms.price.bet.checked_mul(terms.price.multiplier).unwrap_or_default();
    let fee = percent(terms.price.fee_basis_points.into());
    let par = percent(WHOLE / i64::try_from(bots.len()).unwrap_or(WHOLE));
    writeln!(out, "a bet is {bet} coins, the fee {fee} %; par is {par} % of the games")?;
    writeln!(out, "intervals hold the true mean with 95 of 100; coins are after the fee")?;
    writeln!(out)?;
    let has_pot = terms.hits.is_some();
    let pots = if has_pot { "      POTs   coins a game by POTs" } else { "" };
    writeln!(out, "bot            won        share, %          coins a game{pots}")?;
    for (bot, grade) in bots.iter().enumerate() {
        let share = estimated(tally.win_share(bot), percent);
        let coins = estimated(tally.coins(bot), coins);
        write!(out, "{:<8} {:>9} {share:>15} {coins:>21}", grade.name(), tally.wins(bot))?;
        if has_pot {
            let by_pots = estimated(tally.pot_coins(bot), self::coins);
            write!(out, " {:>9} {by_pots:>22}", tally.pots(bot))?;
        }
        writeln!(out)?;
    }
    writeln!(out)?;
    let names: String = bots.iter().map(|grade| format!("{:>10}", grade.name())).collect();
    writeln!(out, "{:<26}{:>10}{:>9}{names}", "ends by", "games", "%")?;
    let kind = catalog::kinds().into_iter().find(|kind| kind.name == terms.rules.kind());
    for ending in kind.map_or(&[][..], |kind| kind.endings) {
        let count = tally.ended(ending.name);
        let won = (0..bots.len()).map(|bot| format!("{:>10}", tally.won_by(bot, ending.name)));
        let won: String = won.collect();
        let share = i64::try_from(count * 10_000 / games.max(1)).unwrap_or(0);
        writeln!(out, "{:<26}{count:>10}{:>9}{won}", ending.title, percent(share))?;
    }
    Ok(())
}

fn estimated(estimate: Option<Estimate>, written: impl Fn(i64) -> String) -> String {
    let Some(Estimate { mean, around }) = estimate else { return "unknown".to_owned() };
    format!("{} ± {}", written(mean), written(around).trim_start_matches('+'))
}

/// Ten-thousandths of a coin.
fn coins(amount: i64) -> String {
    let sign = if amount < 0 { "-" } else { "+" };
    let amount = amount.unsigned_abs();
    format!("{sign}{}.{:04}", amount / 10_000, amount % 10_000)
}

#[cfg(test)]
mod tests {
    use super::{Estimate, coins, estimated};

    #[test]
    fn amounts_keep_their_sign_below_a_coin() {
        let written = estimated(Some(Estimate { mean: -42, around: 7 }), coins);
        assert_eq!(written, "-0.0042 ± 0.0007");
        assert_eq!(coins(123_456), "+12.3456");
        assert_eq!(estimated(None, coins), "unknown");
    }
}
