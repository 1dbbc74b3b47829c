//! The macro for a game's list of refusals: each reason with its code, its rule and a sentence, in
//! order of precedence.

/// Defines the enum of the reasons, implements [`Refusal`](crate::game::Refusal) for it, and adds
/// the list `ALL`.
macro_rules! refusals {
    (
        $(#[$about:meta])*
        pub enum $name:ident {
            $($(#[$meta:meta])* $reason:ident => $code:literal, $rule:literal, $sentence:literal;)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$meta])* $reason,)+
        }

        impl $name {
            /// Every reason, in order of precedence.
            pub const ALL: &'static [Self] = &[$(Self::$reason),+];
        }

        impl $crate::game::Refusal for $name {
            fn code(self) -> &'static str {
                match self {
                    $(Self::$reason => $code,)+
                }
            }

            fn rule(self) -> &'static str {
                match self {
                    $(Self::$reason => $rule,)+
                }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(match self {
                    $(Self::$reason => $sentence,)+
                })
            }
        }

        impl core::error::Error for $name {}
    };
}
