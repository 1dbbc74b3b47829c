//! The reasons why a tournament refuses an input.

use core::fmt;

/// Defines the reasons: each with its code, the number of the rule that decides, if there is one,
/// and a sentence.
macro_rules! rejections {
    ($($(#[$doc:meta])* $reason:ident => $code:literal, $rule:tt, $sentence:literal;)+) => {
        /// The reason why a tournament refused an input and has not changed, in order of
        /// precedence.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rejection {
            $($(#[$doc])* $reason,)+
        }

        impl Rejection {
            /// Every reason, in order of precedence.
            pub const ALL: &'static [Self] = &[$(Self::$reason),+];

            /// Returns the stable code of the reason, in snake case.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$reason => $code,)+
                }
            }

            /// Returns the number of the rule that decides, if there is one.
            pub fn rule(self) -> Option<&'static str> {
                match self {
                    $(Self::$reason => rejections!(@rule $rule),)+
                }
            }
        }

        impl fmt::Display for Rejection {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$reason => $sentence,)+
                })
            }
        }
    };

    (@rule none) => { None };

    (@rule $rule:literal) => { Some($rule) };
}

rejections! {
    /// The tournament has ended or was cancelled.
    TournamentOver => "tournament_over", none, "the tournament is over";
    /// Registration is closed.
    RegistrationClosed => "registration_closed", "1.5", "registration is closed";
    /// The player has registered.
    AlreadyRegistered => "already_registered", "1.2", "you are registered already";
    /// Every entry is taken.
    TournamentFull => "tournament_full", "1.2", "every entry is taken";
    /// The tournament has no entry by passes.
    NoPasses => "no_passes", "1.6", "this tournament takes no passes: enter by coins";
    /// House bots may not take part.
    NoBots => "no_bots", "1.7", "house bots do not play in this tournament";
    /// The player has not registered.
    NotRegistered => "not_registered", "1.2", "you are not registered";
    /// The tournament has started, so entries are not given back.
    AlreadyStarted => "already_started", "1.4", "the tournament has started: your entry stays";
    /// Only players of an arena tournament pause.
    NotArena => "not_arena", "4.5", "only players of a running arena tournament pause";
    /// The player is already paused.
    AlreadyPaused => "already_paused", "4.5", "you are paused already";
    /// The player is not paused.
    NotPaused => "not_paused", "4.5", "you are not paused";
    /// The tournament has no such table, or the table has ended.
    NoSuchTable => "no_such_table", "2.6", "the tournament has no such table, or it has ended";
    /// The table is already known to be open.
    AlreadyOpened => "already_opened", none, "the table is known to be open";
    /// A table has no game of this number.
    NoSuchGame => "no_such_game", "2.6", "the table has no game of this number";
    /// The game has been scored.
    AlreadyScored => "already_scored", "2.6", "the game has been scored";
    /// The scores are not those of the table's players, or do not sum to zero.
    BadScores => "bad_scores", "2.6",
        "the scores are not those of the players of the table, or do not sum to zero";
    /// No such transfer is pending.
    NoSuchTransfer => "no_such_transfer", none, "no such transfer is pending";
    /// No deadline has passed.
    NothingDue => "nothing_due", none, "no deadline has passed";
}

impl core::error::Error for Rejection {}
