//! What tables are owed, carried out by any node, as `src/tables/effects.rs` has it; and the
//! sweep that voids open games whose live state was lost.

use alloc::boxed::Box;
use alloc::rc::Rc;

use crate::games::tongits::{Action, Tongits};
use crate::table::{Effect, Input, Opening, Record, Table, TableId};
use crate::testing::house::Mutation;
use crate::testing::house::node::Node;
use crate::testing::house::postgres::{Answer, Open, Operation};
use crate::testing::house::slot::{Slot, SubmitError};

/// Inputs that one look at a table may lead to.
const ROUNDS: usize = 4;

/// How often open games are looked for at their tables, and how old they must be.
const VOID_EVERY_MS: u64 = 5_000;
const VOID_AFTER_MS: u64 = 10_000;

/// A game is voided once it was missing at this many looks in a row.
const LOOKS: u32 = 2;

enum Owed {
    Open(Open),
    Settle(Box<Record<Tongits>>),
    Tell(Input<Action>),
}

impl Node {
    /// Attends to a table whose deadline has passed.
    pub(super) async fn attend(self: &Rc<Self>, table: TableId) {
        let slot = self.slot(table);
        if let Ok(Some(_)) = slot.look(self).await {
            self.carry_out(&slot).await;
        }
    }

    /// Has a table decide, and then carries out what it is owed.
    pub(super) async fn submit(
        self: &Rc<Self>,
        table: TableId,
        input: Input<Action>,
    ) -> Result<u64, SubmitError> {
        let slot = self.slot(table);
        let submitted = slot.submit(self, input).await;
        if submitted.is_ok() {
            self.carry_out(&slot).await;
        }
        submitted
    }

    async fn carry_out(self: &Rc<Self>, slot: &Rc<Slot>) {
        for _ in 0..ROUNDS {
            let Some((table, _)) = slot.current().await else {
                return;
            };
            let mut told = false;
            let owed: alloc::vec::Vec<Owed> = table
                .effects(self.now())
                .into_iter()
                .filter_map(|effect| owed(&table, effect))
                .collect();
            for owed in owed {
                match owed {
                    Owed::Tell(input) => {
                        // Refused: somebody was faster.
                        let _ = slot.submit(self, input).await;
                        told = true;
                    }
                    Owed::Open(open) => self.in_background(slot, Operation::Open(open)),
                    Owed::Settle(record) => self.in_background(slot, Operation::Settle(record)),
                }
            }
            if !told {
                return;
            }
        }
    }

    /// Asks the ledger, and tells the table what it answered. One at a time for each table.
    fn in_background(self: &Rc<Self>, slot: &Rc<Slot>, operation: Operation) {
        if slot.busy.replace(true) {
            return;
        }
        let (node, slot) = (self.clone(), slot.clone());
        self.spawn(async move {
            let game = match &operation {
                Operation::Open(open) => Some(open.game),
                Operation::Settle(record) => Some(record.game),
                _ => None,
            };
            let posted = node.world.postgres(node.run, operation).await;
            let input = game.and_then(|game| {
                Some(match posted?.ok()? {
                    Answer::Opened { stakes, pot } => Input::Opened { game, stakes, pot },
                    Answer::CannotPay { seats } => Input::OpenFailed { game, seats },
                    Answer::Settled => Input::Settled { game },
                    Answer::Voided | Answer::Games(_) | Answer::Wallet(_) => return None,
                })
            });
            if let Some(input) = input {
                let _ = slot.submit(&node, input).await;
            }
            slot.busy.set(false);
            // The answer may have brought the table to its next effect.
            Box::pin(node.carry_out(&slot)).await;
        });
    }

    /// Looks now and then whether every open game is still the game of its table. One that was
    /// not, at two looks in a row that Redis answered, has lost its live state: it is voided.
    pub(super) async fn void_lost_games(self: Rc<Self>) {
        self.world.sleep(self.world.between(0, 5_000)).await;
        loop {
            self.world.sleep(VOID_EVERY_MS).await;
            if self.world.mutation() == Some(Mutation::NeverVoids) {
                continue;
            }
            let open = Operation::OpenGames { longer_than_ms: VOID_AFTER_MS };
            let Some(Ok(Answer::Games(games))) = self.world.postgres(self.run, open).await else {
                continue;
            };
            self.suspects.borrow_mut().retain(|game, _| games.iter().any(|(open, _)| open == game));
            for (game, table) in games {
                let Ok(found) = self.slot(table).look(&self).await else {
                    continue;
                };
                if found.is_some_and(|table| table.phase().game() == Some(game)) {
                    self.suspects.borrow_mut().remove(&game);
                    continue;
                }
                let looks = {
                    let mut suspects = self.suspects.borrow_mut();
                    let looks = suspects.entry(game).or_default();
                    *looks += 1;
                    *looks
                };
                if looks >= LOOKS {
                    self.world.postgres(self.run, Operation::Void { game }).await;
                }
            }
        }
    }
}

fn owed(table: &Table<Tongits>, effect: Effect<'_, Tongits>) -> Option<Owed> {
    Some(match effect {
        Effect::Tick => Owed::Tell(Input::Tick),
        Effect::Advise { seat, .. } => Owed::Tell(table.advice(seat)?),
        Effect::Open(opening) => Owed::Open(open_game(table, opening)?),
        Effect::Settle(record) => Owed::Settle(Box::new(record.clone())),
    })
}

fn open_game(table: &Table<Tongits>, opening: &Opening) -> Option<Open> {
    Some(Open {
        game: opening.game,
        table: table.id(),
        ante: table.terms().price.bet,
        stake_max: table.terms().stake_max::<Tongits>()?,
        players: table.players()?,
    })
}
