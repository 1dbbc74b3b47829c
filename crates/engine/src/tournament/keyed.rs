//! Maps whose keys follow from their values, serialized as lists of the values.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value that contains its key.
pub(super) trait Keyed {
    type Key: Ord;

    fn key(&self) -> Self::Key;
}

pub(super) fn serialize<V, S>(map: &BTreeMap<V::Key, V>, to: S) -> Result<S::Ok, S::Error>
where
    V: Keyed + Serialize,
    S: Serializer,
{
    to.collect_seq(map.values())
}

pub(super) fn deserialize<'de, V, D>(from: D) -> Result<BTreeMap<V::Key, V>, D::Error>
where
    V: Keyed + Deserialize<'de>,
    D: Deserializer<'de>,
{
    let values = Vec::<V>::deserialize(from)?;
    Ok(values.into_iter().map(|value| (value.key(), value)).collect())
}
