//! The player's own account: profile, wallet, export and deletion.

pub(crate) mod entries_query;
pub(crate) mod export;
pub(crate) mod own_account;

use utoipa_axum::routes as describe;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .routes(describe!(own_account::show_me, own_account::change_me, own_account::delete_me))
        .routes(describe!(export::export_me))
        .routes(describe!(own_account::show_wallet))
        .routes(describe!(own_account::list_wallet_entries))
}
