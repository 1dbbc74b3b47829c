//! The fields of the table's short events: their values in the short forms of messages.

use bahay_engine::chance::{Commitment, ServerSeed};
use bahay_engine::coins::Coins;
use bahay_engine::game::Item;
use bahay_engine::seat::Seat;
use bahay_engine::table::{Crown, Fee, GameId, Payment, PotPayout, Settlement, Timestamp};
use serde::de::{self, DeserializeOwned, SeqAccess};
use serde::{Deserialize, Serialize, Serializer};

use crate::form::Form;

/// A value that is text in JSON and bytes in MessagePack. Both are read as the same value.
pub(crate) struct Binary<'a, T> {
    pub(crate) bytes: &'a [u8],
    pub(crate) text: &'a T,
    pub(crate) form: Form,
}

impl<T: Serialize> Serialize for Binary<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.form {
            Form::Full | Form::Brief => self.text.serialize(serializer),
            Form::Compact => serializer.serialize_bytes(self.bytes),
        }
    }
}

/// The properties of a message that the fields of its short events depend on.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    pub(crate) form: Form,
    /// The time of the update.
    pub(crate) now: Timestamp,
}

/// A field of the table's short events.
pub(crate) trait TableField: DeserializeOwned {
    fn to_short(&self, context: Context) -> impl Serialize;

    fn read_short<'de, A: SeqAccess<'de>>(
        _now: Timestamp,
        fields: &mut A,
    ) -> Result<Self, A::Error> {
        next_element(fields)
    }
}

/// Defines fields that have no other form than in an object.
macro_rules! plain_fields {
    ($($field:ty),+) => {$(
        impl TableField for $field {
            fn to_short(&self, _: Context) -> impl Serialize {
                self
            }
        }
    )+};
}

plain_fields!(bool, Seat, Option<Seat>, Coins, Vec<Coins>);

impl TableField for Timestamp {
    fn to_short(&self, context: Context) -> impl Serialize {
        elapsed_ms(context.now, *self)
    }

    fn read_short<'de, A: SeqAccess<'de>>(
        now: Timestamp,
        fields: &mut A,
    ) -> Result<Self, A::Error> {
        Ok(add_ms(now, next_element(fields)?))
    }
}

impl TableField for GameId {
    fn to_short(&self, Context { form, .. }: Context) -> impl Serialize {
        Binary { bytes: self.0.as_bytes(), text: self, form }
    }
}

impl TableField for Commitment {
    fn to_short(&self, Context { form, .. }: Context) -> impl Serialize {
        Binary { bytes: &self.0.0, text: self, form }
    }
}

impl TableField for Vec<Commitment> {
    fn to_short(&self, context: Context) -> impl Serialize {
        self.iter().map(|sent| sent.to_short(context)).collect::<Vec<_>>()
    }
}

impl TableField for Option<ServerSeed> {
    fn to_short(&self, Context { form, .. }: Context) -> impl Serialize {
        self.as_ref().map(|seed| Binary { bytes: &seed.0.0, text: seed, form })
    }
}

impl TableField for Option<Crown> {
    fn to_short(&self, Context { form, .. }: Context) -> impl Serialize {
        self.as_ref().map(|Crown { player, wins }| {
            (Binary { bytes: player.0.as_bytes(), text: player, form }, wins)
        })
    }
}

impl TableField for Settlement {
    fn to_short(&self, _: Context) -> impl Serialize {
        fn to_row(Item { name, rule, counts }: &Item) -> (&str, &str, u32) {
            (name, rule, *counts)
        }

        let Self { winner, payments, fees, pot } = self;
        let payments = payments.iter().map(|Payment { from, to, items, owed, paid }| {
            (from, to, items.iter().map(to_row).collect::<Vec<_>>(), owed, paid)
        });
        let fees = fees.iter().map(|Fee { seat, gross, fee }| (seat, gross, fee));
        let pot = pot.as_ref().map(|PotPayout { seat, amount }| (seat, amount));
        (winner, payments.collect::<Vec<_>>(), fees.collect::<Vec<_>>(), pot)
    }
}

pub(crate) fn elapsed_ms(then: Timestamp, now: Timestamp) -> i64 {
    now.ms() - then.ms()
}

pub(crate) fn add_ms(then: Timestamp, ms: i64) -> Timestamp {
    Timestamp::from_ms(then.ms().saturating_add(ms))
}

pub(crate) fn next_element<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(
    seq: &mut A,
) -> Result<T, A::Error> {
    seq.next_element()?.ok_or_else(missing_field)
}

pub(crate) fn missing_field<E: de::Error>() -> E {
    E::custom("a field is missing at the end")
}
