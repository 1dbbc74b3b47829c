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
        .on(&operations::SHOW_MY_STATISTICS, profiles::show_my_statistics)
        .on(&operations::LOOK_UP_PLAYERS, players::look_up_players)
        .on(&operations::LIST_AVATARS, players::list_avatars)
        .on(&operations::SHOW_PLAYER, profiles::show_player)
        .on(&SHOW_LEADERBOARD, leaderboards::show_leaderboard)
        .on(&operations::LIST_BLOCKS, social::list_blocks)
        .on(&operations::BLOCK_PLAYER, social::block_player)
        .on(&operations::UNBLOCK_PLAYER, social::unblock_player)
        .on(&operations::LIST_MUTES, social::list_mutes)
        .on(&operations::MUTE_PLAYER, social::mute_player)
        .on(&operations::UNMUTE_PLAYER, social::unmute_player)
        .on(&operations::REPORT_PLAYER, social::report_player)
}
