//! Tracking of whether a request's body has been received completely. On a timeout, a client that
//! did not send its whole body gets another response than one whose request was handled too slowly.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use http_body::{Frame, SizeHint};

/// Returns the request with a tracked body, and the flag that tells whether the body is complete.
pub(crate) fn track_body(request: Request) -> (Request, Arc<AtomicBool>) {
    let is_complete = Arc::new(AtomicBool::new(request.body().is_end_stream()));
    let flag = is_complete.clone();
    let request = request.map(|body| Body::new(TrackedBody { body, is_complete }));
    (request, flag)
}

/// A body that sets a flag once it is complete or has failed.
struct TrackedBody {
    body: Body,
    is_complete: Arc<AtomicBool>,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if self.body.is_end_stream() || !matches!(frame, Some(Ok(_))) {
            self.is_complete.store(true, Ordering::Relaxed);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
