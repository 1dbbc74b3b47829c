//! Figures of whole days of the house's zone: `today` is the overview of a day, `period_figures` the
//! sums of any period, `comparison` two days or weeks side by side. `active_players` counts those who
//! played, `day_alerts` lists what requires attention.

mod active_players;
mod comparison;
mod day_alerts;
mod period_figures;
mod today;
