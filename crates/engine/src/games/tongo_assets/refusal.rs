//! The reasons for which the rules refuse an action.

refusals! {
    /// The reason for a refusal, in the order of the checks: the first that applies is given.
    pub enum Illegal {
        NotDealt => "not_dealt", "1.7", "the cards have not been dealt yet";
        GameOver => "game_over", "6.1", "the game is over";
        Retreated => "retreated", "2.2", "this seat is out of the game";
        NoBribe => "no_bribe", "4.6", "there is no bribe to answer";
        BribeOpen => "bribe_open", "4.6", "an open bribe must be answered first";
        NotAsked => "not_asked", "4.6", "the bribe is offered to another seat";
        NotYourTurn => "not_your_turn", "2.2", "it is another seat's turn";
        NotOpening => "not_opening", "2.1", "no round can be opened now";
        RoundsOver => "rounds_over", "6.4", "no more rounds are opened: confront or retreat";
        NotRisking => "not_risking", "2.2", "this is not a round of risking";
        NothingToPay => "nothing_to_pay", "2.2", "there is no risk or debt to pay now";
        NotAssessing => "not_assessing", "3.1",
            "this is only possible in the seat's own assessment";
        NotConfronting => "not_confronting", "4.1", "this is only possible in an open confront";
        ConfronterPays => "confronter_pays", "4.3",
            "the confronter pays what is missing, or retreats";
        ActedAlready => "acted_already", "2.2",
            "a seat that has had its turn in this round pays or retreats";
        RaisesUsedUp => "raises_used_up", "2.2", "there are no more raises";
        RiskTooLow => "risk_too_low", "2.2", "the risk must be higher";
        RiskTooHigh => "risk_too_high", "2.2", "the risk is higher than allowed";
        PurchasePrice => "purchase_price", "2.1",
            "the purchase price is from half the risk to one and a half times the risk";
        SellPrice => "sell_price", "2.1",
            "the sell price is from 1 to one and a half times the risk";
        NoFreePurchase => "no_free_purchase", "1.3", "this seat keeps no free purchase";
        TooFewChips => "too_few_chips", "2.2", "this seat has too few chips";
        CardNotInHand => "card_not_in_hand", "3.1", "the card is not in the hand";
        NotAnAsset => "not_an_asset", "3.1", "only an asset can be swapped";
        SlotEmpty => "slot_empty", "3.1", "there is no asset in this slot";
        SwappedAlready => "swapped_already", "3.1", "only one card can be swapped per turn";
        DiscardMissing => "discard_missing", "3.2",
            "with seven cards in hand a discard must be named";
        DiscardNeedless => "discard_needless", "3.2",
            "with fewer than seven cards in hand nothing is discarded";
        NoAcquireCard => "no_acquire_card", "3.3", "the section has no acquire card left";
        KeptFull => "kept_full", "1.5", "one of three kept acquire cards must be played first";
        SoldAlready => "sold_already", "3.4", "the hand can only be sold once per turn";
        NothingToSell => "nothing_to_sell", "3.4",
            "there is no hand to sell, or nothing to take for it";
        SellSlots => "sell_slots", "3.4",
            "as many assets are taken as are sold, as far as the section has enough";
        NoReveal => "no_reveal", "1.3", "this seat keeps no reveal";
        NoSuchSection => "no_such_section", "1.3", "a reveal looks at another section of the table";
        NoDividend => "no_dividend", "1.3", "this seat keeps no dividend";
        HandNotFull => "hand_not_full", "3.5", "a seat must hold seven cards to confront";
        OthersNotFull => "others_not_full", "3.5",
            "in this round all seats must hold seven cards for a confront";
        EvadeCards => "evade_cards", "4.1", "an evasion discards three cards of the hand";
        MarginsOff => "margins_off", "4.4", "this table does not allow indexing of the margin";
        MarginStep => "margin_step", "4.4", "a margin is from 5 to 50 hundredths in steps of 5";
        MarginNoRise => "margin_no_rise", "4.4", "with this margin the risk does not rise";
        LeverageOff => "leverage_off", "4.5", "this table does not allow leverage of the buy-in";
        LeveragePercent => "leverage_percent", "4.5",
            "a leverage pays from 5 to 95 hundredths of the risk";
        BribesOff => "bribes_off", "4.6", "this table does not allow bribes";
        OfferedAlready => "offered_already", "4.6",
            "only one bribe can be offered before a decision";
        BribeTo => "bribe_to", "4.6", "a bribe must be offered to another seat that is still in";
        BribeWhat => "bribe_what", "4.6", "a bribe consists of chips or cards";
        BribeNotHeld => "bribe_not_held", "4.6", "the seat does not hold what it offers";
        BribeNoRoom => "bribe_no_room", "4.6", "the other seat has no room for these cards";
    }
}
