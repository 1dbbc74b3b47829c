//! The player's own account: profile, wallet, export and deletion.

mod export;
pub(crate) mod own_account;

use bahay_api::player::account as operations;
use bahay_api::player::export::EXPORT_ME;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::SHOW_ME, own_account::show_me)
        .bind(&operations::CHANGE_ME, own_account::change_me)
        .bind(&operations::DELETE_ME, own_account::delete_me)
        .bind(&EXPORT_ME, export::export_me)
        .bind(&operations::SHOW_WALLET, own_account::show_wallet)
        .bind(&operations::LIST_WALLET_ENTRIES, own_account::list_wallet_entries)
}
