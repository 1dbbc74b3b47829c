//! Secrets that clients keep and send as hexadecimal digits behind a prefix.

/// Defines a secret of 256 random bits, and the error of a text that is no such secret. People and
/// secret scanners recognize the secret by its prefix.
macro_rules! hex_secret {
    (
        $(#[$meta:meta])* $name:ident = $prefix:literal,
        $(#[$error_meta:meta])* $error:ident
    ) => {
        $(#[$meta])*
        /// `Debug` omits the secret.
        #[derive(Clone, PartialEq, Eq)]
        pub struct $name(::bahay_engine::hex::Hex<32>);

        #[derive(Clone, Copy, Debug, PartialEq, Eq, ::thiserror::Error)]
        $(#[$error_meta])*
        pub struct $error;

        impl $name {
            pub fn random() -> Self {
                Self(::bahay_engine::hex::Hex(::bahay_base::entropy::seed()))
            }

            /// Returns the text for the client. There is no `Display`, so that the secret does not
            /// reach a log by accident.
            pub fn reveal(&self) -> String {
                format!("{}{}", $prefix, self.0)
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $error;

            fn from_str(text: &str) -> Result<Self, $error> {
                let digits = text.strip_prefix($prefix).ok_or($error)?;
                digits.parse().map(Self).map_err(|_| $error)
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(concat!(stringify!($name), "(…)"))
            }
        }
    };
}

pub(crate) use hex_secret;
