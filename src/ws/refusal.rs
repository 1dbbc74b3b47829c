//! The refusals of a session before its table decides.

/// Defines the refusals of the protocol as an enum. The compiler reports one that is never given.
macro_rules! define_refusals {
    ($($name:ident, $code:literal, $is_retryable:literal, $detail:literal;)+) => {
        /// A refusal of a session before its table decides.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum SessionRefusal {
            $($name,)+
        }

        impl SessionRefusal {
            /// Returns the stable code, in snake case.
            pub(super) const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// Returns true if the same command may succeed later, unchanged.
            pub(super) const fn is_retryable(self) -> bool {
                match self {
                    $(Self::$name => $is_retryable,)+
                }
            }

            /// Returns the reason, unless a message gives a more precise one.
            pub(super) const fn detail(self) -> &'static str {
                match self {
                    $(Self::$name => $detail,)+
                }
            }
        }
    };
}

bahay_protocol::session_refusals!(define_refusals);
