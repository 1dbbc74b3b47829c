//! The reasons for a refusal, each with its code, its rule and a sentence.

refusals! {
    /// The reason for a refusal, in the order of the checks: the first that applies is given. No
    /// reason depends on anything that the seat cannot see.
    pub enum Illegal {
        /// Cards have to be dealt or drawn, or dice rolled.
        ChanceFirst => "chance_first", "2.1", "cards must be dealt or dice rolled first";
        GameOver => "game_over", "4.1", "the game is over";
        NotYourTurn => "not_your_turn", "2.2", "it is another seat's turn";
        StopFirst => "stop_first", "3.1", "a turn begins by stopping the board";
        NoSuchFloor => "no_such_floor", "1.3", "floors are numbered from 0 to 7";
        NotAsked => "not_asked", "6.2", "another seat is asked to answer";
        StandOrEvade => "stand_or_evade", "6.2", "the confronted seat answers evade or stand";
        JoinOrFold => "join_or_fold", "6.2", "the others answer join or fold";
        ConfrontOrFold => "confront_or_fold", "7.1", "an acquisition is answered confront or fold";
        AlreadyStopped => "already_stopped", "3.1", "the board has already been stopped";
        NothingToAnswer => "nothing_to_answer", "6.2", "there is nothing to answer";
        /// Another seat has converted its reserves.
        ReservesFirst => "reserves_first", "5.2",
            "reserves were converted: answer convert_reserves or fold";
        /// The seat has converted its reserves in this turn.
        OnlyEndLeft => "only_end_left", "5.1",
            "after converting reserves a turn goes on with the costs and cards, and ends";
        TurnBegun => "turn_begun", "3.3", "this is only possible at the beginning of a turn";
        NoRisk => "no_risk", "3.3", "there is no risk to pay, or it has been paid";
        RiskUnpaid => "risk_unpaid", "3.3", "the risk must be paid first";
        RetreatBarred => "retreat_barred", "3.2", "the previous turn was a retreat or an evasion";
        NoEvadeToken => "no_evade_token", "3.2", "the evade token is spent";
        EvasionBarred => "evasion_barred", "3.2",
            "the previous turn was a retreat, an evasion or a confrontation";
        NothingDiscarded => "nothing_discarded", "3.5", "a paid evasion discards one to four cards";
        DiscardNotInHand => "discard_not_in_hand", "3.2",
            "a card to discard is not in the hand, or named twice";
        TooEarly => "too_early", "8.4", "in the first rounds nobody confronts or acquires";
        TargetMissing => "target_missing", "6.1", "a confrontation names its target";
        TargetGiven => "target_given", "7.1", "this answer names no target";
        NoSuchTarget => "no_such_target", "6.1", "the target is another seat that is still in";
        ConfrontationBarred => "confrontation_barred", "6.1",
            "the previous turn was a retreat, a confrontation or an evasion by token";
        TargetEvaded => "target_evaded", "6.1", "the target evaded by token on its previous turn";
        IndexOff => "index_off", "3.4",
            "this table does not allow a change of the costs by a percentage";
        OnceATurn => "once_a_turn", "3.4", "this was already done in this turn";
        OutOfOrder => "out_of_order", "3.4", "it is too late for this in the turn";
        NoSuchSlot => "no_such_slot", "1.3", "slots are numbered from 0 to 2";
        NoFreeExchange => "no_free_exchange", "1.3", "this table has no free exchange";
        SameFloor => "same_floor", "3.4", "this is the facing floor itself";
        AlreadyUp => "already_up", "3.4", "the card to buy is already face up";
        NotUp => "not_up", "3.4", "the card to sell is face down";
        ExchangeUp => "exchange_up", "3.4", "a card to exchange is face up";
        LeverageFree => "leverage_free", "3.4", "a free exchange is not paid by the buy-in";
        LeverageUsed => "leverage_used", "3.4", "the buy-in has already paid for something";
        BelowOne => "below_one", "1.6", "a cost is at least 1";
        NotLower => "not_lower", "3.4", "lowering must not increase a cost";
        NotHigher => "not_higher", "3.4", "raising must not decrease a cost";
        PercentOutOfRange => "percent_out_of_range", "3.4",
            "a percentage is from -99 to 100 and not 0";
        NoChange => "no_change", "3.4", "no cost changes";
        RaisedTooFar => "raised_too_far", "1.6", "a cost cannot be raised by so much in one turn";
        NoDieHere => "no_die_here", "3.4", "no die faces this floor";
        TooFewChips => "too_few_chips", "1.5", "the seat has fewer chips than this costs";
    }
}
