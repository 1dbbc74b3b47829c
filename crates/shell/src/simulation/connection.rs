//! A client's connection to a node: two ordered streams of texts, which break together but are
//! detected at different times. A client that does not read blocks the writer.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::simulation::client::ClientEvent;
use crate::simulation::tasks::{Mailbox, Promise, Tasks, promise};
use crate::simulation::{NodeRun, SimulatedGame, World};
use bahay_engine::table::ConnectionId;

/// The silence after which a node drops a client, and the longest time that it waits to write.
pub(super) const IDLE_MS: u64 = 15_000;

/// One connection, shared by both ends and the checks.
pub(super) struct Connection {
    pub(super) id: ConnectionId,
    pub(super) client: usize,
    pub(super) run: NodeRun,
    /// The client's texts; `None` once it has disconnected.
    pub(super) frames: Mailbox<Option<Rc<str>>>,
    /// Nothing arrives any more.
    is_broken: Cell<bool>,
    /// The connection has ended, so a disconnect of it is true.
    pub(super) is_over: Cell<bool>,
    is_read: Cell<bool>,
    writer: RefCell<Option<Promise<bool>>>,
    up_at_ms: Cell<u64>,
    down_at_ms: Cell<u64>,
}

impl<G: SimulatedGame> World<G> {
    /// Breaks a connection. Each end detects it after its own delay.
    pub(super) fn break_off(
        self: &Rc<Self>,
        connection: &Rc<Connection>,
        client_after_ms: u64,
        node_after_ms: u64,
    ) {
        connection.is_over.set(true);
        if connection.is_broken.replace(true) {
            return;
        }
        let id = connection.id;
        let client = connection.client;
        self.schedule(client_after_ms, move |world| {
            world.clients[client].push(ClientEvent::Disconnected(id))
        });
        let connection = connection.clone();
        self.schedule(node_after_ms, move |_| {
            connection.frames.push(None);
            connection.resume_reading();
        });
    }
}

impl Connection {
    pub(super) fn new(id: ConnectionId, client: usize, run: NodeRun, tasks: &Rc<Tasks>) -> Self {
        Self {
            id,
            client,
            run,
            frames: Mailbox::new(tasks),
            is_broken: Cell::new(false),
            is_over: Cell::new(false),
            is_read: Cell::new(true),
            writer: RefCell::default(),
            up_at_ms: Cell::new(0),
            down_at_ms: Cell::new(0),
        }
    }

    /// Sends a text from the client to the node.
    pub(super) fn send_up<G: SimulatedGame>(self: &Rc<Self>, world: &Rc<World<G>>, text: Rc<str>) {
        self.send(world, &self.up_at_ms, |connection, _| connection.frames.push(Some(text)));
    }

    /// Sends a text from the node to the client.
    pub(super) fn send_down<G: SimulatedGame>(
        self: &Rc<Self>,
        world: &Rc<World<G>>,
        text: Rc<str>,
    ) {
        self.send(world, &self.down_at_ms, |connection, world| {
            world.clients[connection.client].push(ClientEvent::Message(connection.id, text));
        });
    }

    /// Delivers a text after those before it. If it is lost, the connection breaks.
    fn send<G: SimulatedGame>(
        self: &Rc<Self>,
        world: &Rc<World<G>>,
        last_ms: &Cell<u64>,
        deliver: impl FnOnce(&Self, &World<G>) + 'static,
    ) {
        if self.is_broken.get() {
            return;
        }
        let Some(after_ms) = world.draw_arrivals(&world.far_link()).first().copied() else {
            let client_after_ms = world.random_between((0, 3_000));
            let node_after_ms = world.random_between((0, 20_000));
            world.break_off(self, client_after_ms, node_after_ms);
            return;
        };
        let at_ms = last_ms.get().max(world.now_ms() + after_ms);
        last_ms.set(at_ms);
        let connection = self.clone();
        world.schedule(at_ms - world.now_ms(), move |world| {
            if !connection.is_broken.get() {
                deliver(&connection, world);
            }
        });
    }

    /// Closes the connection from the node's side, after its last text has arrived.
    pub(super) fn close<G: SimulatedGame>(self: &Rc<Self>, world: &Rc<World<G>>) {
        self.is_over.set(true);
        let after_ms = self.down_at_ms.get().saturating_sub(world.now_ms());
        let connection = self.clone();
        world.schedule(after_ms, move |world| world.break_off(&connection, 5, 0));
    }

    pub(super) fn is_read(&self) -> bool {
        self.is_read.get()
    }

    /// Stops reading at the client.
    pub(super) fn stop_reading(&self) {
        self.is_read.set(false);
    }

    /// Resumes reading at the client, or ends the wait of the writer.
    pub(super) fn resume_reading(&self) {
        self.is_read.set(true);
        if let Some(writer) = self.writer.borrow_mut().take() {
            writer.resolve(true);
        }
    }

    /// Waits until the client reads. Returns false on a timeout.
    pub(super) async fn wait_writable<G: SimulatedGame>(&self, world: &Rc<World<G>>) -> bool {
        if self.is_read.get() {
            return true;
        }
        let (promise, wait) = promise(&world.tasks);
        *self.writer.borrow_mut() = Some(promise.clone());
        world.schedule(IDLE_MS, move |_| promise.resolve(false));
        wait.await
    }
}
