//! Corrections of the books: requested by one operator, decided by another.

use bahay_base::reason::Reason;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::PageQuery;
use crate::code::Code;
use crate::operation::operations;
use crate::values::{Coins, IdText, ReasonText, Time};

operations! {
    /// Request a correction
    ///
    /// Coins, a reversal, a pass for a tournament, or the revocation of a pass that no entry holds.
    /// Nothing moves before another operator has approved it. An open request excludes an equal one:
    /// the same amount for the same player, a reversal of the same operation, or the revocation of
    /// the same pass. For the roles `finance` and `admin`, in a session with the second factor.
    REQUEST_CORRECTION = Post "/v1/operator/corrections", Operators, Operator {
        headers RequiredKey,
        body RequestCorrection,
        201 json Correction: "The request, which waits for a decision",
        refuses SecondFactorMissing PlayerNotFound OperationNotFound NotReversible AlreadyReversed
            ReversalRequested AdjustmentRequested AdjustmentDayMax AdjustmentTooLarge PassNotFound
            PassHeld PassRevoked RevocationRequested,
    }

    /// List corrections
    ///
    /// Newest first. For operators of every role.
    LIST_CORRECTIONS = Get "/v1/operator/corrections", Operators, Operator {
        query PageQuery<CorrectionFilter>,
        200 page Correction: "A page of corrections",
    }

    /// Show a correction
    ///
    /// For operators of every role.
    SHOW_CORRECTION = Get "/v1/operator/corrections/{id}", Operators, Operator {
        path id: IdText = "The correction",
        200 json Correction: "The correction",
        refuses CorrectionNotFound,
    }

    /// Preview a correction
    ///
    /// The outcome of an approval now: the transfers that it would book, the wallets that they
    /// change, and the refusal if it is not possible. Balances may differ at the approval. For
    /// operators of every role.
    PREVIEW_CORRECTION = Get "/v1/operator/corrections/{id}/preview", Operators, Operator {
        path id: IdText = "The correction",
        200 json CorrectionPreview: "The outcome of an approval now",
        refuses CorrectionNotFound CorrectionDecided,
    }

    /// Approve a correction
    ///
    /// Books it and marks it as approved in one transaction. For the roles `finance` and `admin`,
    /// in a session with the second factor; never for the requester, nor for an operator who is not
    /// independent of the requester: until a day after an enrolment code was used, replaced or has
    /// expired, its owner and its issuer do not decide on each other's requests. If a wallet cannot
    /// pay, nothing moves and the request stays open.
    APPROVE_CORRECTION = Post "/v1/operator/corrections/{id}/approval", Operators, Operator {
        path id: IdText = "The correction",
        headers RequiredKey,
        200 json Correction: "The approved correction",
        refuses SecondFactorMissing CorrectionOwn CorrectionNotIndependent CorrectionNotFound
            CorrectionDecided AdjustmentDayMax Overdrawn NotReversible AlreadyReversed PassNotFound
            PassHeld PassRevoked,
    }

    /// Reject a correction
    ///
    /// For the roles `finance` and `admin`, in a session with the second factor, and only for
    /// operators who may approve it.
    REJECT_CORRECTION = Post "/v1/operator/corrections/{id}/rejection", Operators, Operator {
        path id: IdText = "The correction",
        headers RequiredKey,
        body RejectCorrection,
        200 json Correction: "The rejected correction",
        refuses SecondFactorMissing CorrectionOwn CorrectionNotIndependent CorrectionNotFound
            CorrectionDecided,
    }

    /// Withdraw a correction
    ///
    /// Ends an open request without a decision. For its requester, with the role `finance` or
    /// `admin`, in a session with the second factor.
    WITHDRAW_CORRECTION = Post "/v1/operator/corrections/{id}/withdrawal", Operators, Operator {
        path id: IdText = "The correction",
        headers RequiredKey,
        200 json Correction: "The withdrawn correction",
        refuses SecondFactorMissing CorrectionNotOwn CorrectionNotFound CorrectionDecided,
    }
}

/// A filter of corrections.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CorrectionFilter {
    /// Only corrections in this state.
    #[param(inline)]
    pub state: Option<CorrectionState>,
}

/// A correction to request, with its reason.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum RequestCorrection {
    /// Coins given to a player's wallet or taken from it.
    Adjustment {
        player: Uuid,
        /// In hundredths of a coin, not zero; a negative amount takes coins. A setting of the
        /// server limits a single adjustment, by default to a million coins.
        #[schema(value_type = Coins)]
        amount: i64,
        /// The reason, which is stored with the correction.
        #[schema(value_type = ReasonText)]
        reason: Reason,
    },
    /// The reversal of an operation of the ledger: a grant, an adjustment, or a settlement that
    /// paid no POT. Each payment goes back from the winner to the player who paid it, each fee to
    /// the player from whom it was taken.
    Reversal {
        /// The operation's id in the ledger.
        #[schema(minimum = 1, example = 4711)]
        operation: i64,
        /// The reason, which is stored with the correction.
        #[schema(value_type = ReasonText)]
        reason: Reason,
    },
    /// A pass, by which the player enters one tournament without coins. The house pays its buy-in, so
    /// the limits on adjustments count the pass as coins of that amount.
    Pass {
        player: Uuid,
        /// The largest buy-in that the pass pays, in hundredths of a coin, above zero.
        #[schema(value_type = Coins)]
        buy_in_max: i64,
        /// The reason, which is stored with the correction.
        #[schema(value_type = ReasonText)]
        reason: Reason,
    },
    /// The revocation of a pass that no entry holds, after which none can hold it.
    PassRevocation {
        pass: Uuid,
        /// The reason, which is stored with the correction.
        #[schema(value_type = ReasonText)]
        reason: Reason,
    },
}

/// A rejection of a request.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectCorrection {
    /// The reason, which is stored with the correction.
    #[schema(value_type = ReasonText)]
    pub reason: Reason,
}

/// A correction and its outcome.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Correction {
    pub id: Uuid,
    #[schema(inline)]
    pub kind: CorrectionKind,
    /// The player whose wallet is adjusted, or whose pass is granted or revoked; null for a
    /// reversal.
    #[schema(required = true)]
    pub player: Option<Uuid>,
    /// That player's name.
    #[schema(required = true, example = "Maria")]
    pub player_name: Option<String>,
    /// The coins that the wallet receives, negative if they are taken from it, or the largest buy-in
    /// that the pass pays; null for a reversal.
    #[schema(required = true)]
    pub amount: Option<Coins>,
    /// The operation that is reversed; null for others.
    #[schema(required = true)]
    pub reversed_operation: Option<i64>,
    /// The pass that is revoked; null for others.
    #[schema(required = true)]
    pub revoked_pass: Option<Uuid>,
    /// The game of the operation that is reversed, if it belongs to one.
    #[schema(required = true)]
    pub game: Option<Uuid>,
    pub reason: String,
    #[schema(inline)]
    pub state: CorrectionState,
    /// The requester's name.
    #[schema(example = "ate.luz")]
    pub requested_by: String,
    pub requested_at: Time,
    /// The name of the deciding operator; null unless the request is approved or rejected.
    #[schema(required = true, example = "kuya.ben")]
    pub decided_by: Option<String>,
    /// The time of the decision or of the withdrawal.
    #[schema(required = true)]
    pub decided_at: Option<Time>,
    /// The reason of a rejection.
    #[schema(required = true)]
    pub rejection_reason: Option<String>,
    /// The operation of the ledger that booked the correction; null unless it is approved, and for
    /// passes.
    #[schema(required = true)]
    pub operation: Option<i64>,
}

/// The outcome of a correction if it were approved now.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CorrectionPreview {
    /// The transfers in their order; none if the operation cannot be reversed any more.
    pub transfers: Vec<PreviewedTransfer>,
    /// The wallets of the transfers.
    pub wallets: Vec<PreviewedWallet>,
    /// The refusal that an approval would meet; null if it is possible.
    #[schema(required = true, inline)]
    pub refusal: Option<PreviewedRefusal>,
}

/// Coins that a correction would move from one account to another.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PreviewedTransfer {
    #[schema(example = "fee:newbie")]
    pub source: String,
    #[schema(example = "wallet:019ca944-3c00-7000-8000-00000091a7e0")]
    pub destination: String,
    pub amount: Coins,
}

/// A wallet before and after a correction.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PreviewedWallet {
    pub player: Uuid,
    #[schema(example = "Maria")]
    pub name: String,
    /// The coins that can be spent now.
    pub balance: Coins,
    /// The coins after the correction; negative if the wallet cannot pay.
    pub balance_after: Coins,
}

/// The refusal of an approval.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PreviewedRefusal {
    pub code: Code,
    #[schema(
        example = "wallet:019ca944-3c00-7000-8000-00000091a7e0 holds 3.00 and cannot pay 5.00"
    )]
    pub detail: String,
}

bahay_base::text_enum! {
    /// The kind of a correction.
    #[derive(ToSchema)]
    pub enum CorrectionKind {
        Adjustment = "adjustment",
        Reversal = "reversal",
        /// A pass for a tournament.
        Pass = "pass",
        /// The revocation of a pass.
        PassRevocation = "pass_revocation",
    }
}

bahay_base::text_enum! {
    /// The state of a request.
    #[derive(ToSchema)]
    pub enum CorrectionState {
        Open = "open",
        Approved = "approved",
        Rejected = "rejected",
        /// Ended by its requester.
        Withdrawn = "withdrawn",
    }
}
