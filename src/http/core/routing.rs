//! Binds handlers to the operations of the API.

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, on};
use bahay_api::{Method, Operation};
use utoipa::openapi::OpenApi;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::openapi;
use super::services::Services;

/// The routes of the API, under construction.
pub(crate) struct Routes {
    router: Router<Services>,
    /// The operations, with the type names of their handlers.
    bound: Vec<(&'static Operation, &'static str)>,
    /// The routes whose handlers describe themselves.
    described: OpenApiRouter<Services>,
}

impl Routes {
    pub(crate) fn new() -> Self {
        let described = OpenApiRouter::with_openapi(bahay_api::base_document());
        Self { router: Router::new(), bound: Vec::new(), described }
    }

    /// Binds a handler to an operation.
    pub(crate) fn on<H, T>(mut self, operation: &'static Operation, handler: H) -> Self
    where
        H: Handler<T, Services>,
        T: 'static,
    {
        let method = method_filter(operation.method);
        self.router = self.router.route(operation.path, on(method, handler));
        self.bound.push((operation, std::any::type_name::<H>()));
        self
    }

    /// Adds handlers that describe themselves.
    pub(crate) fn routes(mut self, described: UtoipaMethodRouter<Services>) -> Self {
        self.described = self.described.routes(described);
        self
    }

    /// Returns the document of all operations.
    pub(crate) fn document(&self) -> OpenApi {
        let mut document = self.described.get_openapi().clone();
        openapi::complete_document(&mut document);
        let operations: Vec<_> = self.bound.iter().map(|(operation, _)| *operation).collect();
        bahay_api::add_operations(&mut document, &operations);
        document
    }

    pub(crate) fn into_router(self) -> Router<Services> {
        self.router.merge(self.described.split_for_parts().0)
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

#[cfg(test)]
mod tests {
    use crate::http::routes::documented_routes;

    #[test]
    fn every_operation_has_one_handler_of_its_name() {
        let mut bound = Vec::new();
        for (operation, handler) in documented_routes().bound {
            let name = operation.name();
            assert!(handler.ends_with(&format!("::{name}")), "{handler} handles {name}");
            bound.push(name);
        }
        let mut operations: Vec<_> =
            bahay_api::operations().map(|operation| operation.name()).collect();
        bound.sort_unstable();
        operations.sort_unstable();
        assert_eq!(bound, operations);
    }
}
