//! The main switch of the house, which permits games to begin.

use bahay_base::reason::Reason;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::operation::operations;
use crate::values::{ReasonText, Time};

operations! {
    /// Show whether the house is open
    ///
    /// For operators of every role.
    SHOW_HOUSE = Get "/v1/operator/house", Operators, Operator {
        200 json HouseSwitch: "The main switch",
    }

    /// Close the house
    ///
    /// Closes every room and all private tables, on every node within a second: running games are
    /// finished, and no other begins. The rooms' own states stay unchanged. For the role `admin`.
    CLOSE_HOUSE = Post "/v1/operator/house/closing", Operators, Operator {
        headers RequiredKey,
        body CloseHouse,
        200 json HouseSwitch: "The main switch",
    }

    /// Open the house
    ///
    /// For the role `admin`.
    OPEN_HOUSE = Post "/v1/operator/house/opening", Operators, Operator {
        headers RequiredKey,
        200 json HouseSwitch: "The main switch",
    }
}

/// The main switch of the house.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct HouseSwitch {
    pub is_open: bool,
    /// The reason why the house is closed.
    #[schema(required = true)]
    pub reason: Option<String>,
    /// The operator's name; null for the command line, and if the house was never closed.
    #[schema(required = true, example = "ate.luz")]
    pub changed_by: Option<String>,
    pub changed_at: Time,
}

/// A request to close the house.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CloseHouse {
    /// The reason, which is stored with the switch.
    #[schema(value_type = ReasonText)]
    pub reason: Reason,
}
