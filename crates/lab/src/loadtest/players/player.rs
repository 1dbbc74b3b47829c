//! A simulated player: signs in as a guest, asks for seats, plays at one table after the other
//! (`table_connection`), and reconnects whenever the connection breaks.

use std::sync::Arc;
use std::time::Duration;

use bahay_base::clock::Moment;
use bahay_base::entropy;
use bahay_client_tokio::{Client, ClientError, ClientTable, Play, PlayError};
use bahay_engine::table::TableId;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{sleep, timeout};

use super::crowd::{Crowd, OrderReceiver};
use super::player_rng::{Habit, PlayerRng};
use crate::loadtest::counters::Count;

/// The back-off after a refusal or failure.
pub(in crate::loadtest) const PAUSE: Duration = Duration::from_millis(250);

/// The timeout of a connection attempt.
pub(in crate::loadtest) const PATIENCE: Duration = Duration::from_secs(30);

/// The refusal code for an expired access token.
const TOKEN_EXPIRED: &str = "token_expired";

/// The end of a connection.
pub(in crate::loadtest) enum ConnectionEnd {
    /// The player was ordered to leave.
    Over,
    /// The player has no seat any more.
    Unseated,
    /// Disconnected on purpose; the player reconnects after this time.
    BrokenOff(Duration),
    /// Refused because the access token has expired.
    Expired,
    /// Broken, with the code of the error.
    Lost(String),
}

impl ConnectionEnd {
    /// Classifies the error that broke a connection.
    pub(in crate::loadtest) fn from_error(error: &PlayError) -> Self {
        Self::Lost(match error {
            PlayError::Upgrade { code, .. } if code == TOKEN_EXPIRED => return Self::Expired,
            PlayError::Socket(_) => "socket".to_owned(),
            PlayError::Upgrade { status, code } => format!("upgrade_{status}_{code}"),
            PlayError::Closed { code, .. } => format!("closed_{code}"),
            PlayError::Nonsense(_) => "nonsense".to_owned(),
            PlayError::Gap { .. } => "gap".to_owned(),
            PlayError::Refused { code, .. } => code.clone(),
        })
    }
}

/// The reason for which a player leaves the room for good.
enum LeaveReason {
    Over,
    Broke,
    Refused,
}

/// A player of the crowd.
pub(in crate::loadtest) struct LoadPlayer {
    pub(in crate::loadtest) crowd: Arc<Crowd>,
    pub(in crate::loadtest) number: u32,
    pub(in crate::loadtest) rng: PlayerRng,
    pub(in crate::loadtest) habit: Habit,
    pub(in crate::loadtest) orders: OrderReceiver,
    /// A permit held from sign-in until a table is joined, so that tables fill one after the other.
    pub(in crate::loadtest) arriving: Option<OwnedSemaphorePermit>,
}

impl LoadPlayer {
    pub(in crate::loadtest) fn new(crowd: Arc<Crowd>, number: u32, orders: OrderReceiver) -> Self {
        let mut rng = PlayerRng::new(crowd.options.seed, number);
        let habit = Habit::draw(&mut rng, &crowd.options);
        Self { crowd, number, rng, habit, orders, arriving: None }
    }

    /// Plays until the player is dismissed.
    pub(in crate::loadtest) async fn run(mut self) {
        while !self.orders.is_dismissed(self.number) {
            let Some(mut client) = self.sign_in().await else {
                continue;
            };
            if !self.orders.seeks_tables() {
                self.hold_connection(&mut client).await;
            }
            match self.play_tables(&mut client).await {
                LeaveReason::Over => return,
                LeaveReason::Broke => self.crowd.counters.count(Count::Broke, 1),
                LeaveReason::Refused => sleep(PAUSE).await,
            }
        }
    }

    async fn sign_in(&mut self) -> Option<Client> {
        let crowd = self.crowd.clone();
        self.acquire_arrival().await;
        let device = format!("load-{}", entropy::uuid());
        let door = crowd.nodes.client(crowd.nodes.node_for_player(self.number));
        match door.another_guest(&device, &format!("Load {}", self.number)).await {
            Ok(client) => {
                crowd.counters.count(Count::Guests, 1);
                Some(client.with_form(crowd.options.form))
            }
            Err(error) => {
                crowd.record_failure(&error);
                self.pause_for(PAUSE).await;
                None
            }
        }
    }

    /// Waits for a permit to arrive.
    async fn acquire_arrival(&mut self) {
        if self.arriving.is_none() {
            // The semaphore is never closed while the crowd exists.
            self.arriving = self.crowd.arrivals.clone().acquire_owned().await.ok();
        }
    }

    /// Keeps a connection without a table until players are to look for tables.
    async fn hold_connection(&mut self, client: &mut Client) {
        while !self.orders.seeks_tables() && !self.orders.is_dismissed(self.number) {
            let connected = match timeout(PATIENCE, client.play()).await {
                Ok(Ok(mut play)) => self.read_until_seating(&mut play).await,
                Ok(Err(error)) => Err(error),
                Err(_) => {
                    self.crowd.counters.count_error("connect_timeout");
                    continue;
                }
            };
            if let Err(error) = connected {
                if let PlayError::Upgrade { status, code } = &error {
                    self.crowd.note_refusal(*status, code);
                }
                match self.classify_error(&error) {
                    ConnectionEnd::Expired if self.renew_tokens(client).await => continue,
                    ConnectionEnd::Lost(code) => self.crowd.counters.count_error(&code),
                    _ => {}
                }
                sleep(PAUSE).await;
            }
        }
        self.acquire_arrival().await;
    }

    async fn read_until_seating(&mut self, play: &mut Play) -> Result<(), PlayError> {
        let mut orders = self.orders.clone();
        let mut unseated = None;
        loop {
            tokio::select! {
                frame = play.next_raw() => {
                    self.crowd.counters.count_message_in(frame?.as_bytes().len());
                    // The hello confirms the connection.
                    unseated.get_or_insert_with(|| self.crowd.unseated.add_player());
                    self.arriving = None;
                }
                () = orders.wait_to_sit(self.number) => return Ok(()),
            }
        }
    }

    /// Renews expired tokens as every client does; returns false on failure.
    async fn renew_tokens(&self, client: &mut Client) -> bool {
        let base = client.base().to_owned();
        match client.renew_tokens_at(&base).await {
            Ok(()) => true,
            Err(error) => {
                self.crowd.record_failure(&error);
                false
            }
        }
    }

    /// Plays at one table after the other.
    async fn play_tables(&mut self, client: &mut Client) -> LeaveReason {
        loop {
            if self.orders.is_dismissed(self.number) {
                return LeaveReason::Over;
            }
            let asked = Moment::now();
            let table = match client.seat(&self.crowd.options.room).await {
                Ok(table) => table,
                Err(ClientError::Refused { code, .. }) if code == "too_few_coins" => {
                    return LeaveReason::Broke;
                }
                Err(ClientError::Refused { code, .. })
                    if code == TOKEN_EXPIRED && self.renew_tokens(client).await =>
                {
                    continue;
                }
                Err(error @ ClientError::Refused { status: 401, .. }) => {
                    self.crowd.record_failure(&error);
                    return LeaveReason::Refused;
                }
                Err(error) => {
                    self.crowd.record_failure(&error);
                    self.pause_for(PAUSE).await;
                    continue;
                }
            };
            if self.play_table(client, table, asked).await {
                return LeaveReason::Over;
            }
        }
    }

    /// Plays at a table across reconnections. Returns true if the player is dismissed.
    async fn play_table(&mut self, client: &mut Client, table: TableId, asked: Moment) -> bool {
        let crowd = self.crowd.clone();
        let board_seat = Arc::new(crowd.boards.take_seat(table, &crowd.nodes));
        let node = crowd.nodes.client(board_seat.node).base();
        let mut known = ClientTable::default();
        let mut asked = Some(asked);
        let mut came_back = None;
        loop {
            let connection_client = client.with_base(node);
            let seated = asked.take();
            let (end, left) = self
                .play_connection(&connection_client, &board_seat, known, seated, came_back)
                .await;
            known = left;
            match end {
                ConnectionEnd::Over => return true,
                ConnectionEnd::Unseated => return false,
                ConnectionEnd::BrokenOff(pause) => {
                    self.pause_for(pause).await;
                    came_back = Some(Moment::now());
                }
                ConnectionEnd::Expired if self.renew_tokens(client).await => {
                    came_back.get_or_insert_with(Moment::now);
                }
                ConnectionEnd::Expired => self.pause_for(PAUSE).await,
                ConnectionEnd::Lost(code) => {
                    self.crowd.counters.count_error(&code);
                    came_back.get_or_insert_with(Moment::now);
                    let pause = self.rng.draw_millis(100, 400);
                    self.pause_for(pause).await;
                }
            }
            if self.orders.is_dismissed(self.number) {
                return true;
            }
        }
    }

    /// Records a protocol violation as a fault; other errors are expected on networks.
    pub(in crate::loadtest) fn classify_error(&self, error: &PlayError) -> ConnectionEnd {
        if matches!(error, PlayError::Gap { .. } | PlayError::Nonsense(_)) {
            self.crowd.counters.add_fault(error.to_string());
        }
        ConnectionEnd::from_error(error)
    }

    /// Sleeps, unless an order arrives.
    async fn pause_for(&mut self, pause: Duration) {
        let mut orders = self.orders.clone();
        tokio::select! {
            () = sleep(pause) => {}
            _ = orders.next_order(self.number) => self.orders = orders.clone(),
        }
    }
}
