//! The view of a table for one viewer, as it is sent on the wire, and its update by events.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::chance::Commitment;
use crate::coins::Coins;
use crate::game::{Game, Viewer};
use crate::seat::{Seat, SeatSet};
use crate::table::Table;
use crate::table::event::{Crown, Event};
use crate::table::id::{GameId, PlayerId, TableId};
use crate::table::phase::Phase;
use crate::table::settlement::Settlement;
use crate::table::terms::Terms;
use crate::table::time::Timestamp;

/// The types of a view that depend on the game of its table.
pub trait ViewParts {
    type Rules: Clone + Debug + PartialEq;
    type View: Clone + Debug + PartialEq;
}

impl<G: Game> ViewParts for G {
    type Rules = <G as Game>::Rules;
    type View = <G as Game>::View;
}

/// A table as one viewer knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(
    serialize = "G::Rules: Serialize, G::View: Serialize",
    deserialize = "G::Rules: DeserializeOwned, G::View: DeserializeOwned"
))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(
        rename = "TableView",
        bound = "PhaseView<G>: schemars::JsonSchema, G::Rules: schemars::JsonSchema"
    )
)]
pub struct TableView<G: ViewParts> {
    pub table: TableId,
    /// The terms of the table, from which a client has the game's rules and the bet.
    pub terms: Terms<G::Rules>,
    /// The game's name, such as `tongits`.
    pub kind: String,
    /// The viewer's seat, if it has one.
    pub seat: Option<Seat>,
    /// The players by seat; `None` for a free seat.
    pub seats: Vec<Option<SeatView>>,
    /// The balance of the POT.
    pub pot: Coins,
    pub crown: Option<Crown>,
    pub phase: PhaseView<G>,
}

/// A player in a seat, as everybody sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeatView {
    pub player: PlayerId,
    pub name: String,
    /// The player's avatar at the time when the player sat down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<String>,
    /// True if a house bot sits here (rule 8.6).
    pub bot: bool,
    /// True if the player is connected and not away (rule 8.3). Always true for a bot.
    pub connected: bool,
    /// True if the AI plays the seat now: for a bot, and for a player who has left, has missed too
    /// many countdowns, or is away for longer than the grace (rules 8.3 and 8.6).
    pub taken_over: bool,
}

/// The phase of a table, as one viewer knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    remote = "Self",
    rename_all = "snake_case",
    bound(serialize = "G::View: Serialize", deserialize = "G::View: Deserialize<'de>")
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(rename = "PhaseView", tag = "type", bound = "G::View: schemars::JsonSchema")
)]
pub enum PhaseView<G: ViewParts> {
    Waiting,
    Preparing {
        game: GameId,
        commitment: Commitment,
        deadline_ms: Timestamp,
        /// The viewer's own seat if it is ready; no other seat is ever shown.
        ready: SeatSet,
    },
    Opening {
        game: GameId,
    },
    /// The clients reveal their texts (rule 9.1): every seat whose commitment is not zeros, until
    /// it has revealed.
    Revealing {
        game: GameId,
        /// The commitments by seat; zeros for a client that does not take part.
        commitments: Vec<Commitment>,
        /// The viewer's own seat if it has revealed its text; no other seat is ever shown.
        revealed: SeatSet,
        deadline_ms: Timestamp,
    },
    Playing {
        game: GameId,
        stakes: Vec<Coins>,
        deadline_ms: Option<Timestamp>,
        view: G::View,
    },
    Settling {
        game: GameId,
        settlement: Settlement,
    },
}

tagged!(PhaseView<G>, G: ViewParts<View: Serialize>, ViewParts<View: DeserializeOwned>);

impl<G: Game> Table<G> {
    /// Returns the table as this player sees it; without a player, or for one without a seat, as
    /// the public sees it.
    pub fn view(&self, player: Option<PlayerId>) -> TableView<G> {
        let seat = player.and_then(|player| self.seat_of(player));
        let taken_over = self.taken_over_seats();
        let seats = Seat::all(self.seat_count()).map(|seat| {
            let occupant = self.occupant(seat)?;
            Some(SeatView {
                player: occupant.player,
                name: (*occupant.name).into(),
                avatar: occupant.avatar.as_deref().map(Into::into),
                bot: occupant.bot,
                connected: occupant.bot || occupant.connection.is_some(),
                taken_over: taken_over.contains(seat),
            })
        });
        TableView {
            table: self.id,
            terms: (*self.terms).clone(),
            kind: (*self.kind).into(),
            seat,
            seats: seats.collect(),
            pot: self.pot,
            crown: self.crown,
            phase: self.phase_view(player.map_or(Viewer::Public, |player| self.viewer(player))),
        }
    }

    fn phase_view(&self, viewer: Viewer) -> PhaseView<G> {
        let visible = |seats: SeatSet| seats.iter().filter(|seat| viewer.sees(*seat)).collect();
        match &self.phase {
            Phase::Waiting => PhaseView::Waiting,
            Phase::Preparing(preparing) => PhaseView::Preparing {
                game: preparing.game,
                commitment: preparing.server_seed.commitment(),
                deadline_ms: preparing.deadline,
                ready: visible(preparing.ready),
            },
            Phase::Opening(opening) => PhaseView::Opening { game: opening.game },
            Phase::Revealing(revealing) => PhaseView::Revealing {
                game: revealing.game,
                commitments: revealing.clients.iter().map(|client| client.commitment).collect(),
                revealed: visible(revealing.revealed_seats()),
                deadline_ms: revealing.deadline,
            },
            Phase::Playing(playing) => PhaseView::Playing {
                game: playing.game,
                stakes: playing.stakes.to_vec(),
                deadline_ms: Some(playing.deadline),
                view: playing.state.view(viewer),
            },
            Phase::Settling(settling) => PhaseView::Settling {
                game: settling.record.game,
                settlement: settling.record.settlement.clone(),
            },
        }
    }
}

impl<G: Game> TableView<G> {
    /// Returns the viewer as which the game is seen; see [`Table::viewer`].
    pub fn viewer(&self) -> Viewer {
        self.viewer_of(match &self.phase {
            PhaseView::Playing { stakes, .. } => stakes.len(),
            PhaseView::Revealing { commitments, .. } => commitments.len(),
            variants!(PhaseView: Waiting, Preparing, Opening, Settling) => self.seats.len(),
        })
    }

    /// Returns the game, the commitment whose text the viewer's client has to reveal, and the
    /// deadline.
    pub fn reveal_request(&self) -> Option<(GameId, Commitment, Timestamp)> {
        let PhaseView::Revealing { game, commitments, revealed, deadline_ms } = &self.phase else {
            return None;
        };
        let seat = self.seat.filter(|seat| !revealed.contains(*seat))?;
        let commitment = commitments.get(seat.index()).filter(|sent| !sent.is_none())?;
        Some((*game, *commitment, *deadline_ms))
    }

    fn viewer_of(&self, seats: usize) -> Viewer {
        let seat = self.seat.filter(|seat| seat.index() < seats);
        seat.map_or(Viewer::Public, Viewer::Seat)
    }

    /// Updates the view by an event redacted for its viewer. After every event the view equals
    /// [`Table::view`].
    pub fn observe(&mut self, event: &Event<G::Event>) {
        match event {
            Event::Sat { seat, player, name, avatar, bot } => {
                if let Some(place) = self.seats.get_mut(seat.index()) {
                    *place = Some(SeatView {
                        player: *player,
                        name: name.clone(),
                        avatar: avatar.clone(),
                        bot: *bot,
                        connected: *bot,
                        taken_over: false,
                    });
                }
            }
            Event::Left { seat, player, .. } => {
                if let Some(place) = self.seats.get_mut(seat.index()) {
                    *place = None;
                }
                if let PhaseView::Preparing { ready, .. } = &mut self.phase {
                    *ready = ready.without(*seat);
                }
                if self.seat == Some(*seat) {
                    self.seat = None;
                }
                if self.crown.is_some_and(|crown| crown.player == *player) {
                    self.crown = None;
                }
            }
            Event::Moved { seat, to } => {
                if seat.index().max(to.index()) < self.seats.len() {
                    self.seats.swap(seat.index(), to.index());
                }
                if self.seat == Some(*seat) {
                    self.seat = Some(*to);
                }
            }
            Event::Presence { seat, connected } => {
                if let Some(occupant) = self.seat_mut(*seat) {
                    occupant.connected = *connected;
                }
            }
            Event::Takeover { seat, on } => {
                if let Some(occupant) = self.seat_mut(*seat) {
                    occupant.taken_over = *on;
                }
            }
            Event::Waiting => self.phase = PhaseView::Waiting,
            Event::Preparing { game, commitment, deadline_ms } => {
                self.phase = PhaseView::Preparing {
                    game: *game,
                    commitment: *commitment,
                    deadline_ms: *deadline_ms,
                    ready: SeatSet::EMPTY,
                };
            }
            Event::Ready { seat } => {
                if let PhaseView::Preparing { ready, .. } = &mut self.phase {
                    *ready = ready.with(*seat);
                }
            }
            Event::Opening { game } => self.phase = PhaseView::Opening { game: *game },
            Event::Revealing { game, commitments, pot, deadline_ms } => {
                self.pot = *pot;
                self.phase = PhaseView::Revealing {
                    game: *game,
                    commitments: commitments.clone(),
                    revealed: SeatSet::EMPTY,
                    deadline_ms: *deadline_ms,
                };
            }
            Event::Revealed { seat } => {
                if let PhaseView::Revealing { revealed, .. } = &mut self.phase {
                    *revealed = revealed.with(*seat);
                }
            }
            Event::Opened { game, stakes, pot, starter } => {
                self.pot = *pot;
                let viewer = self.viewer_of(stakes.len());
                let seats = u8::try_from(stakes.len()).unwrap_or(u8::MAX);
                self.phase = PhaseView::Playing {
                    game: *game,
                    stakes: stakes.clone(),
                    deadline_ms: None,
                    view: G::new(&self.terms.rules, seats, *starter).view(viewer),
                };
            }
            Event::Game { event } => {
                if let PhaseView::Playing { view, .. } = &mut self.phase {
                    G::observe(view, event);
                }
            }
            Event::Countdown { deadline_ms: deadline } => {
                if let PhaseView::Playing { deadline_ms, .. } = &mut self.phase {
                    *deadline_ms = Some(*deadline);
                }
            }
            Event::Over { game, settlement, .. } => {
                self.phase = PhaseView::Settling { game: *game, settlement: settlement.clone() };
            }
            Event::Settled { pot, crown, .. } => {
                self.pot = *pot;
                self.crown = *crown;
            }
            Event::PotRefunded { pot, .. } => self.pot = *pot,
            Event::TermsUpdated { price, hits, clocks } => {
                self.terms.price = *price;
                self.terms.hits = *hits;
                self.terms.clocks = *clocks;
            }
        }
    }

    fn seat_mut(&mut self, seat: Seat) -> Option<&mut SeatView> {
        self.seats.get_mut(seat.index())?.as_mut()
    }
}
