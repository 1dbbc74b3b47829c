//! Charts as SVG, each with its figures as a table for people who cannot see the drawing.
//!
//! All coordinates are integers in a drawing 1000 wide and 300 high, which the browser scales.

use maud::{Markup, html};

use super::components::draw_table;

const WIDTH: i64 = 1_000;
const HEIGHT: i64 = 300;
/// The margins above and below the plot area, for labels.
const TOP: i64 = 24;
const BOTTOM: i64 = 36;
/// The maximum number of labels below the plot area; the others are omitted.
const LABELS_MAX: usize = 8;

/// The kind of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChartKind {
    Bars,
    Lines,
}

/// A named series of values, one for each label of the chart.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) values: Vec<i64>,
}

/// A chart.
#[derive(Clone, Debug)]
pub(crate) struct Chart<'a> {
    pub(crate) title: &'a str,
    pub(crate) kind: ChartKind,
    /// The labels of the values, from left to right.
    pub(crate) labels: Vec<String>,
    /// The series. The stylesheet distinguishes at most six.
    pub(crate) series: Vec<Series>,
    /// Formats a value.
    pub(crate) text: fn(i64) -> String,
}

impl Chart<'_> {
    pub(crate) fn draw(&self) -> Markup {
        let Self { title, kind, labels, series, text } = self;
        let all = || series.iter().flat_map(|series| series.values.iter().copied());
        // The scale always includes zero, so that heights are comparable.
        let low = all().min().unwrap_or(0).min(0);
        let high = all().max().unwrap_or(0).max(0);
        let scale = Scale {
            low,
            span: high.saturating_sub(low).max(1),
            places: to_i64(labels.len().max(1)),
        };
        let zero = scale.y(0);
        let every = labels.len().div_ceil(LABELS_MAX).max(1);
        html! {
            figure class="chart" {
                figcaption {
                    (title)
                    @if series.len() > 1 {
                        @for (place, series) in series.iter().enumerate() {
                            " " span class={ "key s" (place) } { (series.name) }
                        }
                    }
                }
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(title)
                    preserveAspectRatio="none" {
                    line class="axis" x1="0" x2=(WIDTH) y1=(zero) y2=(zero) {}
                    text class="label" x="4" y=(TOP - 8) { (text(high)) }
                    @for (place, series) in series.iter().enumerate() {
                        @match kind {
                            ChartKind::Bars => {
                                @for (at, value) in series.values.iter().enumerate() {
                                    (scale.bar(place, to_i64(self.series.len()), at, *value))
                                }
                            }
                            ChartKind::Lines => {
                                polyline class={ "line s" (place) } points=(scale.points(series)) {}
                            }
                        }
                    }
                    @for (at, label) in labels.iter().enumerate().step_by(every) {
                        text class="label" x=(scale.x(at) + 2) y=(HEIGHT - 8) { (label) }
                    }
                }
                details {
                    summary { "As a table" }
                    (self.table())
                }
            }
        }
    }

    fn table(&self) -> Markup {
        let series = self.series.iter().map(|series| format!("#{}", series.name));
        let columns: Vec<String> = std::iter::once(String::new()).chain(series).collect();
        let rows = self.labels.iter().enumerate().map(|(at, label)| {
            let values = self.series.iter().map(|series| series.values.get(at).copied());
            let cells = values.map(|value| html! { (value.map_or(String::new(), self.text)) });
            std::iter::once(html! { (label) }).chain(cells).collect::<Vec<Markup>>()
        });
        draw_table(self.title, &columns, rows)
    }
}

/// The mapping from values to coordinates.
struct Scale {
    low: i64,
    span: i64,
    places: i64,
}

impl Scale {
    /// Returns the vertical coordinate of a value, rounded down.
    fn y(&self, value: i64) -> i64 {
        let room = i128::from(HEIGHT - TOP - BOTTOM);
        let above = i128::from(value) - i128::from(self.low);
        let high = above * room / i128::from(self.span);
        HEIGHT - BOTTOM - i64::try_from(high).unwrap_or(0)
    }

    fn x(&self, at: usize) -> i64 {
        to_i64(at) * WIDTH / self.places
    }

    fn bar(&self, series: usize, of: i64, at: usize, value: i64) -> Markup {
        let room = self.x(at + 1) - self.x(at);
        let wide = (room * 8 / 10 / of.max(1)).max(1);
        let x = self.x(at) + room / 10 + to_i64(series) * wide;
        let value_y = self.y(value);
        let zero = self.y(0);
        let high = (value_y - zero).abs();
        html! {
            rect class={ "bar s" (series) } x=(x) width=(wide) y=(value_y.min(zero)) height=(high) {}
        }
    }

    fn points(&self, series: &Series) -> String {
        let middle = WIDTH / self.places / 2;
        let points = series.values.iter().enumerate();
        let points =
            points.map(|(at, value)| format!("{},{}", self.x(at) + middle, self.y(*value)));
        points.collect::<Vec<_>>().join(" ")
    }
}

fn to_i64(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Chart, ChartKind, Series};

    fn chart(kind: ChartKind, values: Vec<i64>) -> String {
        let labels = (0..values.len()).map(|hour| format!("{hour}:00")).collect();
        let series = vec![Series { name: "Games".to_owned(), values }];
        let text = |value: i64| value.to_string();
        Chart { title: "Games an hour", kind, labels, series, text }.draw().into_string()
    }

    #[test]
    fn heights_are_to_scale_and_listed_in_a_table() {
        let drawn = chart(ChartKind::Bars, vec![0, 60, 120, -120]);
        // The plot area has 240 units for a range of 240: one game is one unit high, and zero lies
        // in the middle.
        assert!(drawn.contains("y=\"84\" height=\"60\""), "{drawn}");
        assert!(drawn.contains("y=\"24\" height=\"120\""), "{drawn}");
        assert!(drawn.contains("y=\"144\" height=\"120\""), "{drawn}");
        assert!(drawn.contains("<td class=\"number\">-120</td>"), "{drawn}");
        assert!(drawn.contains("role=\"img\" aria-label=\"Games an hour\""), "{drawn}");
        assert!(!drawn.contains("style="), "{drawn}");
    }

    #[test]
    fn empty_and_extreme_series_are_drawn() {
        assert!(chart(ChartKind::Lines, vec![]).contains("points=\"\""));
        let huge = chart(ChartKind::Lines, vec![i64::MIN, i64::MAX]);
        assert!(huge.contains("polyline"), "{huge}");
    }
}
