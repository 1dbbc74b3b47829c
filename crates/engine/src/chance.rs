//! Fair dealing: the deal commitment, which is the hash of a server seed, the keystream derived
//! from the seeds, and the numbers and shuffles drawn from the keystream.
//!
//! The implementation follows rules 9.1 to 9.4 exactly, so that anybody can verify a deal without
//! this code; docs/FAIRNESS.md explains it step by step. No entropy is gathered here: the server
//! seed is an argument.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hex::Hex;

/// The domain separator for this use of the server seed (rule 9.2).
const DOMAIN: &[u8] = b"bahay/shuffle/v1";

/// The secret seed of one game's deal, published when the game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServerSeed(pub Hex<32>);

impl ServerSeed {
    /// Returns the SHA-256 of the seed, which is published before any client seed is known (rule
    /// 9.1).
    pub fn commitment(&self) -> Commitment {
        Commitment(Hex(Sha256::digest(self.0.0).into()))
    }

    /// Derives the key of the game's stream (rule 9.2). The clients are in the order of the seats.
    pub fn key(&self, game: &[u8; 16], clients: &[Contribution]) -> Key {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0.0).expect("any length is a key");
        mac.update(DOMAIN);
        mac.update(game);
        for client in clients {
            mac.update(&client.seed.0.0);
        }
        Key(Hex(mac.finalize().into_bytes().into()))
    }
}

/// The SHA-256 of a seed of the house or of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Commitment(pub Hex<32>);

impl Commitment {
    /// The commitment of a client that does not take part (rule 9.1).
    pub const NONE: Self = Self(Hex([0; 32]));

    /// Returns whether this is the commitment of a client that does not take part.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

/// The contribution of one seat to the deal: the SHA-256 of a text of its client (rule 9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClientSeed(pub Hex<32>);

impl ClientSeed {
    pub fn from_text(text: &str) -> Self {
        Self(Hex(Sha256::digest(text.as_bytes()).into()))
    }

    /// Returns the commitment that the client sends with `ready`. It reveals nothing about the seed
    /// and fits no other seed.
    pub fn commitment(&self) -> Commitment {
        Commitment(Hex(Sha256::digest(self.0.0).into()))
    }
}

/// The part of one seat's client in a deal, as the record stores it (rule 9.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contribution {
    /// The commitment sent with `ready`; zeros if the client did not take part.
    pub commitment: Commitment,
    /// The text revealed after all seats were ready; `None` if it was not revealed.
    pub text: Option<String>,
    /// The seed used in the deal.
    pub seed: ClientSeed,
}

impl Contribution {
    /// Creates a contribution with its seed: the hash of the text, or the commitment itself if no
    /// text was revealed.
    pub fn new(commitment: Commitment, text: Option<String>) -> Self {
        let seed = match &text {
            Some(text) => ClientSeed::from_text(text),
            None => ClientSeed(commitment.0),
        };
        Self { commitment, text, seed }
    }

    /// Creates the contribution of a client that has revealed its text.
    pub fn from_text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::new(ClientSeed::from_text(&text).commitment(), Some(text))
    }

    /// Creates the contribution of a client that did not take part.
    pub fn none() -> Self {
        Self::new(Commitment::NONE, None)
    }

    /// Returns whether the text matches the commitment and the seed follows from both.
    pub fn is_valid(&self) -> bool {
        let is_of = |text: &String| ClientSeed::from_text(text).commitment() == self.commitment;
        self.text.as_ref().is_none_or(is_of)
            && self.seed == Self::new(self.commitment, self.text.clone()).seed
    }
}

/// The ChaCha20 key of one game's stream. It is as secret as the server seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(pub Hex<32>);

/// A request of a game to chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// A number below the given bound, which is not zero.
    Number(u32),
    /// A permutation of this many items.
    Order(u8),
}

/// The answer of chance to a [`Request`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChanceAnswer {
    Number(u32),
    /// A permutation of 0 … n−1; the first item is the top.
    Order(Vec<u8>),
}

impl ChanceAnswer {
    /// Returns whether this is a possible answer to the request. Answers from a record must be
    /// checked before use.
    pub fn fits(&self, request: Request) -> bool {
        match (self, request) {
            (Self::Number(number), Request::Number(n)) => *number < n,
            (Self::Order(order), Request::Order(n)) => {
                let mut seen = [false; 256];
                order.len() == usize::from(n)
                    && order.iter().all(|thing| {
                        *thing < n && !core::mem::replace(&mut seen[usize::from(*thing)], true)
                    })
            }
            (Self::Number(_), Request::Order(_)) | (Self::Order(_), Request::Number(_)) => false,
        }
    }
}

/// The position in the keystream of one game: a key and a number of words, so that it can be
/// serialized and resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    key: Key,
    /// The number of words drawn so far.
    taken: u32,
}

impl Stream {
    pub const fn new(key: Key) -> Self {
        Self { key, taken: 0 }
    }

    /// Draws the answer to a request and advances the position.
    ///
    /// # Panics
    /// If the request is for a number below zero.
    pub fn draw(&mut self, request: Request) -> ChanceAnswer {
        let mut keystream = Keystream::from_stream(self);
        let answer = keystream.draw(request);
        self.taken = keystream.taken;
        answer
    }
}

/// A stream for repeated draws that never serializes its position. It gives the same answers as a
/// [`Stream`] without seeking for each of them.
pub struct ChanceRng {
    key: Key,
    keystream: Keystream,
}

impl ChanceRng {
    pub fn new(key: Key) -> Self {
        Self { key, keystream: Keystream::from_stream(&Stream::new(key)) }
    }

    /// Draws the answer to a request, as [`Stream::draw`] does.
    ///
    /// # Panics
    /// If the request is for a number below zero.
    pub fn draw(&mut self, request: Request) -> ChanceAnswer {
        self.keystream.draw(request)
    }

    /// Draws a number below `things`.
    ///
    /// # Panics
    /// If `things` is zero or exceeds 32 bits.
    pub fn below(&mut self, things: usize) -> usize {
        let things = u32::try_from(things).expect("a draw has fewer than 2^32 outcomes");
        self.keystream.draw_below(things) as usize
    }

    /// Creates a generator for a test from a number; equal numbers give equal draws.
    #[cfg(any(test, feature = "testing"))]
    pub fn from_number(number: u8) -> Self {
        Self::new(Key(Hex([number; 32])))
    }
}

impl Clone for ChanceRng {
    fn clone(&self) -> Self {
        let key = self.key;
        let taken = self.keystream.taken;
        Self { key, keystream: Keystream::from_stream(&Stream { key, taken }) }
    }
}

/// Formats the generator without its key.
impl fmt::Debug for ChanceRng {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChanceRng").field("taken", &self.keystream.taken).finish_non_exhaustive()
    }
}

/// The keystream of RFC 8439 as little-endian words (rule 9.2), with a zero nonce and a counter
/// from 0.
struct Keystream {
    cipher: ChaCha20,
    block: [u8; 64],
    taken: u32,
}

/// The number of words in a keystream block.
const WORDS_PER_BLOCK: u32 = 16;

impl Keystream {
    fn from_stream(stream: &Stream) -> Self {
        let mut cipher = ChaCha20::new(&stream.key.0.0.into(), &[0; 12].into());
        let start = stream.taken - stream.taken % WORDS_PER_BLOCK;
        cipher.seek(u64::from(start) * 4);
        let mut keystream = Self { cipher, block: [0; 64], taken: stream.taken };
        if !stream.taken.is_multiple_of(WORDS_PER_BLOCK) {
            keystream.refill();
        }
        keystream
    }

    fn draw(&mut self, request: Request) -> ChanceAnswer {
        match request {
            Request::Number(n) => ChanceAnswer::Number(self.draw_below(n)),
            Request::Order(n) => ChanceAnswer::Order(shuffle(n, |n| self.draw_below(n))),
        }
    }

    fn refill(&mut self) {
        self.block = [0; 64];
        self.cipher.apply_keystream(&mut self.block);
    }

    fn next_word(&mut self) -> u32 {
        let place = self.taken % WORDS_PER_BLOCK;
        if place == 0 {
            self.refill();
        }
        self.taken += 1;
        let start = place as usize * 4;
        let bytes = self.block[start..start + 4].try_into().expect("four bytes of a block");
        u32::from_le_bytes(bytes)
    }

    /// Draws a number below `n` without bias (rule 9.3).
    fn draw_below(&mut self, n: u32) -> u32 {
        assert!(n > 0, "a draw needs at least one outcome");
        let multiples_below = (1_u64 << 32) / u64::from(n) * u64::from(n);
        loop {
            let word = self.next_word();
            if u64::from(word) < multiples_below {
                return word % n;
            }
        }
    }
}

/// Draws a permutation by the Fisher–Yates shuffle of rule 9.4, given a draw of numbers below a
/// bound.
pub(crate) fn shuffle(n: u8, mut draw_below: impl FnMut(u32) -> u32) -> Vec<u8> {
    let mut order: Vec<u8> = (0..n).collect();
    for i in (1..n).rev() {
        let other = draw_below(u32::from(i) + 1) as usize;
        order.swap(usize::from(i), other);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::{
        ChanceAnswer, ChanceRng, Commitment, Contribution, Key, Keystream, Request, ServerSeed,
        Stream,
    };
    use crate::hex::Hex;
    use alloc::string::ToString;

    const ZERO: Key = Key(Hex([0; 32]));

    #[test]
    fn the_keystream_of_a_zero_key_is_the_published_one() {
        let mut keystream = Keystream::from_stream(&Stream::new(ZERO));
        let first: [[u8; 4]; 4] = core::array::from_fn(|_| keystream.next_word().to_le_bytes());
        assert_eq!(
            Hex::<16>(first.concat().try_into().unwrap()).to_string(),
            "76b8e0ada0f13d90405d6ae55386bd28"
        );
    }

    #[test]
    fn a_stream_resumed_at_any_word_continues_unchanged() {
        let mut whole = Keystream::from_stream(&Stream::new(ZERO));
        for taken in 0..100 {
            let mut resumed = Keystream::from_stream(&Stream { key: ZERO, taken });
            assert_eq!(resumed.next_word(), whole.next_word(), "word {taken}");
        }
    }

    #[test]
    fn a_draw_continues_where_the_last_one_ended() {
        let mut stream = Stream::new(ZERO);
        let first = stream.draw(Request::Number(3));
        // The first word is 0xade0b876; the greatest multiple of 3 below 2³² is above it.
        assert_eq!(first, ChanceAnswer::Number(0xade0_b876 % 3));
        let order = stream.draw(Request::Order(52));
        assert!(order.fits(Request::Order(52)));
        assert!(stream.taken >= 52);
    }

    #[test]
    fn the_generator_draws_the_same_answers_as_its_stream() {
        let mut dice = ChanceRng::new(ZERO);
        let mut stream = Stream::new(ZERO);
        for number in 1..200 {
            let request =
                if number % 7 == 0 { Request::Order(52) } else { Request::Number(number) };
            let expected = stream.draw(request);
            assert_eq!(dice.clone().draw(request), expected, "draw {number}, by a clone");
            assert_eq!(dice.draw(request), expected, "draw {number}");
        }
    }

    #[test]
    fn an_answer_must_fit_its_request() {
        assert!(!ChanceAnswer::Number(3).fits(Request::Number(3)));
        assert!(!ChanceAnswer::Order([0, 0, 1].into()).fits(Request::Order(3)));
        assert!(!ChanceAnswer::Order([0, 1].into()).fits(Request::Order(3)));
        assert!(ChanceAnswer::Order([2, 0, 1].into()).fits(Request::Order(3)));
    }

    #[test]
    fn the_key_depends_on_every_part() {
        let seed = ServerSeed(Hex([7; 32]));
        let none = Contribution::none();
        let revealed = Contribution::from_text("a");
        let clients = [none.clone(), revealed.clone(), none.clone()];
        let key = seed.key(&[1; 16], &clients);
        assert_ne!(key, seed.key(&[2; 16], &clients));
        assert_ne!(key, seed.key(&[1; 16], &[none.clone(), none.clone(), none.clone()]));
        let concealed = Contribution::new(revealed.commitment, None);
        assert_ne!(key, seed.key(&[1; 16], &[none.clone(), concealed, none]));
        assert_ne!(key, ServerSeed(Hex([8; 32])).key(&[1; 16], &clients));
    }

    #[test]
    fn a_revealed_text_must_match_its_commitment() {
        let revealed = Contribution::from_text("a");
        assert!(revealed.is_valid() && Contribution::none().is_valid());
        assert!(Contribution::new(revealed.commitment, None).is_valid());
        assert!(!Contribution { text: Some("b".into()), ..revealed.clone() }.is_valid());
        assert!(!Contribution { text: None, ..revealed.clone() }.is_valid());
        assert!(!Contribution { commitment: Commitment::NONE, ..revealed.clone() }.is_valid());
        let other = Contribution::from_text("b");
        assert!(!Contribution { commitment: other.commitment, ..revealed }.is_valid());
    }
}
