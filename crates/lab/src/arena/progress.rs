//! The progress bar of a contest in a terminal. It is redrawn when the percentage changes, so that
//! no clock is needed.

use std::io::Write;

/// The width of the bar, in characters.
const WIDTH: u64 = 40;

/// A progress bar, or nothing if the output is not a terminal.
#[derive(Debug)]
pub struct Progress<W> {
    out: Option<W>,
    drawn: Option<u64>,
}

impl<W: Write> Progress<W> {
    pub const fn new(out: Option<W>) -> Self {
        Self { out, drawn: None }
    }

    /// Draws the bar for `done` of `all` series. A bar that cannot be written is dropped, without
    /// an effect on the results.
    pub fn update(&mut self, done: u64, all: u64) {
        let percent = done * 100 / all.max(1);
        let Some(out) = self.out.as_mut().filter(|_| self.drawn != Some(percent)) else { return };
        self.drawn = Some(percent);
        let full = (percent * WIDTH / 100).min(WIDTH);
        let bar = |places: u64, letter: &str| letter.repeat(usize::try_from(places).unwrap_or(0));
        let line = format!("\r[{}{}] {percent:>3} %", bar(full, "#"), bar(WIDTH - full, " "));
        let end = if done >= all { "\n" } else { "" };
        let drawn = write!(out, "{line}{end}").and_then(|()| out.flush());
        if drawn.is_err() {
            self.out = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Progress;

    #[test]
    fn the_bar_is_drawn_once_per_percent_and_ends_with_a_newline() {
        let mut drawn = Vec::new();
        let mut progress = Progress::new(Some(&mut drawn));
        (1..=1_000).for_each(|done| progress.update(done, 1_000));
        let drawn = String::from_utf8(drawn).unwrap();
        assert_eq!(drawn.matches('\r').count(), 101);
        assert!(drawn.ends_with("########] 100 %\n"), "{drawn}");
        assert_eq!(drawn.matches('\n').count(), 1);
    }
}
