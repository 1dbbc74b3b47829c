//! Charts as SVG, each with its figures as a table for people who cannot see the drawing.
//!
//! All coordinates are integers in a drawing 1000 wide and 300 high, which the browser stretches. The
//! figures of the axes are text beside the drawing, so that they keep their size.

use maud::{Markup, html};

use crate::components::draw_table;

const WIDTH: i64 = 1_000;
const HEIGHT: i64 = 300;
/// The number of intervals into which the range of values is divided, before they are rounded up.
const INTERVALS: i128 = 4;
/// The maximum number of labels below the drawing; the others are omitted.
const LABELS_MAX: usize = 6;

/// The kind of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartKind {
    Bars,
    Lines,
}

/// A named series of values, one for each label of the chart.
#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    pub values: Vec<i64>,
}

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart<'a> {
    pub title: &'a str,
    pub kind: ChartKind,
    /// The labels of the values, from left to right.
    pub labels: Vec<String>,
    /// The series. The stylesheet distinguishes at most six.
    pub series: Vec<Series>,
    /// Formats a value.
    pub text: fn(i64) -> String,
}

impl Chart<'_> {
    pub fn draw(&self) -> Markup {
        let Self { title, kind, labels, series, text } = self;
        let all = || series.iter().flat_map(|series| series.values.iter().copied());
        // The scale always includes zero, so that heights are comparable.
        let low = all().min().unwrap_or(0).min(0);
        let high = all().max().unwrap_or(0).max(0);
        let scale = Scale::new(low, high, labels.len());
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
                div class="plot" {
                    ol class="y" aria-hidden="true" {
                        @for figure in scale.figures().rev() { li { (text(figure)) } }
                    }
                    svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(title)
                        preserveAspectRatio="none" {
                        @for figure in scale.figures() {
                            @let y = scale.y(figure);
                            line class=(if figure == 0 { "axis" } else { "grid" })
                                x1="0" x2=(WIDTH) y1=(y) y2=(y) {}
                        }
                        @for (place, series) in series.iter().enumerate() {
                            @match kind {
                                ChartKind::Bars => {
                                    @for (at, value) in series.values.iter().enumerate() {
                                        (scale.bar(place, to_i64(self.series.len()), at, *value))
                                    }
                                }
                                ChartKind::Lines => {
                                    polyline class={ "line s" (place) }
                                        points=(scale.points(series)) {}
                                }
                            }
                        }
                    }
                    ol class="x" aria-hidden="true" {
                        @for (at, label) in labels.iter().enumerate() {
                            li { @if at % every == 0 { (label) } }
                        }
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

/// The mapping from values to coordinates. Both ends of the vertical axis are multiples of the step.
struct Scale {
    low: i128,
    high: i128,
    /// The interval between two figures of the vertical axis.
    step: i128,
    places: i64,
}

impl Scale {
    /// Creates the scale for values from `low`, at most 0, to `high`, at least 0.
    fn new(low: i64, high: i64, places: usize) -> Self {
        let [low, high] = [low, high].map(i128::from);
        let step = round_step((high - low).div_euclid(INTERVALS).max(1));
        let low = low.div_euclid(step) * step;
        let high = -(-high).div_euclid(step) * step;
        Self { low, high: high.max(low + step), step, places: to_i64(places.max(1)) }
    }

    /// Returns the figures of the vertical axis, from below. Those beyond 64 bits are the largest.
    fn figures(&self) -> impl DoubleEndedIterator<Item = i64> {
        let count = (self.high - self.low) / self.step;
        let figure = |place| self.low + place * self.step;
        (0..=count).map(move |place| saturate(figure(place)))
    }

    /// Returns the vertical coordinate of a value, rounded down.
    fn y(&self, value: i64) -> i64 {
        let above = i128::from(value) - self.low;
        HEIGHT - saturate(above * i128::from(HEIGHT) / (self.high - self.low))
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

    /// Returns the points of a line. A single value is a level line, because one point is invisible.
    fn points(&self, series: &Series) -> String {
        if let [value] = series.values[..] {
            let y = self.y(value);
            return format!("0,{y} {WIDTH},{y}");
        }
        let middle = WIDTH / self.places / 2;
        let points = series.values.iter().enumerate();
        let points =
            points.map(|(at, value)| format!("{},{}", self.x(at) + middle, self.y(*value)));
        points.collect::<Vec<_>>().join(" ")
    }
}

/// Returns the least of 1, 2, 5, 10, 20, 50 and so on that is not below a positive number.
fn round_step(least: i128) -> i128 {
    let mut power = 1;
    loop {
        let found = [1, 2, 5].map(|digit| digit * power).into_iter().find(|step| *step >= least);
        match found {
            Some(step) => return step,
            None => power *= 10,
        }
    }
}

fn saturate(number: i128) -> i64 {
    number.clamp(i64::MIN.into(), i64::MAX.into()).try_into().unwrap_or(i64::MAX)
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
        // The axis reaches from -200 to 200 in steps of 100: four games are three units high, and
        // zero lies in the middle.
        assert!(drawn.contains("y=\"105\" height=\"45\""), "{drawn}");
        assert!(drawn.contains("y=\"60\" height=\"90\""), "{drawn}");
        assert!(drawn.contains("y=\"150\" height=\"90\""), "{drawn}");
        let figures = "<li>200</li><li>100</li><li>0</li><li>-100</li><li>-200</li>";
        assert!(drawn.contains(figures), "{drawn}");
        assert!(drawn.contains("<td class=\"number\">-120</td>"), "{drawn}");
        assert!(drawn.contains("role=\"img\" aria-label=\"Games an hour\""), "{drawn}");
        assert!(!drawn.contains("style="), "{drawn}");
    }

    #[test]
    fn empty_and_extreme_series_are_drawn() {
        assert!(chart(ChartKind::Lines, vec![]).contains("points=\"\""));
        let single = chart(ChartKind::Lines, vec![5]);
        assert!(single.contains("points=\"0,0 1000,0\""), "{single}");
        let huge = chart(ChartKind::Lines, vec![i64::MIN, i64::MAX]);
        assert!(huge.contains("polyline"), "{huge}");
        let few = chart(ChartKind::Bars, vec![3, 0]);
        assert!(few.contains("<li>3</li><li>2</li><li>1</li><li>0</li>"), "{few}");
    }
}
