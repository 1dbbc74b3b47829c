//! Decodes commands on the server. An action remains a text until the game of its table is known,
//! which parses it.
//!
//! Nearly all commands are actions. They are decoded in one pass over the text, without an
//! intermediate tree of values; all others, and invalid ones, take the general path.

use bahay_engine::table::GameId;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::value::RawValue;

use super::Command;

/// The JSON text of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionText(Box<str>);

impl ActionText {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Decodes the text of a command.
///
/// # Errors
/// Fails if the text is no command.
pub fn read_command(text: &str) -> Result<Command<ActionText>, serde_json::Error> {
    match serde_json::from_str::<ActCommand<'_>>(text) {
        Ok(ActCommand { kind: ActType::Act, id, game, prompt, action }) => {
            let action = ActionText(action.get().into());
            Ok(Command::Act { id, game, prompt, action })
        }
        Err(_) => serde_json::from_str(text),
    }
}

/// [`Command::Act`] as it is received.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActCommand<'a> {
    #[serde(rename = "type")]
    kind: ActType,
    id: u32,
    game: GameId,
    prompt: u32,
    #[serde(borrow)]
    action: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ActType {
    Act,
}

impl<'de> Deserialize<'de> for ActionText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        // An internally tagged value has lost its text before it arrives here.
        let action = serde_json::Value::deserialize(from)?;
        serde_json::to_string(&action).map(|text| Self(text.into())).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const ACT: &str = r#"{"type":"act","id":7,"game":"00000000-0000-0000-0000-000000000009","prompt":3,"action":{"type":"dump","card":"7S"}}"#;

    #[test]
    fn an_action_is_read_alike_on_both_paths() {
        let action = ActionText(r#"{"type":"dump","card":"7S"}"#.into());
        let act = Command::Act { id: 7, game: GameId(Uuid::from_u128(9)), prompt: 3, action };
        assert!(serde_json::from_str::<ActCommand<'_>>(ACT).is_ok(), "it is read in one pass");
        assert_eq!(read_command(ACT).ok(), Some(act));
        let in_another_order = r#"{"prompt":3,"action":{"type":"dump"},"id":7,"type":"act","game":"00000000-0000-0000-0000-000000000009"}"#;
        let by_tag: Command<ActionText> = serde_json::from_str(in_another_order).expect("an act");
        assert_eq!(read_command(in_another_order).ok(), Some(by_tag));
    }

    #[test]
    fn invalid_commands_are_refused_with_the_reason() {
        for (text, reason) in [
            (ACT.replace("\"prompt\":3", "\"prompt\":3,\"more\":1"), "unknown field `more`"),
            (ACT.replace("\"prompt\":3", "\"prompt\":3,\"prompt\":3"), "duplicate field `prompt`"),
            (ACT.replace(",\"prompt\":3", ""), "missing field `prompt`"),
            (ACT.replace("\"act\"", "\"acts\""), "unknown variant `acts`"),
            (ACT.replace("\"prompt\":3", "\"prompt\":-3"), "invalid value"),
            (format!("{ACT} {ACT}"), "trailing characters"),
        ] {
            let error = read_command(&text).expect_err("it is no command").to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn other_commands_are_read() {
        let ping = read_command(r#"{"type":"ping","id":1}"#);
        assert_eq!(ping.ok(), Some(Command::Ping { id: 1 }));
    }
}
