//! The refusals of a session before its table decides, as one list. The server makes an enum of it,
//! so that the compiler finds a refusal that it never gives; asyncapi.yaml lists them.

/// Passes the refusals to a macro: name, code, whether the same command may succeed later, and the
/// reason.
#[macro_export]
macro_rules! session_refusals {
    ($apply:ident) => {
        $apply! {
            Malformed, "malformed", false, "the text is not a command; `detail` says where";
            NotAuthenticated, "not_authenticated", false, "authenticate first";
            AlreadyAuthenticated, "already_authenticated", false,
                "this connection is already authenticated";
            TicketUnknown, "ticket_unknown", false, "the ticket is unknown, used or expired";
            TooFast, "too_fast", true, "too many messages";
            NotJoined, "not_joined", false, "join your table first";
            NotSeated, "not_seated", false, "you do not sit at a table: ask a room for a seat";
            AlreadyJoined, "already_joined", false,
                "you play at a table on this connection: leave it first";
            TableNotFound, "table_not_found", false, "there is no such table";
            NotWatchable, "not_watchable", false, "only its players see this table";
            TooTalkative, "too_talkative", true,
                "at most one phrase every two seconds, and three at once";
            Muted, "muted", false, "you are muted: phrases are refused until the mute ends";
            Seating, "seating", true, "another request of yours is being seated: ask again";
            RoomNotFound, "room_not_found", false, "there is no such room";
            RoomClosed, "room_closed", false, "this room is closed";
            Banned, "banned", false, "you are banned; `detail` says until when, and why";
            TooFewCoins, "too_few_coins", false, "this room requires a larger balance";
            TooManyCoins, "too_many_coins", false, "this room requires a smaller balance";
            AccountRequired, "account_required", false,
                "this room is for players with a password or an identity";
            RoomLimit, "room_limit", false,
                "the daily limit of winnings in rooms is reached: play on tomorrow";
            SocketRequired, "socket_required", true,
                "open the socket first: a seat is kept only for players who are there";
            NotReadyBefore, "not_ready_before", false,
                "you, your device or many of your network took seats and were not ready: wait for `retry_after_ms`";
            RoomsInvalid, "rooms_invalid", false, "name one to eight rooms of one game";
            TicketNotFound, "ticket_not_found", false, "this connection has no ticket";
            TicketMatched, "ticket_matched", false, "a table has been found already";
            TableHalted, "table_halted", false,
                "this table is halted until an operator releases it";
            OtherVersion, "other_version", true, "another node plays this table: try again";
            Unavailable, "unavailable", true, "the table is unavailable: try again";
        }
    };
}
