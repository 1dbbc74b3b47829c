//! The fixed catalogue of phrases that players can say at a table. Clients supply words and
//! pictures in any language; the ids here are only added to, and never change their meaning.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A quick phrase or an emoji.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phrase {
    Hello,
    GoodLuck,
    Thanks,
    WellPlayed,
    Sorry,
    Hurry,
    NiceFight,
    ISurrender,
    OneMoreGame,
    Goodbye,
    EmojiSmile,
    EmojiLaugh,
    EmojiCry,
    EmojiAngry,
    EmojiSurprised,
    EmojiThinking,
    EmojiSleepy,
    EmojiHeart,
    EmojiClap,
    EmojiFire,
}
