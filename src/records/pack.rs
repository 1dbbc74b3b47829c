//! Records in one object: each a zstd frame of its own, one after the other, compressed with a
//! dictionary that was learnt from records. Anybody with both can read them, as by
//! `zstd -D DICTIONARY -dc OBJECT`.

use sha2::{Digest as _, Sha256};
use zstd::bulk::{Compressor, Decompressor};

/// How hard it is tried: a record is packed once and kept for years.
const LEVEL: i32 = 19;

/// The size of a dictionary, and from how many records one is learnt at least.
const DICTIONARY_BYTES: usize = 64 * 1024;
const SAMPLES_MIN: usize = 100;

/// A larger record stays where it is, and no object can make us take more memory for one.
pub(super) const RECORD_BYTES_MAX: usize = 1024 * 1024;

/// SHA-256.
pub(super) type Hash = [u8; 32];

pub(super) fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// Records side by side, and where each is.
#[derive(Debug, Default)]
pub(super) struct PackedObject {
    pub(super) bytes: Vec<u8>,
    /// In the order in which they were given.
    pub(super) frames: Vec<RecordFrame>,
}

/// Where a record is in its object, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordFrame {
    pub(super) offset: usize,
    pub(super) length: usize,
    /// Of the record as it came.
    pub(super) hash: Hash,
}

/// A dictionary, or none where there are too few records for one, or they are too much alike.
pub(super) fn train_dictionary(records: &[&str]) -> Option<Vec<u8>> {
    if records.len() < SAMPLES_MIN {
        return None;
    }
    let samples: Vec<&[u8]> = records.iter().map(|record| record.as_bytes()).collect();
    zstd::dict::from_samples(&samples, DICTIONARY_BYTES).ok()
}

/// Packs records, of which none is larger than [`RECORD_BYTES_MAX`].
pub(super) fn pack(records: &[&str], dictionary: &[u8]) -> std::io::Result<PackedObject> {
    let mut compressor = Compressor::with_dictionary(LEVEL, dictionary)?;
    let mut packed = PackedObject::default();
    for record in records {
        let frame = compressor.compress(record.as_bytes())?;
        let (offset, length) = (packed.bytes.len(), frame.len());
        packed.frames.push(RecordFrame { offset, length, hash: hash(record.as_bytes()) });
        packed.bytes.extend_from_slice(&frame);
    }
    Ok(packed)
}

/// Takes frames apart again. In words, why not.
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
        return Err("it is not what was archived: its hash is another");
    }
    String::from_utf8(record).map_err(|_| "it is no text")
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
    fn what_is_packed_is_unpacked_with_and_without_a_dictionary() {
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
    fn what_was_changed_is_told() {
        let packed = pack(&["{\"a\":1}"], &[]).unwrap();
        let part = packed.parts[0];
        for place in 0..packed.bytes.len() {
            let mut frame = packed.bytes.clone();
            frame[place] ^= 1;
            let read = unpack(&frame, &[], &part.hash);
            // Some bits of a frame say nothing about what is in it.
            assert!(read.is_err() || read.as_deref() == Ok("{\"a\":1}"), "byte {place}");
        }
        assert!(unpack(&packed.bytes, &[], &[0; 32]).is_err());
        assert!(unpack(&[], &[], &part.hash).is_err());
    }
}
