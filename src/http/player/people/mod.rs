//! Other players: public data, leaderboards, blocks, mutes and reports.

pub(crate) mod leaderboards;
pub(crate) mod players;
pub(crate) mod profiles;
pub(crate) mod social;

use utoipa_axum::routes as describe;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .routes(describe!(profiles::show_my_statistics))
        .routes(describe!(players::look_up_players))
        .routes(describe!(players::list_avatars))
        .routes(describe!(profiles::show_player))
        .routes(describe!(leaderboards::show_leaderboard))
        .routes(describe!(social::list_blocks))
        .routes(describe!(social::block_player, social::unblock_player))
        .routes(describe!(social::list_mutes))
        .routes(describe!(social::mute_player, social::unmute_player))
        .routes(describe!(social::report_player))
}
