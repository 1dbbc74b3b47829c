//! Dead jobs: background work that failed for good.

use serde::Serialize;
use utoipa::ToSchema;

use crate::PageQuery;
use crate::operation::operations;
use crate::values::Time;

operations! {
    /// List dead jobs
    ///
    /// Jobs whose attempts are used up, newest first. For the role `admin`.
    LIST_DEAD_JOBS = Get "/v1/operator/jobs", Operators, Operator {
        query PageQuery,
        200 page DeadJob: "A page of dead jobs",
        refuses OperatorRoleMissing,
    }

    /// Retry a dead job
    ///
    /// It becomes due at once, with all its attempts. For the role `admin`.
    RETRY_DEAD_JOB = Post "/v1/operator/jobs/{job}/retry", Operators, Operator {
        path job: i64 = "The job",
        headers RequiredKey,
        204 empty (): "The job is due",
        refuses JobNotFound,
    }

    /// Discard a dead job
    ///
    /// It is deleted and never done. For the role `admin`.
    DISCARD_DEAD_JOB = Post "/v1/operator/jobs/{job}/discarding", Operators, Operator {
        path job: i64 = "The job",
        headers RequiredKey,
        204 empty (): "The job is deleted",
        refuses JobNotFound,
    }
}

/// A job whose attempts are used up.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeadJob {
    #[schema(example = 17)]
    pub id: i64,
    #[schema(example = "archive_records")]
    pub name: String,
    pub attempts: i32,
    /// The error of the last attempt.
    pub last_error: String,
    pub created_at: Time,
    /// The time of the last attempt.
    pub died_at: Time,
}
