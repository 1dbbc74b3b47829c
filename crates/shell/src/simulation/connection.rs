//! A client's connection to a node: two streams of texts in order, which break together but are
//! not seen to break at the same time. A client that does not read blocks who writes to it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::simulation::client::ClientEvent;
use crate::simulation::node::NodeRun;
use crate::simulation::session;
use crate::simulation::tasks::{Mailbox, Promise, Wait, promise};
use crate::simulation::world::World;
use bahay_engine::table::ConnectionId;

/// How long a client waits for a connection.
const CONNECT_TIMEOUT_MS: u64 = 3_000;

/// Silence after which a node takes a client for gone, and the longest it waits to write.
pub(super) const IDLE_MS: u64 = 15_000;

/// One connection, as both ends and the checks see it.
pub(super) struct Connection {
    pub(super) id: ConnectionId,
    pub(super) client: usize,
    pub(super) run: NodeRun,
    /// What the client sent; `None` when it has gone.
    pub(super) frames: Mailbox<Option<Rc<str>>>,
    /// Nothing arrives any more.
    is_broken: Cell<bool>,
    /// Since it is so, whoever says that the client has gone says the truth.
    pub(super) is_over: Cell<bool>,
    is_read: Cell<bool>,
    writer: RefCell<Option<Promise<bool>>>,
    up_at_ms: Cell<u64>,
    down_at_ms: Cell<u64>,
}

impl World {
    /// Connects a client with a node. `None` when that node does not answer.
    pub(super) fn connect(
        self: &Rc<Self>,
        client: usize,
        slot: usize,
    ) -> Wait<Option<Rc<Connection>>> {
        let (promise, wait) = promise(&self.tasks);
        let refused = promise.clone();
        self.schedule(CONNECT_TIMEOUT_MS, move |_| refused.resolve(None));
        self.schedule(self.random_between(10, 160), move |world| {
            let node = {
                let slots = world.node_slots.borrow();
                let slot = &slots[slot];
                if slot.is_paused {
                    return;
                }
                slot.node.clone()
            };
            let Some(node) = node.filter(|node| node.serves.get()) else {
                promise.resolve(None);
                return;
            };
            let connection = Rc::new(Connection {
                id: ConnectionId(world.new_id()),
                client,
                run: node.run,
                frames: Mailbox::new(&world.tasks),
                is_broken: Cell::new(false),
                is_over: Cell::new(false),
                is_read: Cell::new(true),
                writer: RefCell::default(),
                up_at_ms: Cell::new(0),
                down_at_ms: Cell::new(0),
            });
            world.connections.borrow_mut().insert(connection.id, connection.clone());
            session::start(&node, connection.clone());
            promise.resolve(Some(connection));
        });
        wait
    }

    /// Breaks a connection. Each end sees it after a while of its own.
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
        let (id, client) = (connection.id, connection.client);
        self.schedule(client_after_ms, move |world| world.clients[client].push(ClientEvent::Disconnected(id)));
        let connection = connection.clone();
        self.schedule(node_after_ms, move |_| {
            connection.frames.push(None);
            connection.resume_reading();
        });
    }
}

impl Connection {
    /// From the client to the node.
    pub(super) fn send_up(self: &Rc<Self>, world: &Rc<World>, text: Rc<str>) {
        let Some(at_ms) = self.arrival_ms(world, &self.up_at_ms) else {
            return;
        };
        let connection = self.clone();
        world.schedule(at_ms - world.now_ms(), move |_| {
            if !connection.is_broken.get() {
                connection.frames.push(Some(text));
            }
        });
    }

    /// From the node to the client.
    pub(super) fn send_down(self: &Rc<Self>, world: &Rc<World>, text: Rc<str>) {
        let Some(at_ms) = self.arrival_ms(world, &self.down_at_ms) else {
            return;
        };
        let connection = self.clone();
        world.schedule(at_ms - world.now_ms(), move |world| {
            if !connection.is_broken.get() {
                world.clients[connection.client].push(ClientEvent::Message(connection.id, text));
            }
        });
    }

    /// The node has closed it, after what it wrote has arrived.
    pub(super) fn close(self: &Rc<Self>, world: &Rc<World>) {
        self.is_over.set(true);
        let after_ms = self.down_at_ms.get().saturating_sub(world.now_ms());
        let connection = self.clone();
        world.schedule(after_ms, move |world| world.break_off(&connection, 5, 0));
    }

    /// When the next text arrives; `None` when it never does, which breaks the connection.
    fn arrival_ms(self: &Rc<Self>, world: &Rc<World>, last_ms: &Cell<u64>) -> Option<u64> {
        if self.is_broken.get() {
            return None;
        }
        let Some(after_ms) = world.draw_arrivals(&world.far_link()).first().copied() else {
            world.break_off(self, world.random_between(0, 3_000), world.random_between(0, 20_000));
            return None;
        };
        let at_ms = last_ms.get().max(world.now_ms() + after_ms);
        last_ms.set(at_ms);
        Some(at_ms)
    }

    pub(super) fn is_read(&self) -> bool {
        self.is_read.get()
    }

    /// The client reads no more, for now.
    pub(super) fn stop_reading(&self) {
        self.is_read.set(false);
    }

    /// The client reads again, or is gone.
    pub(super) fn resume_reading(&self) {
        self.is_read.set(true);
        if let Some(writer) = self.writer.borrow_mut().take() {
            writer.resolve(true);
        }
    }

    /// Until the client reads; false when it does not for too long.
    pub(super) async fn wait_writable(&self, world: &Rc<World>) -> bool {
        if self.is_read.get() {
            return true;
        }
        let (promise, wait) = promise(&world.tasks);
        *self.writer.borrow_mut() = Some(promise.clone());
        world.schedule(IDLE_MS, move |_| promise.resolve(false));
        wait.await
    }
}
