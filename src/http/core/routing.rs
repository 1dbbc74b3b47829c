//! Binds handlers to the operations of the API.

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, on};
use bahay_api::{Method, Operation};

use super::services::Services;

/// The routes of the API, under construction.
#[derive(Default)]
pub(crate) struct Routes {
    router: Router<Services>,
    /// The operations, with the type names of their handlers.
    #[cfg(test)]
    bound: Vec<(&'static Operation, &'static str)>,
}

impl Routes {
    /// Binds a handler to an operation.
    pub(crate) fn bind<H, T>(mut self, operation: &'static Operation, handler: H) -> Self
    where
        H: Handler<T, Services>,
        T: 'static,
    {
        let method = method_filter(operation.method);
        self.router = self.router.route(operation.path, on(method, handler));
        #[cfg(test)]
        self.bound.push((operation, std::any::type_name::<H>()));
        self
    }

    pub(crate) fn into_router(self) -> Router<Services> {
        self.router
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
