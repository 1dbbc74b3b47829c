//! Just enough of PostgreSQL's protocol to separate requests and answers.
//!
//! A message is a type byte, a length that includes itself, and a body; only a client's first
//! messages have no type. The proxy forwards whole messages and never changes them.

use std::mem;

/// Codes in place of a protocol version, by which a client makes another request.
const CANCEL_REQUEST: u32 = 80_877_102;
const ENCRYPTION_REQUESTS: [u32; 2] = [80_877_103, 80_877_104];

/// A client's bytes that are not forwarded yet.
#[derive(Debug, Default)]
pub(super) struct RequestBytes {
    frames: Frames,
    /// True after the startup message; later messages have a type.
    introduced: bool,
    /// The beginning of a request.
    begun: Vec<u8>,
}

/// Bytes to forward at once.
#[derive(Debug)]
pub(super) enum Piece {
    /// The last message requires an answer.
    Request(Vec<u8>),
    Other(Vec<u8>),
    /// Not forwarded: the client asks for encryption.
    Encryption,
}

impl RequestBytes {
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) {
        self.frames.0.extend_from_slice(bytes);
    }

    /// Returns all received bytes without parsing them.
    pub(super) fn take_all(&mut self) -> Option<Vec<u8>> {
        let bytes = mem::take(&mut self.frames.0);
        (!bytes.is_empty()).then_some(bytes)
    }

    /// Returns the next bytes to forward, if they have been received as whole messages.
    pub(super) fn next_piece(&mut self) -> Option<Piece> {
        loop {
            let message = self.frames.take_frame(self.introduced)?;
            if !self.introduced {
                let code = u32_at(&message, 4)?;
                if ENCRYPTION_REQUESTS.contains(&code) {
                    return Some(Piece::Encryption);
                }
                self.introduced = code != CANCEL_REQUEST;
                return Some(Piece::Other(message));
            }
            let kind = message[0];
            self.begun.extend(message);
            match kind {
                // Parse, Bind, Describe, Execute, Close: the request continues.
                b'P' | b'B' | b'D' | b'E' | b'C' => {}
                // Query, Sync.
                b'Q' | b'S' => return Some(Piece::Request(mem::take(&mut self.begun))),
                _ => return Some(Piece::Other(mem::take(&mut self.begun))),
            }
        }
    }
}

/// A server's bytes that are not forwarded yet.
#[derive(Debug, Default)]
pub(super) struct Answers {
    frames: Frames,
    /// The number of ReadyForQuery messages: one after the startup, and one at the end of each
    /// answer.
    ready: u64,
}

/// One message of an answer.
#[derive(Debug)]
pub(super) struct Answer {
    /// The number of the answered request, counted from 1; 0 before all requests.
    pub(super) number: u64,
    pub(super) message: Vec<u8>,
}

impl Answers {
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) {
        self.frames.0.extend_from_slice(bytes);
    }

    pub(super) fn next_message(&mut self) -> Option<Answer> {
        let answer = Answer { number: self.ready, message: self.frames.take_frame(true)? };
        self.ready += u64::from(answer.is_last());
        Some(answer)
    }
}

impl Answer {
    /// Returns true for ReadyForQuery, the end of an answer.
    pub(super) fn is_last(&self) -> bool {
        self.message[0] == b'Z'
    }

    /// Returns the SQLSTATE of an ErrorResponse: its fields end with a zero each, and `C` is the
    /// SQLSTATE.
    pub(super) fn sqlstate(&self) -> Option<String> {
        let fields = self.message.strip_prefix(b"E")?.get(4..)?;
        let code = fields.split(|byte| *byte == 0).find_map(|field| field.strip_prefix(b"C"))?;
        Some(String::from_utf8_lossy(code).into_owned())
    }
}

/// Received bytes, to be taken as whole messages.
#[derive(Debug, Default)]
struct Frames(Vec<u8>);

impl Frames {
    /// Removes and returns the first message if it is complete.
    fn take_frame(&mut self, typed: bool) -> Option<Vec<u8>> {
        let head = usize::from(typed);
        let length = usize::try_from(u32_at(&self.0, head)?).ok()?;
        let end = head + length.max(4);
        (self.0.len() >= end).then(|| self.0.drain(..end).collect())
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
