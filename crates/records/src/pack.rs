//! Records packed into one object: each is a zstd frame of its own, one after the other, compressed
//! with a dictionary trained from records. Anybody with both can read them, as with `zstd -D
//! DICTIONARY -dc OBJECT`.

use sha2::{Digest as _, Sha256};
use zstd::bulk::{Compressor, Decompressor};

/// The compression level: a record is packed once and kept for years.
const LEVEL: i32 = 19;

/// The size of a dictionary in bytes, and the minimum number of training samples.
const DICTIONARY_BYTES: usize = 64 * 1024;
const SAMPLES_MIN: usize = 100;

/// The maximum size of a record in bytes. Larger records are not archived, and the limit bounds the
/// memory of a decompression.
pub(super) const RECORD_BYTES_MAX: usize = 1024 * 1024;

/// A SHA-256.
pub(super) type Hash = [u8; 32];

pub(super) fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// An object with the positions of its records.
#[derive(Debug, Default)]
pub(super) struct PackedObject {
    pub(super) bytes: Vec<u8>,
    /// The frames in the order of the records.
    pub(super) frames: Vec<RecordFrame>,
}

/// The position of a record in its object, and its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordFrame {
    pub(super) offset: usize,
    pub(super) length: usize,
    /// The hash of the uncompressed record.
    pub(super) hash: Hash,
}

/// Trains a dictionary. Returns `None` if there are too few records, or if they are too similar.
pub(super) fn train_dictionary(records: &[&str]) -> Option<Vec<u8>> {
    if records.len() < SAMPLES_MIN {
        return None;
    }
    let samples: Vec<&[u8]> = records.iter().map(|record| record.as_bytes()).collect();
    zstd::dict::from_samples(&samples, DICTIONARY_BYTES).ok()
}

/// Packs records, none of which exceeds [`RECORD_BYTES_MAX`].
pub(super) fn pack(records: &[&str], dictionary: &[u8]) -> std::io::Result<PackedObject> {
    let mut compressor = Compressor::with_dictionary(LEVEL, dictionary)?;
    let mut packed = PackedObject::default();
    for record in records {
        let frame = compressor.compress(record.as_bytes())?;
        let offset = packed.bytes.len();
        let length = frame.len();
        packed.frames.push(RecordFrame { offset, length, hash: hash(record.as_bytes()) });
        packed.bytes.extend_from_slice(&frame);
    }
    Ok(packed)
}

/// Decompresses a frame and compares the record with its hash. The error describes the fault.
pub(super) fn unpack(
    frame: &[u8],
    dictionary: &[u8],
    expected: &[u8],
) -> Result<String, &'static str> {
    let mut decompressor =
        Decompressor::with_dictionary(dictionary).map_err(|_| "its dictionary cannot be read")?;
    let record = decompressor
        .decompress(frame, RECORD_BYTES_MAX)
        .map_err(|_| "it cannot be decompressed")?;
    if hash(&record).as_slice() != expected {
        return Err("its hash differs from the archived one");
    }
    String::from_utf8(record).map_err(|_| "it is not UTF-8 text")
}

/// Returns whether each frame of an object decompresses to its record.
pub fn frames_match(object: &[u8], parts: &[RecordFrame], dictionary: &[u8]) -> bool {
    parts.iter().all(|part| {
        let frame = object.get(part.offset..part.offset.saturating_add(part.length));
        frame.is_some_and(|frame| unpack(frame, dictionary, &part.hash).is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::{pack, train_dictionary, unpack};

    fn records() -> Vec<String> {
        let record = |n: u32| {
            format!(
                "{{\"game\":\"{:08x}\",\"cards\":[{},{}]}}",
                n.wrapping_mul(2_654_435_761),
                n,
                n * n
            )
        };
        (0..500).map(record).collect()
    }

    #[test]
    fn records_round_trip_with_and_without_a_dictionary() {
        let records = records();
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        assert_eq!(train_dictionary(&records[..10]), None);
        let dictionary = train_dictionary(&records).unwrap();
        for dictionary in [dictionary.as_slice(), &[]] {
            let packed = pack(&records, dictionary).unwrap();
            for (part, record) in packed.frames.iter().zip(&records) {
                let frame = &packed.bytes[part.offset..][..part.length];
                assert_eq!(unpack(frame, dictionary, &part.hash).unwrap(), *record);
            }
        }
    }

    #[test]
    fn a_changed_object_is_detected() {
        let packed = pack(&["{\"a\":1}"], &[]).unwrap();
        let part = packed.frames[0];
        for place in 0..packed.bytes.len() {
            let mut frame = packed.bytes.clone();
            frame[place] ^= 1;
            let read = unpack(&frame, &[], &part.hash);
            // Some bits of a frame do not affect its content.
            assert!(read.is_err() || read.as_deref() == Ok("{\"a\":1}"), "byte {place}");
        }
        assert!(unpack(&packed.bytes, &[], &[0; 32]).is_err());
        assert!(unpack(&[], &[], &part.hash).is_err());
    }
}
