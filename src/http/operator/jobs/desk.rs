//! The page of dead jobs.

use axum::extract::State;
use axum::response::{Redirect, Response};
use bahay_jobs::DeadJob;
use maud::{Markup, html};

use crate::clock;
use crate::http::operator::desk_ui::{
    ErrorPage, FilterForm, OperatorForm, OperatorSession, button, page, pager, table,
};
use crate::http::{Cursors, PageQuery, PageRequest, Path};
use crate::operators::{DeadJobDecision, DeadJobs};

const HERE: &str = "/desk/jobs";

/// The number of jobs on one page.
const PAGE: u32 = 50;

pub(crate) async fn list(
    State(jobs): State<DeadJobs>,
    State(cursors): State<Cursors>,
    session: OperatorSession,
    FilterForm(query): FilterForm<PageQuery>,
) -> Result<Response, ErrorPage> {
    let request = PageRequest::new(session.operator.clone(), query, PAGE, cursors);
    let listed = super::list(&jobs, &request).await?;
    let rows = listed.items.iter().map(|job| row(&session, job));
    let columns = "Failed at | Job | #Attempts | Last error | Created at | Decide";
    let body = html! {
        p { "Background work whose attempts are used up. Mend the cause first, then retry." }
        (table("Dead jobs, newest first", columns, rows))
        (pager(HERE, &[], listed.next_cursor.as_deref()))
    };
    Ok(page(&session, "Jobs", body))
}

fn row(session: &OperatorSession, job: &DeadJob) -> Vec<Markup> {
    let here = format!("{HERE}/{}", job.id);
    let discard = format!("{here}/discarding");
    vec![
        session.zone.time(clock::from_jiff(job.died_at)),
        html! { (job.name) },
        html! { (job.attempts) },
        html! { (job.last_error) },
        session.zone.time(clock::from_jiff(job.created_at)),
        html! {
            (button(session, &format!("{here}/retry"), "Retry", ""))
            (button(session, &discard, "Discard", "Discard this job? It is never done."))
        },
    ]
}

pub(crate) async fn retry(
    State(jobs): State<DeadJobs>,
    Path(id): Path<i64>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    super::decide(&jobs, &session.operator, id, DeadJobDecision::Retry).await?;
    Ok(Redirect::to(HERE))
}

pub(crate) async fn discard(
    State(jobs): State<DeadJobs>,
    Path(id): Path<i64>,
    OperatorForm { session, .. }: OperatorForm,
) -> Result<Redirect, ErrorPage> {
    super::decide(&jobs, &session.operator, id, DeadJobDecision::Discard).await?;
    Ok(Redirect::to(HERE))
}
