//! Carries out a plan and heals everything afterwards. A fault that cannot be carried out is a
//! finding, because the run then does not show what it claims.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until};

use crate::bots::{Bot, Order};
use crate::dice::Dice;
use crate::nodes::Node;
use crate::plan::{ClientFault, Fault, Link, LinkFault, NodeFault, Plan, Step};
use crate::support::services::{Service, Services};

/// The time for which clients of a killed node stay away, so that the detection of their absence is
/// visible.
const LINGER: Duration = Duration::from_secs(7);

/// The targets of all faults.
#[derive(Debug)]
pub(crate) struct House {
    pub(crate) services: Mutex<Services>,
    /// Held by the task that is changing PostgreSQL.
    pub(crate) postgres_turn: Mutex<()>,
    pub(crate) redis_turn: Mutex<()>,
    pub(crate) nodes: Vec<Arc<Node>>,
    pub(crate) bots: Vec<Bot>,
    pub(crate) began: Instant,
}

/// A fault that was carried out.
#[derive(Clone, Debug)]
pub(crate) struct InjectedFault {
    pub(crate) fault: Fault,
    /// In ms since the start of the run, as in the clients' journals.
    pub(crate) from_ms: u64,
    pub(crate) to_ms: u64,
}

/// The faults that were carried out, and the errors in doing so.
#[derive(Debug, Default)]
pub(crate) struct InjectionReport {
    pub(crate) done: Vec<InjectedFault>,
    pub(crate) findings: Vec<String>,
}

impl InjectionReport {
    fn add(&mut self, (done, finding): (InjectedFault, Option<String>)) {
        self.done.push(done);
        self.findings.extend(finding);
    }
}

/// Carries out a plan; returns when the last fault is over.
pub(crate) async fn carry_out(house: &Arc<House>, plan: &Plan) -> InjectionReport {
    let begun = Instant::now();
    let mut running = JoinSet::new();
    let mut carried = InjectionReport::default();
    for (number, step) in (1..).zip(plan.steps.clone()) {
        sleep_until((begun + Duration::from_millis(step.at_ms)).into()).await;
        let dice = Dice::new(plan.seed, 1_000_000 + number);
        // Versions are exchanged one after the other, in the order of the plan.
        if matches!(step.fault, Fault::Exchange(_)) {
            carried.add(one(house, step, dice).await);
            continue;
        }
        let house = Arc::clone(house);
        running.spawn(async move { one(&house, step, dice).await });
    }
    while let Some(ended) = running.join_next().await {
        match ended {
            Ok(injected) => carried.add(injected),
            Err(error) => carried.findings.push(format!("a fault was not carried out: {error}")),
        }
    }
    carried.done.sort_by_key(|done| done.from_ms);
    carried
}

async fn one(house: &House, step: Step, mut dice: Dice) -> (InjectedFault, Option<String>) {
    let Step { fault, for_ms, .. } = step;
    let for_long = Duration::from_millis(for_ms);
    let turn = turn(house, fault).await;
    let from_ms = house.now_ms();
    let carried = house.carry_out(fault, for_long, &mut dice).await;
    drop(turn);
    let to_ms = house.now_ms();
    println!("{from_ms} to {to_ms} ms: {fault}");
    (
        InjectedFault { fault, from_ms, to_ms },
        carried.err().map(|error| format!("{fault}: {error}")),
    )
}

/// Locks the target of a fault against concurrent faults.
async fn turn(house: &House, fault: Fault) -> Option<tokio::sync::MutexGuard<'_, ()>> {
    let turn = match fault {
        Fault::Node(_, node) => &house.node(node).turn,
        Fault::Link(_, node, link) => &house.node(node).link_turns[link as usize],
        Fault::KillPostgres => &house.postgres_turn,
        Fault::KillRedis | Fault::StallRedis | Fault::LoseRedis => &house.redis_turn,
        // The first two lock each node in turn.
        Fault::RollingRestart | Fault::Exchange(_) | Fault::Storm | Fault::Clients(..) => {
            return None;
        }
    };
    Some(turn.lock().await)
}

impl House {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn node(&self, number: u64) -> &Node {
        &self.nodes[usize::try_from(number).expect("a node's number is small")]
    }

    async fn carry_out(
        &self,
        fault: Fault,
        for_long: Duration,
        dice: &mut Dice,
    ) -> Result<(), String> {
        match fault {
            Fault::Node(NodeFault::Kill, number) => {
                let node = self.node(number);
                for bot in self.bots.iter().filter(|bot| bot.is_at(number)) {
                    if dice.percent(40) {
                        bot.order(Order::Linger(LINGER));
                    }
                }
                // The time in which the clients receive the order.
                sleep(Duration::from_millis(20)).await;
                node.kill();
                sleep(for_long).await;
                node.start();
                node.until_healthy().await?;
            }
            Fault::Node(NodeFault::Stop | NodeFault::StopLong, node) => {
                let node = self.node(node);
                node.signal("STOP");
                sleep(for_long).await;
                node.signal("CONT");
            }
            Fault::RollingRestart => {
                for node in &self.nodes {
                    self.restart(node).await?;
                }
            }
            Fault::Exchange(version) => {
                for node in &self.nodes {
                    node.take(version);
                    self.restart(node).await?;
                }
                sleep(for_long).await;
            }
            Fault::Link(kind, node, link) => {
                let node = self.node(node);
                match kind {
                    LinkFault::Cut => node.cut(link).await,
                    LinkFault::Hold => node.hold(link),
                    LinkFault::Delay(late_ms) => node.delay(link, Duration::from_millis(late_ms)),
                }
                sleep(for_long).await;
                node.heal(link).await;
            }
            Fault::KillPostgres => self.kill(Service::Postgres, for_long).await,
            Fault::KillRedis => self.kill(Service::Redis, for_long).await,
            Fault::StallRedis => {
                self.services.lock().await.pause(Service::Redis);
                sleep(for_long).await;
                self.services.lock().await.resume();
            }
            Fault::LoseRedis => self.services.lock().await.start_redis_empty().await,
            Fault::Storm => {
                for bot in &self.bots {
                    bot.order(Order::Drop(Duration::ZERO));
                }
            }
            Fault::Clients(kind, clients) => {
                let order = match kind {
                    ClientFault::Drop => Order::Drop(Duration::from_millis(100)),
                    ClientFault::Away => Order::Drop(for_long),
                    ClientFault::Leave => Order::Leave,
                    ClientFault::Slow => Order::Slow(for_long),
                    ClientFault::Idle => Order::Idle(for_long),
                    ClientFault::Duplicate => Order::Repeat(for_long),
                };
                let mut bots: Vec<&Bot> = self.bots.iter().collect();
                dice.shuffle(&mut bots);
                let clients = usize::try_from(clients).unwrap_or(usize::MAX);
                bots.into_iter().take(clients).for_each(|bot| bot.order(order));
            }
        }
        Ok(())
    }

    async fn restart(&self, node: &Node) -> Result<(), String> {
        let _turn = node.turn.lock().await;
        let ended = node.end().await;
        node.start();
        node.until_healthy().await?;
        ended
    }

    async fn kill(&self, service: Service, for_long: Duration) {
        // Starting another service also starts this one, so it may be back earlier.
        self.services.lock().await.kill(service).await;
        sleep(for_long).await;
        self.services.lock().await.start_again().await;
    }

    /// Heals everything, clients included; returns when every node answers.
    pub(crate) async fn heal(&self) -> Result<(), String> {
        {
            let mut services = self.services.lock().await;
            services.resume();
            services.start_again().await;
        }
        for node in &self.nodes {
            for link in [Link::Redis, Link::Postgres, Link::Clients] {
                node.heal(link).await;
            }
            node.signal("CONT");
            node.start();
        }
        for bot in &self.bots {
            bot.order(Order::Behave);
        }
        for node in &self.nodes {
            node.until_healthy().await?;
        }
        Ok(())
    }
}
