//! The macro for a game's actions: the enum, and its strict forms for deserialization.

/// Defines the enum of the actions. Unknown fields are rejected, because they are a client's
/// mistake; serde does so in struct variants only, so an action is read as one of these. A field
/// with a condition is omitted if it holds, and has its default value if it is missing. `New(Part {
/// … })` is a variant of one value whose fields, all of them optional, are those of the action.
macro_rules! actions {
    (
        $(#[$about:meta])*
        pub enum $name:ident {
            $(
                $(#[$doc:meta])*
                $variant:ident
                $({ $($(#[$note:meta])* $field:ident: $type:ty $(= $omitted:literal)?),+ $(,)? })?
                $(($inner:ident { $($part:ident: $of:ty),+ }))?
            ),+ $(,)?
        }
    ) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "type", rename_all = "snake_case", from = "ActionFields")]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $(#[$about])*
        pub enum $name {
            $(
                $(#[$doc])*
                $variant
                $({ $(
                    $(#[$note])*
                    $(#[serde(default, skip_serializing_if = $omitted)])?
                    $field: $type,
                )+ })?
                $(($inner))?,
            )+
        }

        /// The form of an action for deserialization.
        #[derive(Deserialize)]
        #[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        enum ActionFields {
            $($variant {
                $($($(#[serde(default, skip_serializing_if = $omitted)])? $field: $type,)+)?
                $($(#[serde(default)] $part: $of,)+)?
            },)+
        }

        /// The form of an action in a document.
        #[derive(Deserialize)]
        #[serde(remote = "ActionFields", rename_all = "snake_case")]
        enum ActionDocument {
            $($variant {
                $($($(#[serde(default, skip_serializing_if = $omitted)])? $field: $type,)+)?
                $($(#[serde(default)] $part: $of,)+)?
            },)+
        }

        impl $crate::document::FromDocument for $name {
            fn from_document(
                document: $crate::document::Document,
            ) -> Result<Self, $crate::document::MalformedError> {
                let reader = $crate::tagged::TaggedReader { document, is_strict: true };
                ActionDocument::deserialize(reader).map(Self::from)
            }
        }

        impl From<ActionFields> for $name {
            fn from(fields: ActionFields) -> Self {
                match fields {
                    $(ActionFields::$variant { $($($field,)+)? $($($part,)+)? } => {
                        Self::$variant $({ $($field),+ })? $(($inner { $($part),+ }))?
                    })+
                }
            }
        }
    };
}
