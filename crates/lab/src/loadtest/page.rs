//! The report as a self-contained HTML page with charts in SVG.

use super::counters::{Count, Figure};
use super::report::format::{millis, per_second, percent, tenths};
use super::report::{NodeUsage, Report, SecondSample, Step, figure_name};

/// The size of a chart, in SVG units.
const WIDTH: u64 = 640;
const HEIGHT: u64 = 240;
/// The margins for the numbers at the left and below.
const LEFT: u64 = 70;
const BELOW: u64 = 28;

/// The most points of a series; longer ones are thinned out.
const POINTS_MAX: usize = 800;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;\
padding:0 1rem;color:#1a1a1a;background:#fff}h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{padding:.2rem .8rem .2rem 0;\
text-align:right}td:first-child,th:first-child{text-align:left}.charts{display:grid;grid-template-columns:\
repeat(auto-fit,minmax(26rem,1fr));gap:1rem}svg{width:100%;height:auto}figure{margin:0}figcaption{font-weight:600}\
.fault{color:#b00020;font-weight:600}pre{white-space:pre-wrap}";

const COLOURS: [&str; 4] = ["#0b6e4f", "#c1666b", "#3d5a80", "#e0a458"];

/// One line of a chart: points in the order of x.
struct Series<'a> {
    name: &'a str,
    points: Vec<(u64, u64)>,
}

/// Renders the page, with a comparison if an older report is given.
pub(super) fn render_page(report: &Report, old: Option<&Report>) -> String {
    let faults = report.fault().map_or(String::new(), |fault| {
        format!("<p class=\"fault\">The server is at fault: {}</p>", escape_html(&fault))
    });
    let compared = old.map_or(String::new(), |old| {
        let compared = report.compare_with(old, 0);
        format!("<h2>Comparison</h2><pre>{}</pre>", escape_html(&compared.to_string()))
    });
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>bahay loadtest</title>\
         <style>{STYLE}</style><h1>bahay loadtest: {}</h1>{faults}<h2>In short</h2><pre>{}</pre>\
         {compared}<h2>Steps</h2>{}<div class=\"charts\">{}</div></html>\n",
        escape_html(&format!("{:?}, {} ms to think", report.mode, report.think_ms).to_lowercase()),
        escape_html(&report.summary()),
        render_steps(report),
        render_charts(report),
    )
}

fn render_steps(report: &Report) -> String {
    const HEAD: [&str; 9] = [
        "tables",
        "moves/s",
        "p50",
        "p99",
        "server cpu %",
        "us a move",
        "KiB a table",
        "bytes a move",
        "games",
    ];
    let row = |step: &Step| {
        let counted = &step.counted;
        [
            step.tables.to_string(),
            step.moves_per_second().to_string(),
            millis(counted.permille_us(Figure::ActionToEvent, 500)),
            millis(counted.permille_us(Figure::ActionToEvent, 990)),
            percent(step.server_cpu_us, step.long_ms).to_string(),
            tenths(step.cpu_per_move_tenths_us()),
            (step.rss_per_table(report.empty_rss_bytes) >> 10).to_string(),
            step.bytes_per_move().to_string(),
            counted.count(Count::Games).to_string(),
        ]
    };
    render_table(HEAD, report.steps.iter().map(row)) + &render_nodes(report)
}

/// Renders the usage of each node in the result step, if there are several.
fn render_nodes(report: &Report) -> String {
    let step = report.result_step().or(report.steps.last());
    let Some(step) = step.filter(|step| step.nodes.len() > 1) else {
        return String::new();
    };
    let row = |node: &NodeUsage| {
        [
            escape_html(&node.url),
            per_second(node.moves, step.long_ms).to_string(),
            percent(node.cpu_us, step.long_ms).to_string(),
            tenths(node.cpu_per_move_tenths_us()),
            (node.rss_bytes >> 20).to_string(),
        ]
    };
    let head = ["node", "moves/s of its own", "cpu %", "us each", "MiB"];
    format!("<h2>Nodes</h2>{}", render_table(head, step.nodes.iter().map(row)))
}

/// Renders a table; the texts of its cells are HTML.
fn render_table<const COLUMNS: usize>(
    head: [&str; COLUMNS],
    rows: impl Iterator<Item = [String; COLUMNS]>,
) -> String {
    let head = head.map(|title| format!("<th>{title}</th>")).concat();
    let row = |cells: [String; COLUMNS]| {
        format!("<tr>{}</tr>", cells.map(|cell| format!("<td>{cell}</td>")).concat())
    };
    format!("<table><tr>{head}</tr>{}</table>", rows.map(row).collect::<String>())
}

fn render_charts(report: &Report) -> String {
    let mut charts = String::new();
    if let Some(step) = report.result_step().or(report.steps.last()) {
        charts += &render_time_charts(step);
        charts += &render_percentiles(step);
    }
    let measured = report.steps.iter().filter(|step| step.unfilled.is_none());
    let line = |name, value: &dyn Fn(&Step) -> u64| {
        let mut points: Vec<_> =
            measured.clone().map(|step| (u64::from(step.tables), value(step))).collect();
        points.sort_unstable();
        Series { name, points }
    };
    let to_every_seat_ms =
        |step: &Step, permille| step.counted.permille_us(Figure::ActionToEvent, permille) / 1_000;
    charts += &render_chart(
        "Capacity: latency to every seat by tables (ms)",
        "tables",
        &[
            line("p50", &|step| to_every_seat_ms(step, 500)),
            line("p99", &|step| to_every_seat_ms(step, 990)),
        ],
    );
    charts += &render_chart(
        "Memory for each table with its players (KiB)",
        "tables",
        &[line("server", &|step| step.rss_per_table(report.empty_rss_bytes) >> 10)],
    );
    charts
}

fn render_time_charts(step: &Step) -> String {
    let line = |name, value: &dyn Fn(&SecondSample) -> u64| Series {
        name,
        points: step.seconds.iter().map(|second| (second.at_ms / 1_000, value(second))).collect(),
    };
    let latency = render_chart(
        "Latency to every seat over time (us)",
        "seconds",
        &[line("p50", &|second| second.p50_us), line("p99", &|second| second.p99_us)],
    );
    let load = render_chart(
        "Processor time (% of a core)",
        "seconds",
        &[
            line("server", &|second| percent(second.server_cpu_us, second.long_ms)),
            line("tester", &|second| percent(second.tester_cpu_us, second.long_ms)),
        ],
    );
    let memory = render_chart(
        "The server's memory (MiB) and queued messages",
        "seconds",
        &[
            line("memory", &|second| second.server_rss_bytes >> 20),
            line("queued", &|second| second.server_queued),
        ],
    );
    format!("{latency}{load}{memory}")
}

/// Renders latency by percentile, from the median to the 99.9th.
fn render_percentiles(step: &Step) -> String {
    let permilles = [500, 600, 700, 750, 800, 850, 900, 925, 950, 975, 980, 990, 995, 999];
    let lines = [Figure::ActionToAck, Figure::ActionToEvent, Figure::Settlement, Figure::Resume];
    let series: Vec<_> = lines
        .into_iter()
        .filter(|figure| step.counted.latency_count(*figure) > 0)
        .map(|figure| Series {
            name: figure_name(figure),
            points: permilles
                .map(|permille| (u64::from(permille), step.counted.permille_us(figure, permille)))
                .to_vec(),
        })
        .collect();
    render_chart("Percentiles (us), of a thousand", "so many are as fast", &series)
}

fn render_chart(title: &str, below: &str, series: &[Series<'_>]) -> String {
    let points = || series.iter().flat_map(|series| &series.points);
    let first = points().map(|point| point.0).min().unwrap_or(0);
    let last = points().map(|point| point.0).max().unwrap_or(0);
    let highest = points().map(|point| point.1).max().unwrap_or(0).max(1);
    let long = (last - first).max(1);
    let x = |value: u64| LEFT + (value - first) * (WIDTH - LEFT - 10) / long;
    let y = |value: u64| HEIGHT - BELOW - value * (HEIGHT - BELOW - 20) / highest;
    let mut drawn = String::new();
    for part in 0..=4 {
        let value = highest * part / 4;
        drawn += &format!(
            "<line x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{0}\" y2=\"{0}\" stroke=\"#ddd\"/>\
             <text x=\"{1}\" y=\"{2}\" text-anchor=\"end\">{value}</text>",
            y(value),
            LEFT - 6,
            y(value) + 4,
        );
    }
    drawn += &format!(
        "<text x=\"{LEFT}\" y=\"{0}\">{first}</text><text x=\"{WIDTH}\" y=\"{0}\" text-anchor=\"end\">{last} \
         {below}</text>",
        HEIGHT - 8,
    );
    for (number, (series, colour)) in series.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let every = series.points.len().div_ceil(POINTS_MAX).max(1);
        let line: String = series
            .points
            .iter()
            .step_by(every)
            .map(|point| format!("{},{} ", x(point.0), y(point.1)))
            .collect();
        let dots: String = if series.points.len() <= 40 {
            let dot = |point: &(u64, u64)| {
                format!(
                    "<circle cx=\"{}\" cy=\"{}\" r=\"3\" fill=\"{colour}\"><title>{}: {}</title></circle>",
                    x(point.0),
                    y(point.1),
                    point.0,
                    point.1,
                )
            };
            series.points.iter().map(dot).collect()
        } else {
            String::new()
        };
        drawn += &format!(
            "<polyline points=\"{line}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>{dots}\
             <text x=\"{}\" y=\"14\" fill=\"{colour}\">{}</text>",
            LEFT + number as u64 * 130,
            escape_html(series.name),
        );
    }
    format!(
        "<figure><figcaption>{}</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-size=\"12\" \
         role=\"img\">{drawn}</svg></figure>",
        escape_html(title),
    )
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::{Series, escape_html, render_chart};

    #[test]
    fn a_chart_stays_within_its_frame_whatever_its_values() {
        for points in [vec![], vec![(3, 0)], vec![(0, 1), (5, u64::MAX >> 16)]] {
            let drawn = render_chart("t", "x", &[Series { name: "s", points }]);
            assert!(drawn.ends_with("</svg></figure>"), "{drawn}");
            assert!(!drawn.contains('-') || !drawn.contains("\"-"), "{drawn}");
        }
    }

    #[test]
    fn text_from_a_server_is_escaped() {
        assert_eq!(escape_html("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }
}
