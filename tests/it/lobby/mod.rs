//! Players who look for tables: seats, matches, bots, private and practice tables, tournaments.

mod allowance;
mod house_bots;
mod matchmaking;
mod practice;
mod private_bots;
mod private_pots;
mod rematch;
mod room_limits;
mod rooms_in_play;
mod seats;
mod tournament_tables;
