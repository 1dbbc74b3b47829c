//! Enums whose variants have one text each: in columns, on the wire, in queries and on the command
//! line.

use std::fmt;

/// The error of a text that names no variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownTextError {
    /// The texts of all variants.
    pub known: &'static [&'static str],
}

impl fmt::Display for UnknownTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.known {
            [] => f.write_str("expected nothing"),
            [only] => write!(f, "expected {only}"),
            [others @ .., last] => write!(f, "expected {} or {last}", others.join(", ")),
        }
    }
}

impl std::error::Error for UnknownTextError {}

/// Defines an enum with a text for each variant: `ALL`, `as_str`, `Display`, `FromStr`, and the
/// conversions of serde. A text is a `tt`, so that derives of other crates see a plain literal.
///
/// ```
/// bahay_base::text_enum! {
///     /// The state of a request.
///     pub enum State {
///         Open = "open",
///         /// Somebody has decided.
///         Decided = "decided",
///     }
/// }
/// assert_eq!(State::Decided.as_str(), "decided");
/// assert_eq!("open".parse(), Ok(State::Open));
/// let error = "ajar".parse::<State>().unwrap_err();
/// assert_eq!(error.to_string(), "expected open or decided");
/// ```
#[macro_export]
macro_rules! text_enum {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $text:tt),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
            $crate::serde::Serialize, $crate::serde::Deserialize,
        )]
        #[serde(crate = "bahay_base::serde")]
        $visibility enum $name {
            $($(#[$variant_meta])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// All variants, in the order of their definition.
            $visibility const ALL: &[Self] = &[$(Self::$variant),+];

            /// Returns the text of the variant.
            $visibility const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::text_enum::UnknownTextError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().find(|variant| variant.as_str() == text);
                found.copied().ok_or($crate::text_enum::UnknownTextError { known: &[$($text),+] })
            }
        }
    };
}
