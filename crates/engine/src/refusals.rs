//! How a game lists the reasons for which it refuses actions: each once, with its code, the rule
//! that decides and a sentence, in the order in which they are looked for.

/// Makes the list an enum that is a [`Refusal`](crate::game::Refusal), and gives it `ALL`.
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

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::string::ToString;

    use crate::catalog::refusals;
    use crate::game::Refusal as _;

    #[test]
    fn every_refusal_has_a_code_of_its_own_a_rule_and_a_sentence() {
        let mut codes = BTreeSet::new();
        for (game, illegal) in refusals() {
            let code = illegal.code();
            assert!(codes.insert((game, code)), "{game} has {code} twice");
            assert!(code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{code}");
            assert!(illegal.rule().split_once('.').is_some(), "{code}");
            assert!(illegal.to_string().len() > 10, "{code}");
        }
        assert!(codes.len() > 100, "all games are asked");
    }
}
