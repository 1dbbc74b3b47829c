//! The titles of refusals as operators read them. Those of the API address players and programs.

use bahay_api::Code;

/// Returns the title of a code for operators.
pub fn operator_title(code: Code) -> &'static str {
    match code {
        // Requests. An operator sends forms and opens pages.
        Code::RouteNotFound | Code::MethodNotAllowed => "There is no such page",
        Code::PathInvalid => "The address of the page is invalid",
        Code::QueryInvalid => "A field of the search is invalid",
        Code::CursorInvalid => "The link to the next page is no longer valid",
        Code::BodyNotJson | Code::BodyMalformed | Code::BodyUnreadable => {
            "The form did not arrive as it was sent"
        }
        Code::BodyTooLarge => "The form is too long",
        Code::BodyInvalid => "A field of the form is missing or invalid",
        Code::IdempotencyKeyMissing | Code::IdempotencyKeyInvalid | Code::IdempotencyKeyReused => {
            "The form was sent before with other fields"
        }
        Code::IdempotencyKeyInUse => "The form is still being processed",
        Code::TooManyIdempotencyKeys => "Too many forms were sent",
        Code::HostInvalid => "The address of the server is invalid",
        Code::UpgradeRequired | Code::UpgradeInvalid => "The page is not for browsers",
        // Authentication.
        Code::TokenMissing
        | Code::TokenMalformed
        | Code::TokenForged
        | Code::TokenExpired
        | Code::TokenRevoked
        | Code::RefreshTokenUnknown
        | Code::RefreshTokenReused
        | Code::RefreshTokenExpired => "The session has ended",
        Code::ProofMissing | Code::ProofRefused | Code::ProofInsufficient => {
            "The player has not proved the account"
        }
        Code::IdTokenRefused => "The player's identity is not accepted",
        Code::OriginRefused => "The request came from another site",
        // Players.
        Code::Banned => "The player is banned",
        Code::ExportedLately => "The player has exported the account recently",
        Code::OwnPlayer => "A player cannot do this to itself",
        Code::TooManyRelations => "The player has blocked or muted the maximum number of players",
        Code::AlreadyReported => "The player has already reported this player for the game",
        Code::NoticeNotFound => "The player has no such notice",
        Code::PasswordWrong => "This is not the player's password",
        Code::DeviceWrong => "This device does not sign the player in",
        Code::IdentityWrong => "This identity is not linked to the player",
        Code::PasswordSet => "The player already has a password",
        Code::PasswordNotSet => "The player has no password yet",
        Code::NameChangedLately => "The player has changed the name recently",
        Code::IssuerLinked => "The player has linked another identity of this issuer",
        Code::LastSignIn => "This is the player's only sign-in method",
        Code::SessionNotFound => "The player has no such session",
        Code::InGame => "The player sits at a table, or has an unfinished game",
        Code::TooFewCoins => "The player's wallet holds less than the room requires",
        Code::TooManyCoins => "The player's wallet holds more than the room allows",
        Code::SocketRequired => "The player is not connected",
        Code::NotReadyBefore => "The player took seats and was not ready",
        Code::PrivateBetTooHigh => {
            "A game could win more than the player may still win at private tables"
        }
        Code::RoomLimit => "The player has reached the daily limit of wins in rooms",
        Code::SeatedElsewhere => "The player sits at another table",
        Code::TicketNotFound => "The player has no such ticket",
        Code::TicketMatched => "A table has already been found for the player",
        Code::TooManyPrivateTables => "The player has too many private tables",
        Code::KickedByHost => "The host has removed the player",
        Code::Seating => "Another request of the player is being seated",
        Code::SeatAfterGame => "A bot will give the player its seat after this game",
        Code::NotSeated => "The player sits at no table",
        Code::NotRegistered => "The player is not registered",
        Code::ReliefNotDue => "The player has too many coins for relief",
        Code::NetworkUsedUp => "The player's network has used up today's reliefs",
        Code::WelcomeDue => "The player's welcome grant is due first, on another day",
        // Games and tables.
        Code::GameNotFound => "There is no such game",
        Code::TableHalted => "The table is halted until an operator decides",
        Code::TableBroken => "The stored moves of the table cannot be replayed",
        _ => code.title(),
    }
}

#[cfg(test)]
mod tests {
    use super::operator_title;
    use bahay_api::Code;

    /// The codes whose titles of the API address an operator.
    const OPERATORS: [Code; 8] = [
        Code::OperatorRoleMissing,
        Code::OperatorTokenUnknown,
        Code::OperatorTokenExpired,
        Code::OperatorOwn,
        Code::CorrectionOwn,
        Code::CorrectionNotIndependent,
        Code::TournamentRequestOwn,
        Code::TournamentRequestNotIndependent,
    ];

    #[test]
    fn no_title_addresses_a_player_or_a_program() {
        for code in Code::ALL.iter().copied().filter(|code| !OPERATORS.contains(code)) {
            let title = operator_title(code);
            let words = || title.split(|letter: char| !letter.is_alphanumeric());
            for word in ["You", "you", "Your", "your", "yours", "body", "query", "JSON", "token"] {
                assert!(words().all(|one| one != word), "{code:?}: {title}");
            }
        }
    }
}
