//! Pauses in an arena tournament (rule 4.5).

use crate::operation::operations;
use crate::values::IdText;

operations! {
    /// Pause in an arena tournament
    ///
    /// The player is not paired until the pause ends; a running game is played to its end.
    /// Idempotent. A player for whom the AI played at the end of a game is paused as well, which
    /// `is_paused` of the entry tells.
    PAUSE_IN_TOURNAMENT = Put "/v1/tournaments/{id}/pause", Tournaments, Player {
        path id: IdText = "The tournament",
        204 empty (): "The player is not paired",
        refuses TournamentNotFound TournamentOver NotArena NotRegistered,
    }

    /// End a pause in an arena tournament
    ///
    /// The player waits for a table again. Idempotent.
    RESUME_TOURNAMENT = Delete "/v1/tournaments/{id}/pause", Tournaments, Player {
        path id: IdText = "The tournament",
        204 empty (): "The player is paired again",
        refuses TournamentNotFound TournamentOver NotArena NotRegistered,
    }
}
