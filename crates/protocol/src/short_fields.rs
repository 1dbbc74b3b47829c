//! The fields of the table's short events: their values in the short forms of messages.

use bahay_engine::chance::{Commitment, ServerSeed};
use bahay_engine::coins::Coins;
use bahay_engine::game::Item;
use bahay_engine::seat::Seat;
use bahay_engine::table::{Crown, Fee, GameId, Payment, PotPayout, Settlement, Timestamp};
use serde::de::{self, DeserializeOwned, Error as _, SeqAccess};
use serde::{Deserialize, Serialize, Serializer};

use crate::baseline::{Baseline, add_ms, elapsed_ms};
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
    pub(crate) baseline: Baseline,
}

/// A field of the table's short events.
pub(crate) trait TableField: DeserializeOwned {
    fn to_short(&self, context: Context) -> impl Serialize;

    fn read_short<'de, A: SeqAccess<'de>>(_: Context, fields: &mut A) -> Result<Self, A::Error> {
        next_element(fields)
    }
}

/// The last field of a short event, which is omitted if it has its default value.
pub(crate) trait LastField: Sized {
    /// Returns the value in the short form, or `None` if it is omitted.
    fn to_last(&self, context: Context) -> Option<impl Serialize>;

    fn read_last<'de, A: SeqAccess<'de>>(
        context: Context,
        fields: &mut A,
    ) -> Result<Self, A::Error>;
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

plain_fields!(bool, Seat, Coins, Vec<Coins>);

impl TableField for Timestamp {
    fn to_short(&self, context: Context) -> impl Serialize {
        elapsed_ms(context.now, *self)
    }

    fn read_short<'de, A: SeqAccess<'de>>(
        context: Context,
        fields: &mut A,
    ) -> Result<Self, A::Error> {
        Ok(add_ms(context.now, next_element(fields)?))
    }
}

/// The end of a countdown, as the difference of its length to that of the last countdown.
impl LastField for Timestamp {
    fn to_last(&self, Context { now, baseline, .. }: Context) -> Option<impl Serialize> {
        let more_ms = elapsed_ms(now, *self).wrapping_sub(baseline.countdown_ms);
        (more_ms != 0).then_some(more_ms)
    }

    fn read_last<'de, A: SeqAccess<'de>>(
        Context { now, baseline, .. }: Context,
        fields: &mut A,
    ) -> Result<Self, A::Error> {
        let more_ms: i64 = fields.next_element()?.unwrap_or_default();
        Ok(add_ms(now, baseline.countdown_ms.wrapping_add(more_ms)))
    }
}

/// The id is null if it is that of the game that was named last.
impl TableField for GameId {
    fn to_short(&self, Context { form, baseline, .. }: Context) -> impl Serialize {
        let is_known = baseline.game == Some(*self);
        (!is_known).then(|| Binary { bytes: self.0.as_bytes(), text: self, form })
    }

    fn read_short<'de, A: SeqAccess<'de>>(
        Context { baseline, .. }: Context,
        fields: &mut A,
    ) -> Result<Self, A::Error> {
        let game = next_element::<Option<Self>, _>(fields)?.or(baseline.game);
        game.ok_or_else(|| A::Error::custom("no game has been named"))
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

impl TableField for ServerSeed {
    fn to_short(&self, Context { form, .. }: Context) -> impl Serialize {
        Binary { bytes: &self.0.0, text: self, form }
    }
}

impl TableField for Crown {
    fn to_short(&self, Context { form, .. }: Context) -> impl Serialize {
        let Self { player, wins } = self;
        (Binary { bytes: player.0.as_bytes(), text: player, form }, wins)
    }
}

impl<T: TableField> LastField for Option<T> {
    fn to_last(&self, context: Context) -> Option<impl Serialize> {
        self.as_ref().map(|field| field.to_short(context))
    }

    fn read_last<'de, A: SeqAccess<'de>>(_: Context, fields: &mut A) -> Result<Self, A::Error> {
        Ok(fields.next_element()?.unwrap_or_default())
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

pub(crate) fn next_element<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(
    seq: &mut A,
) -> Result<T, A::Error> {
    seq.next_element()?.ok_or_else(missing_field)
}

pub(crate) fn missing_field<E: de::Error>() -> E {
    E::custom("a field is missing at the end")
}
