//! The player's own account: profile, wallet, export and deletion.

mod export;
pub(crate) mod own_account;

use bahay_api::player::account as operations;
use bahay_api::player::export::EXPORT_ME;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .on(&operations::SHOW_ME, own_account::show_me)
        .on(&operations::CHANGE_ME, own_account::change_me)
        .on(&operations::DELETE_ME, own_account::delete_me)
        .on(&EXPORT_ME, export::export_me)
        .on(&operations::SHOW_WALLET, own_account::show_wallet)
        .on(&operations::LIST_WALLET_ENTRIES, own_account::list_wallet_entries)
}
