//! Other players: public data, leaderboards, blocks, mutes and reports.

mod leaderboards;
mod players;
pub(crate) mod profiles;
pub(crate) mod social;

use bahay_api::player::leaderboards::SHOW_LEADERBOARD;
use bahay_api::player::people as operations;

use crate::http::core::routing::Routes;

/// Adds the routes of this topic.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::SHOW_MY_STATISTICS, profiles::show_my_statistics)
        .bind(&operations::LOOK_UP_PLAYERS, players::look_up_players)
        .bind(&operations::LIST_AVATARS, players::list_avatars)
        .bind(&operations::SHOW_PLAYER, profiles::show_player)
        .bind(&SHOW_LEADERBOARD, leaderboards::show_leaderboard)
        .bind(&operations::LIST_BLOCKS, social::list_blocks)
        .bind(&operations::BLOCK_PLAYER, social::block_player)
        .bind(&operations::UNBLOCK_PLAYER, social::unblock_player)
        .bind(&operations::LIST_MUTES, social::list_mutes)
        .bind(&operations::MUTE_PLAYER, social::mute_player)
        .bind(&operations::UNMUTE_PLAYER, social::unmute_player)
        .bind(&operations::REPORT_PLAYER, social::report_player)
}
