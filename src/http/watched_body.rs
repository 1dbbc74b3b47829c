//! Whether all of a request's body has come: a client that does not send what it has promised is told
//! otherwise than one whose answer takes long.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use http_body::{Frame, SizeHint};

/// The request, and whether all of its body has come.
pub(super) fn watched(request: Request) -> (Request, Arc<AtomicBool>) {
    let has_come = Arc::new(AtomicBool::new(request.body().is_end_stream()));
    let told = has_come.clone();
    let request = request.map(|body| Body::new(WatchedBody { body, has_come }));
    (request, told)
}

/// A body that tells when it has come whole, or will not come any more.
struct WatchedBody {
    body: Body,
    has_come: Arc<AtomicBool>,
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if self.body.is_end_stream() || !matches!(frame, Some(Ok(_))) {
            self.has_come.store(true, Ordering::Relaxed);
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
