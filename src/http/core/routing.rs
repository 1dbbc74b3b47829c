//! Binds handlers to the operations of the API and to pages.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::handler::Handler;
use axum::response::Response;
use axum::routing::{self, MethodFilter, MethodRouter, on};
use bahay_api::{Method, Operation};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::services::Services;

/// The routes of the API, under construction.
#[derive(Default)]
pub(crate) struct Routes {
    router: Router<Services>,
    bound: Vec<(&'static Operation, &'static str)>,
}

impl Routes {
    /// Binds a handler to an operation.
    pub(crate) fn bind<H, T>(mut self, operation: &'static Operation, handler: H) -> Self
    where
        H: Handler<T, Services> + Sync,
        T: 'static,
    {
        let method = method_filter(operation.method);
        self.router = self.router.route(operation.path, on(method, ErasedHandler::new(handler)));
        self.bound.push((operation, std::any::type_name::<H>()));
        self
    }

    /// Returns the operations, with the type names of their handlers.
    pub(crate) fn bound(&self) -> &[(&'static Operation, &'static str)] {
        &self.bound
    }

    pub(crate) fn into_router(self) -> Router<Services> {
        self.router
    }
}

/// Returns a route that a handler serves, for a page that is not an operation of the API.
pub(crate) fn get<H, T>(handler: H) -> MethodRouter<Services>
where
    H: Handler<T, Services> + Sync,
    T: 'static,
{
    routing::get(ErasedHandler::new(handler))
}

/// Returns a route that a handler of a form serves.
pub(crate) fn post<H, T>(handler: H) -> MethodRouter<Services>
where
    H: Handler<T, Services> + Sync,
    T: 'static,
{
    routing::post(ErasedHandler::new(handler))
}

/// A handler whose type is erased, because axum's services would be compiled for each handler.
#[derive(Clone)]
struct ErasedHandler(Arc<dyn Fn(Request, Services) -> BoxFuture<'static, Response> + Send + Sync>);

impl ErasedHandler {
    fn new<H, T>(handler: H) -> Self
    where
        H: Handler<T, Services> + Sync,
        T: 'static,
    {
        Self(Arc::new(move |request, services| handler.clone().call(request, services).boxed()))
    }
}

impl Handler<(), Services> for ErasedHandler {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, services: Services) -> Self::Future {
        (self.0)(request, services)
    }
}

fn method_filter(method: Method) -> MethodFilter {
    match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Patch => MethodFilter::PATCH,
        Method::Delete => MethodFilter::DELETE,
    }
}
