//! The result of a contest as an SVG picture: each bot's share of the games with its interval, and
//! par. All texts are names from the program, which need no escaping.

use std::fmt::Write;

use bahay_bots::arena::format_hundredths;

use super::ContestReport;

const WIDTH: i64 = 640;
const ROW: i64 = 40;
const TOP: i64 = 72;
const LEFT: i64 = 120;
/// The right end of the longest bar.
const RIGHT: i64 = 540;

/// Returns a whole SVG document.
pub(super) fn draw_svg(report: &ContestReport<'_>) -> String {
    let ContestReport { contest, rule_set, title, tally } = report;
    let bots = i64::try_from(contest.bots.len()).unwrap_or(1);
    let shares: Vec<(i64, i64)> = (0..contest.bots.len())
        .map(|bot| tally.win_share(bot).map_or((0, 0), |share| (share.mean, share.half_width)))
        .collect();
    let par = 10_000 / bots;
    let most = shares
        .iter()
        .map(|(mean, half_width)| mean + half_width)
        .max()
        .unwrap_or(0)
        .max(par)
        .max(1);
    let x = |share: i64| LEFT + share.clamp(0, most) * (RIGHT - LEFT) / most;
    let height = TOP + ROW * bots + 48;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"14\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"16\" y=\"28\" font-size=\"18\">{title} ({rule_set}): share of the games</text>\n\
         <text x=\"16\" y=\"50\" fill=\"#555555\">{} games, seed {}</text>\n",
        tally.games(),
        contest.seed
    );
    let rows = contest.bots.iter().zip(&shares);
    for (y, (grade, (mean, half_width))) in (0..).map(|row| TOP + ROW * row).zip(rows) {
        let middle = y + ROW / 2;
        let text = y + ROW / 2 + 5;
        let bar = x(*mean) - LEFT;
        let low = x(mean - half_width);
        let high = x(mean + half_width);
        // Writing to a string does not fail.
        let _ = write!(
            svg,
            "<text x=\"16\" y=\"{text}\">{grade}</text>\n\
             <rect x=\"{LEFT}\" y=\"{}\" width=\"{bar}\" height=\"24\" fill=\"#4c78a8\"/>\n\
             <line x1=\"{low}\" y1=\"{middle}\" x2=\"{high}\" y2=\"{middle}\" stroke=\"#000000\" \
             stroke-width=\"2\"/>\n\
             <text x=\"{}\" y=\"{text}\">{} %</text>\n",
            y + 8,
            high + 8,
            format_hundredths(*mean)
        );
    }
    let bottom = TOP + ROW * bots;
    let at = x(par);
    let _ = write!(
        svg,
        "<line x1=\"{at}\" y1=\"{TOP}\" x2=\"{at}\" y2=\"{bottom}\" stroke=\"#b00020\" \
         stroke-dasharray=\"4 4\"/>\n\
         <text x=\"{at}\" y=\"{}\" text-anchor=\"middle\" fill=\"#b00020\">par {} %</text>\n\
         </svg>\n",
        bottom + 24,
        format_hundredths(par)
    );
    svg
}
