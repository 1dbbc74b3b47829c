//! Types and schemas that several responses and requests share.

use std::borrow::Cow;
use std::ops::Deref;

use bahay_engine::coins;
use serde::{Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

use bahay_base::clock::{self, Timestamp};
use bahay_base::ids::ROOM_ID_BYTES_MAX;
use bahay_base::reason::REASON_LENGTH;
use bahay_names::{NAME_TEXT_LENGTH_MAX, PASSWORD_LENGTH};

/// An amount in the API: an integer in hundredths of a coin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Coins(coins::Coins);

impl Coins {
    pub const fn from_hundredths(hundredths: i64) -> Self {
        Self(coins::Coins::from_hundredths(hundredths))
    }
}

impl Deref for Coins {
    type Target = coins::Coins;

    fn deref(&self) -> &coins::Coins {
        &self.0
    }
}

impl From<coins::Coins> for Coins {
    fn from(amount: coins::Coins) -> Self {
        Self(amount)
    }
}

impl From<Coins> for coins::Coins {
    fn from(amount: Coins) -> Self {
        amount.0
    }
}

impl PartialSchema for Coins {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .description(Some(
                "An amount of coins, as an integer in hundredths of a coin: 1170 is 11.70 coins. \
                 Never a floating-point number.",
            ))
            .examples([1170])
            .into()
    }
}

impl ToSchema for Coins {}

/// An instant in the API: RFC 3339 in UTC, to the millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(Timestamp);

impl From<Timestamp> for Time {
    fn from(time: Timestamp) -> Self {
        Self(time)
    }
}

impl From<Time> for Timestamp {
    fn from(time: Time) -> Self {
        time.0
    }
}

impl Time {
    pub fn from_ms(ms: i64) -> Self {
        Self(Timestamp::from_ms(ms))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:.3}", clock::to_jiff(self.0)))
    }
}

impl PartialSchema for Time {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .description(Some("An instant: RFC 3339 in UTC, to the millisecond."))
            .examples(["2026-03-01T12:00:00.250Z"])
            .into()
    }
}

impl ToSchema for Time {}

bahay_base::text_enum! {
    /// The purpose of a transfer.
    #[derive(ToSchema)]
    #[schema(example = "payment")]
    pub enum TransferCode {
        /// An ante, from wallet to POT before the deal (rule 7.1).
        Ante = "ante",
        /// A stake, from wallet to stake account before the deal (rule 6.9).
        Hold = "hold",
        /// A payment from a loser's stake to a winner's wallet, before the fee (rule 6.7).
        Payment = "payment",
        /// The service fee, from a winner's wallet to the room's fee account (rule 6.8).
        Fee = "fee",
        /// The rest of a stake, back to its wallet.
        Release = "release",
        /// The whole POT, to a wallet (rule 7.2).
        Pot = "pot",
        /// The refund of an ante of a voided game, to its wallet.
        Refund = "refund",
        /// The starting coins of a new player.
        Welcome = "welcome",
        /// A daily reward.
        Daily = "daily",
        /// A grant to a wallet that has run nearly empty.
        Relief = "relief",
        /// An adjustment of a wallet by operators.
        Adjustment = "adjustment",
        /// A reversed transfer of an operation that operators took back.
        Reversal = "reversal",
        /// A POT refund: from the POT of a deleted table or of a private one to a wallet that paid
        /// antes into it (rule 7.4).
        PotRefund = "pot_refund",
        /// A grant to a house bot.
        HouseBot = "house_bot",
        /// The rest of a house bot's coins, back to the house.
        Sweep = "sweep",
        /// The price of a tournament, from wallet to the tournament's account at the registration.
        TournamentEntry = "tournament_entry",
        /// The price of a tournament, back to its wallet after a withdrawal before the start.
        TournamentReturn = "tournament_return",
        /// The fees of all entrants, from a tournament's account to the house at the start.
        TournamentFee = "tournament_fee",
        /// The fees of a tournament that was cancelled, back to its account.
        TournamentFeeReturn = "tournament_fee_return",
        /// The part of a tournament's pool that the house guarantees or pays for passes.
        Guarantee = "guarantee",
        /// The house's part of the pool of a tournament that was cancelled, back to the house.
        GuaranteeReturn = "guarantee_return",
        /// The prize of a place, from a tournament's account to a wallet.
        Prize = "prize",
        /// A player's part of a tournament that was cancelled, to its wallet.
        TournamentRefund = "tournament_refund",
    }
}

/// Defines a named schema for a text in requests.
macro_rules! text_schema {
    ($(#[$doc:meta])* $text:ident as $name:literal, $build:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $text;

        impl PartialSchema for $text {
            fn schema() -> RefOr<Schema> {
                let build: fn(ObjectBuilder) -> ObjectBuilder = $build;
                build(ObjectBuilder::new().schema_type(Type::String)).into()
            }
        }

        impl ToSchema for $text {
            fn name() -> Cow<'static, str> {
                $name.into()
            }
        }
    };
}

text_schema! {
    /// The schema of a player's name in requests.
    NameText as "Name", |text| text
        .max_length(Some(NAME_TEXT_LENGTH_MAX))
        .description(Some(
            "A player's name: 2 to 20 characters with a letter or digit among them, nothing \
             invisible, few accents on a letter, whole emoji. It is kept in Unicode's form NFC. \
             White space is made single and trimmed, and only then counted. The detail of a \
             refusal says which of this is broken.",
        ))
        .examples(["Mang Tomás"])
}

text_schema! {
    /// The schema of a device's id.
    DeviceText as "DeviceId", |text| text
        .pattern(Some("^[!-~]{16,128}$"))
        .description(Some("A random text that an installation has generated once and keeps."))
        .examples(["3f0c2b0e-6d7a-4b60-9a51-8a3c1c7f2d11"])
}

text_schema! {
    /// The schema of an ID token.
    IdTokenText as "IdToken", |text| text
        .max_length(Some(8192))
        .description(Some("An ID token, as the issuer gave it to the client."))
        .examples(["eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.c2lnbmF0dXJl"])
}

text_schema! {
    /// The schema of the name of an issuer of ID tokens.
    IssuerText as "IssuerName", |text| text
        .max_length(Some(64))
        .description(Some("The name of an issuer of ID tokens in the house's settings."))
        .examples(["google"])
}

text_schema! {
    /// The schema of an issuer that a player has linked.
    LinkedIssuerText as "LinkedIssuer", |text| text.max_length(Some(255)).examples(["google"])
}

text_schema! {
    /// The schema of a password to be verified.
    PasswordText as "Password", |text| text
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Password)))
        .max_length(Some(512))
        .examples(["rain on a tin roof"])
}

text_schema! {
    /// The schema of a password to be set.
    NewPasswordText as "NewPassword", |text| text
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Password)))
        .min_length(Some(*PASSWORD_LENGTH.start()))
        .max_length(Some(*PASSWORD_LENGTH.end()))
        .description(Some("Any characters. Passwords that are commonly guessed are refused."))
        .examples(["two carabaos and a jeepney"])
}

text_schema! {
    /// The schema of a time zone.
    TimeZoneText as "TimeZone", |text| text
        .pattern(Some("^[A-Za-z][A-Za-z0-9_+/-]{0,63}$"))
        .description(Some("The IANA name of a time zone."))
        .examples(["Asia/Manila"])
}

text_schema! {
    /// The schema of a time zone as devices name it.
    DeviceTimeZoneText as "DeviceTimeZone", |text| text
        .description(Some(
            "A time zone as the device names it; the server ignores names that it does not know.",
        ))
        .max_length(Some(256))
        .examples(["Asia/Manila", "GMT+08:00"])
}

text_schema! {
    /// The schema of an operator's reason.
    ReasonText as "Reason", |text| text
        .min_length(Some(*REASON_LENGTH.start()))
        .max_length(Some(*REASON_LENGTH.end()))
        .pattern(Some("^[^\\u0000-\\u001f\\u007f-\\u009f]+$"))
        .examples(["as requested by the player on the phone"])
}

text_schema! {
    /// The schema of an id in a path.
    IdText as "Id", |text| text.format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)))
}

text_schema! {
    /// The schema of a room's id.
    RoomText as "RoomText", |text| text
        .max_length(Some(ROOM_ID_BYTES_MAX))
        .description(Some("A room's id: lower-case letters, digits and hyphens."))
        .examples(["newbie"])
}

text_schema! {
    /// The schema of the name of a game or of an ending in a query.
    GameNameText as "GameName", |text| text
        .max_length(Some(32))
        .pattern(Some("^[a-z][a-z0-9_]{0,31}$"))
}

text_schema! {
    /// The schema of a time of the day in hours and minutes.
    TimeOfDayText as "TimeOfDay", |text| text
        .max_length(Some(5))
        .pattern(Some("^([01][0-9]|2[0-3]):[0-5][0-9]$"))
        .examples(["20:00"])
}

text_schema! {
    /// The schema of an operator's name in a path.
    OperatorNameText as "OperatorName", |text| text.max_length(Some(32)).examples(["ate.luz"])
}

text_schema! {
    /// The schema of an account's code in a path.
    AccountCodeText as "AccountCode", |text| text
        .max_length(Some(140))
        .examples(["fee:newbie"])
}

text_schema! {
    /// The schema of the code of a private table.
    TableCodeText as "TableCode", |text| text.max_length(Some(8)).examples(["K7MWQ2XA"])
}

text_schema! {
    /// The schema of a card. Cards themselves are types of the engine.
    CardText as "Card", |text| text
        .pattern(Some("^[A23456789TJQK][CDHS]$"))
        .description(Some("A card: rank A23456789TJQK, then suit C D H S."))
        .examples(["AS", "TD"])
}

#[cfg(test)]
mod tests {
    use super::{Coins, Time};

    #[test]
    fn amounts_are_hundredths_and_times_are_rfc_3339() {
        let amount = bahay_engine::coins::Coins::from_hundredths(-305);
        assert_eq!(serde_json::to_string(&Coins::from(amount)).unwrap(), "-305");
        let json = |ms| serde_json::to_string(&Time::from_ms(ms)).unwrap();
        assert_eq!(json(1_772_366_400_250), "\"2026-03-01T12:00:00.250Z\"");
        assert_eq!(json(1_772_366_400_000), "\"2026-03-01T12:00:00.000Z\"");
    }
}
