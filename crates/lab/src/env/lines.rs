//! A line server over a byte stream. It reads ahead while input is available and flushes only
//! before it would block, so that a client that pipelines many requests costs few system calls.
//!
//! Bounds: a line of [`LINE_BYTES_MAX`]; a longer one is answered by an error and skipped.

use std::io::{self, BufRead, BufReader, Read, Write};

use bahay_bots::gym::EnvProtocol;

/// The maximum length of a line, without its end.
pub(super) const LINE_BYTES_MAX: usize = 1 << 20;

/// The size of the read buffer.
const READ_BYTES: usize = 64 * 1024;

/// The amount of buffered output that is written even though more input is available.
const WRITE_BYTES: usize = 256 * 1024;

const TOO_LONG: &str =
    "{\"error\":\"line_too_long\",\"message\":\"a line is limited to one mebibyte\"}\n";

/// Answers every line until the end of the input. Empty lines are skipped.
pub(super) fn serve_lines(
    protocol: &mut dyn EnvProtocol,
    from: impl Read,
    to: &mut impl Write,
) -> io::Result<()> {
    let mut from = BufReader::with_capacity(READ_BYTES, from);
    let mut line = Vec::new();
    let mut answers = String::new();
    protocol.write_hello(&mut answers);
    answers.push('\n');
    loop {
        // No complete line is buffered, so the next read may block.
        let must_wait = !from.buffer().contains(&b'\n');
        if must_wait || answers.len() >= WRITE_BYTES {
            to.write_all(answers.as_bytes())?;
            answers.clear();
        }
        if must_wait {
            to.flush()?;
        }
        match read_line(&mut from, &mut line)? {
            LineRead::Line if line.trim_ascii().is_empty() => {}
            LineRead::Line => {
                protocol.answer_line(&line, &mut answers);
                answers.push('\n');
            }
            LineRead::TooLong => answers.push_str(TOO_LONG),
            LineRead::End => {
                to.write_all(answers.as_bytes())?;
                return to.flush();
            }
        }
    }
}

enum LineRead {
    Line,
    /// The line was skipped.
    TooLong,
    End,
}

/// Reads a line without its end; the last line may have none.
fn read_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<LineRead> {
    let some = LINE_BYTES_MAX as u64 + 1;
    line.clear();
    if from.by_ref().take(some).read_until(b'\n', line)? == 0 {
        return Ok(LineRead::End);
    }
    if line.pop_if(|last| *last == b'\n').is_some() || line.len() <= LINE_BYTES_MAX {
        return Ok(LineRead::Line);
    }
    loop {
        line.clear();
        if from.by_ref().take(some).read_until(b'\n', line)? == 0 || line.ends_with(b"\n") {
            return Ok(LineRead::TooLong);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LINE_BYTES_MAX, serve_lines};
    use bahay_bots::gym::EnvProtocol;
    use std::io::{self, Read, Write};

    /// A protocol that echoes every line.
    struct Echo;

    impl EnvProtocol for Echo {
        fn write_hello(&self, out: &mut String) {
            out.push_str("hello");
        }

        fn answer_line(&mut self, line: &[u8], out: &mut String) {
            let text = String::from_utf8_lossy(line);
            out.push_str(&if text.len() > 20 {
                format!("{} bytes", text.len())
            } else {
                text.into()
            });
        }
    }

    /// A reader that returns its pieces one by one.
    struct Pieces(Vec<Vec<u8>>);

    impl Read for Pieces {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let piece = &mut self.0[0];
            let count = piece.len().min(into.len());
            into[..count].copy_from_slice(&piece[..count]);
            piece.drain(..count);
            if piece.is_empty() {
                self.0.remove(0);
            }
            Ok(count)
        }
    }

    /// A writer that counts the flushes that follow a write.
    #[derive(Default)]
    struct Flushes {
        written: Vec<u8>,
        new: bool,
        flushes: usize,
    }

    impl Write for Flushes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.new |= !bytes.is_empty();
            self.written.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            self.flushes += usize::from(std::mem::take(&mut self.new));
            Ok(())
        }
    }

    fn serve_pieces(pieces: &[&[u8]]) -> (String, usize) {
        let mut to = Flushes::default();
        let pieces = pieces.iter().map(|piece| piece.to_vec()).collect();
        serve_lines(&mut Echo, Pieces(pieces), &mut to).unwrap();
        (String::from_utf8(to.written).unwrap(), to.flushes)
    }

    #[test]
    fn lines_are_answered_regardless_of_their_chunks() {
        let expected = "hello\none\ntwo\nthree\n";
        assert_eq!(serve_pieces(&[b"one\ntwo\nthree\n"]), (expected.into(), 2));
        assert_eq!(serve_pieces(&[b"on", b"e\ntw", b"o\n", b"\n  \n", b"three"]).0, expected);
    }

    #[test]
    fn pipelined_lines_are_answered_in_one_flush() {
        let many = b"a\n".repeat(1_000);
        let (output, flushes) = serve_pieces(&[&many, b"b\n"]);
        assert_eq!(output.lines().count(), 1_002);
        assert_eq!(flushes, 3, "the first line, a thousand answers, one answer");
    }

    #[test]
    fn an_overlong_line_is_rejected_and_the_next_is_answered() {
        let mut longest = vec![b'x'; LINE_BYTES_MAX];
        longest.extend_from_slice(b"\nnext\n");
        assert_eq!(serve_pieces(&[&longest]).0, format!("hello\n{LINE_BYTES_MAX} bytes\nnext\n"));
        let mut longer = vec![b'x'; 3 * LINE_BYTES_MAX];
        longer.extend_from_slice(b"\nnext\n");
        let (output, _) = serve_pieces(&[&longer]);
        let lines: Vec<&str> = output.lines().collect();
        assert!(lines[1].contains("line_too_long"), "{}", lines[1]);
        assert_eq!((lines.len(), lines[2]), (3, "next"));
        let by_one: Vec<u8> = [&[b'x'; LINE_BYTES_MAX + 1][..], b"\nnext\n"].concat();
        let (output, _) = serve_pieces(&[&by_one]);
        assert!(output.contains("line_too_long") && output.ends_with("\nnext\n"), "one byte more");
    }
}
