//! The players' API. Each topic is a folder.

pub(crate) mod account;
pub(crate) mod games;
pub(crate) mod notices;
pub(crate) mod people;
pub(crate) mod rewards;
pub(crate) mod sign_in;
pub(crate) mod tables;

use bahay_api::player as operations;

use crate::http::core::routing::Routes;

use tables::private_tables;

/// Adds the routes of every operation.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .bind(&operations::account::SHOW_ME, account::own_account::show_me)
        .bind(&operations::account::CHANGE_ME, account::own_account::change_me)
        .bind(&operations::account::DELETE_ME, account::own_account::delete_me)
        .bind(&operations::export::EXPORT_ME, account::export::export_me)
        .bind(&operations::account::SHOW_WALLET, account::own_account::show_wallet)
        .bind(&operations::account::LIST_WALLET_ENTRIES, account::own_account::list_wallet_entries)
        .bind(&operations::games::LIST_MY_GAMES, games::records::list_my_games)
        .bind(&operations::games::SHOW_GAME, games::records::show_game)
        .bind(&operations::games::SHOW_GAME_RECORD, games::records::show_game_record)
        .bind(&operations::games::LIST_GAME_STEPS, games::game_steps::list_game_steps)
        .bind(&operations::games::ANALYZE_GAME, games::analysis::analyze_game)
        .bind(&operations::fairness::SHOW_FAIRNESS, games::fairness::show_fairness)
        .bind(&operations::fairness::SHOW_DEALS, games::fairness::show_deals)
        .bind(
            &operations::fairness::LIST_UNREVEALED_COMMITMENTS,
            games::fairness::list_unrevealed_commitments,
        )
        .bind(&operations::games::SORT_CARDS, games::hand_sorting::sort_cards)
        .bind(&operations::people::SHOW_MY_STATISTICS, people::profiles::show_my_statistics)
        .bind(&operations::people::LOOK_UP_PLAYERS, people::players::look_up_players)
        .bind(&operations::people::LIST_AVATARS, people::players::list_avatars)
        .bind(&operations::people::SHOW_PLAYER, people::profiles::show_player)
        .bind(&operations::leaderboards::SHOW_LEADERBOARD, people::leaderboards::show_leaderboard)
        .bind(&operations::people::LIST_BLOCKS, people::social::list_blocks)
        .bind(&operations::people::BLOCK_PLAYER, people::social::block_player)
        .bind(&operations::people::UNBLOCK_PLAYER, people::social::unblock_player)
        .bind(&operations::people::LIST_MUTES, people::social::list_mutes)
        .bind(&operations::people::MUTE_PLAYER, people::social::mute_player)
        .bind(&operations::people::UNMUTE_PLAYER, people::social::unmute_player)
        .bind(&operations::people::REPORT_PLAYER, people::social::report_player)
        .bind(&operations::sign_in::SIGN_IN_GUEST, sign_in::guest::sign_in_guest)
        .bind(&operations::sign_in::SIGN_IN_PASSWORD, sign_in::password::sign_in_password)
        .bind(&operations::sign_in::ASK_NONCE, sign_in::openid::ask_nonce)
        .bind(&operations::sign_in::SIGN_IN_OPENID, sign_in::openid::sign_in_openid)
        .bind(&operations::sign_in::REFRESH_TOKEN, sign_in::guest::refresh_token)
        .bind(&operations::sign_in::SIGN_OUT, sign_in::guest::sign_out)
        .bind(&operations::sign_in::SHOW_PROOF, sign_in::proof::show_proof)
        .bind(&operations::sign_in::SET_FIRST_PASSWORD, sign_in::password::set_first_password)
        .bind(&operations::sign_in::CHANGE_PASSWORD, sign_in::password::change_password)
        .bind(&operations::sign_in::SHOW_SIGN_IN_METHODS, sign_in::openid::show_sign_in_methods)
        .bind(&operations::sign_in::LINK_IDENTITY, sign_in::openid::link_identity)
        .bind(&operations::sign_in::UNLINK_IDENTITY, sign_in::openid::unlink_identity)
        .bind(&operations::sign_in::LIST_MY_SESSIONS, sign_in::sessions::list_my_sessions)
        .bind(&operations::sign_in::SIGN_OUT_EVERYWHERE, sign_in::sessions::sign_out_everywhere)
        .bind(&operations::sign_in::END_MY_SESSION, sign_in::sessions::end_my_session)
        .bind(&operations::sign_in::FORGET_MY_DEVICES, sign_in::sessions::forget_my_devices)
        .bind(&operations::sign_in::CHANGE_MY_DEVICE, sign_in::sessions::change_my_device)
        .bind(&operations::tournaments::LIST_TOURNAMENTS, tables::tournaments::list_tournaments)
        .bind(&operations::tournaments::LIST_MY_PASSES, tables::tournaments::list_my_passes)
        .bind(&operations::tournaments::SHOW_TOURNAMENT, tables::tournaments::show_tournament)
        .bind(
            &operations::tournaments::REGISTER_FOR_TOURNAMENT,
            tables::tournaments::register_for_tournament,
        )
        .bind(
            &operations::tournaments::WITHDRAW_FROM_TOURNAMENT,
            tables::tournaments::withdraw_from_tournament,
        )
        .bind(
            &operations::tournaments::SHOW_TOURNAMENT_TABLE,
            tables::tournaments::show_tournament_table,
        )
        .bind(
            &operations::tournament_pauses::PAUSE_IN_TOURNAMENT,
            tables::tournament_pauses::pause_in_tournament,
        )
        .bind(
            &operations::tournament_pauses::RESUME_TOURNAMENT,
            tables::tournament_pauses::resume_tournament,
        )
        .bind(
            &operations::tournaments::LIST_TOURNAMENT_STANDINGS,
            tables::tournaments::list_tournament_standings,
        )
        .bind(
            &operations::tournaments::LIST_TOURNAMENT_RESULTS,
            tables::tournaments::list_tournament_results,
        )
        .bind(
            &operations::tournaments::LIST_TOURNAMENT_GAMES,
            tables::tournaments::list_tournament_games,
        )
        .bind(
            &operations::tournament_rounds::SHOW_ROUND_DEALS,
            tables::tournament_rounds::show_round_deals,
        )
        .bind(
            &operations::tournament_rounds::SHOW_ROUND_COMPARISON,
            tables::tournament_rounds::show_round_comparison,
        )
        .bind(&operations::rooms::LIST_ROOMS, tables::rooms::list_rooms)
        .bind(&operations::rooms::LIST_WATCHABLE_TABLES, tables::rooms::list_watchable_tables)
        .bind(&operations::rooms::TAKE_SEAT, tables::rooms::take_seat)
        .bind(&operations::rooms::SHOW_TABLE, tables::rooms::show_table)
        .bind(&operations::rooms::LEAVE_TABLE, tables::rooms::leave_table)
        .bind(&operations::rooms::MAKE_TICKET, tables::socket_tickets::make_ticket)
        .bind(&operations::matchmaking::SEEK_TABLE, tables::matchmaking::seek_table)
        .bind(&operations::matchmaking::SHOW_SEEK, tables::matchmaking::show_seek)
        .bind(&operations::matchmaking::CANCEL_SEEK, tables::matchmaking::cancel_seek)
        .bind(&operations::private_tables::OPEN_PRIVATE_TABLE, private_tables::open_private_table)
        .bind(&operations::private_tables::SHOW_PRIVATE_TABLE, private_tables::show_private_table)
        .bind(&operations::private_tables::JOIN_PRIVATE_TABLE, private_tables::join_private_table)
        .bind(
            &operations::private_tables::REMOVE_FROM_PRIVATE_TABLE,
            private_tables::remove_from_private_table,
        )
        .bind(&operations::private_tables::FILL_PRIVATE_TABLE, private_tables::fill_private_table)
        .bind(&operations::private_tables::REQUEST_REMATCH, private_tables::request_rematch)
        .bind(&operations::private_tables::OPEN_PRACTICE_TABLE, private_tables::open_practice_table)
        .bind(&operations::rewards::SHOW_REWARDS, rewards::show_rewards)
        .bind(&operations::rewards::CLAIM_DAILY, rewards::claim_daily)
        .bind(&operations::rewards::CLAIM_RELIEF, rewards::claim_relief)
        .bind(&operations::notices::LIST_MY_NOTICES, notices::list_my_notices)
        .bind(&operations::notices::READ_MY_NOTICE, notices::read_my_notice)
}
