//! A house in virtual time, as far as coins are concerned: accounts, their grants, and games that a
//! chosen player is to win. All rejections are decided by the functions of the server.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bahay::grant_limits::{GrantLimits, LimitedGrant};
use bahay::ledger::allowance::{self, Allowance, DAYS, RecentResults, Winnings};
use bahay::lobby::{self, Room, conflict_keys, max_winnings};
use bahay::ratings::{INITIAL_RATING, MatchmakingProfile};
use bahay::rewards::{self, daily_amount};
use bahay_engine::catalog::AnyRules;
use bahay_engine::coins::Coins;
use bahay_engine::game::GameRules;
use bahay_engine::matchmaking::{Candidate, RoomSet, Round, Ticket, TicketId};
use bahay_engine::table::{Clocks, PlayerId, Terms, Timestamp};
use bahay_rate_limit::{self as rate_limit, Address, Network};
use uuid::Uuid;

use super::{Farm, Lever, Refusals};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// The duration of a game in milliseconds, shorter than people need.
const GAME_MS: i64 = 60_000;

/// The index of the wallet to which the attacker moves coins.
pub(super) const MAIN: usize = 0;

/// A player's account.
#[derive(Debug)]
struct FarmAccount {
    player: PlayerId,
    address: Address,
    wallet: Coins,
    granted: Coins,
    welcomed: bool,
    streak: u8,
    /// The day of the last relief, and the number of reliefs on that day.
    relief: (i64, u8),
    /// The changes by games at private tables, with their times.
    won: Vec<(i64, Coins)>,
    /// The fees paid in rooms, with their times.
    fees: Vec<(i64, Coins)>,
    recent: Vec<PlayerId>,
    /// The net transfers of games in rooms from other players to this one, with their times.
    room_transfers: Vec<(i64, PlayerId, i64)>,
}

/// A private table that the attacker keeps open with the same players.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PrivateTable {
    bet: Coins,
    pot: Coins,
    wins: u8,
}

/// The house, and the attacker's players in it.
pub(super) struct SimulatedHouse {
    farm: Farm,
    now_ms: i64,
    allowance: Allowance,
    limits: GrantLimits,
    rewards: rewards::Terms,
    sign_ins_a_day: u64,
    /// The rooms, by rising bet.
    rooms: Vec<Room>,
    accounts: Vec<FarmAccount>,
    given: BTreeMap<(Network, i64, LimitedGrant), u32>,
    pub(super) minted: Coins,
    pub(super) refusals: Refusals,
}

impl SimulatedHouse {
    /// Creates a house with the default settings, except for the lifted rules. Its first account is
    /// the main wallet.
    pub(super) fn new(farm: &Farm) -> Self {
        let rate = rate_limit::Options::default().sign_ins_per_address;
        let mut house = Self {
            farm: farm.clone(),
            now_ms: 0,
            allowance: Allowance::default(),
            limits: GrantLimits::default(),
            rewards: rewards::Terms::default(),
            sign_ins_a_day: u64::from(rate.burst) + u64::from(rate.per_second) * 24 * 60 * 60,
            rooms: lobby::house_rooms(Clocks::default()),
            accounts: Vec::new(),
            given: BTreeMap::new(),
            minted: Coins::ZERO,
            refusals: Refusals::default(),
        };
        if house.is_without(Lever::Allowance) {
            house.allowance.floor = Coins::from_hundredths(i64::MAX / 1_000);
        }
        if house.is_without(Lever::GrantLimits) {
            house.limits = GrantLimits { welcomes: 0, reliefs: 0 };
        }
        house.create_guest(house.address(0));
        house
    }

    /// Begins a day: all accounts claim their grants, and new accounts are created.
    pub(super) fn begin_day(&mut self, day: u32) {
        self.now_ms = i64::from(day) * DAY_MS;
        for account in 0..self.accounts.len() {
            self.claim(account);
        }
        let most = u64::from(self.farm.devices).min(self.sign_ins_a_day);
        for number in 0..self.farm.addresses {
            let address = self.address(number);
            for _ in 0..most {
                let account = self.create_guest(address);
                self.claim(account);
            }
        }
    }

    /// Advances the time by one game. Returns false when the day is over.
    pub(super) fn next_game(&mut self, day: u32) -> bool {
        self.now_ms += GAME_MS;
        self.now_ms < (i64::from(day) + 1) * DAY_MS
    }

    pub(super) fn accounts(&self) -> usize {
        self.accounts.len()
    }

    pub(super) fn wallet(&self, account: usize) -> Coins {
        self.accounts[account].wallet
    }

    /// Returns the coins that the main wallet has gained beside its own grants; negative if it has
    /// lost.
    pub(super) fn coins_gained(&self) -> Coins {
        let main = &self.accounts[MAIN];
        subtract(main.wallet, main.granted)
    }

    /// Returns the highest bet, in whole coins, at which a private table of these players could
    /// begin a game.
    pub(super) fn max_bet(&self, winner: usize, losers: [usize; 2]) -> Option<Coins> {
        let one = self.private_terms(whole_coins(1));
        let most = max_winnings(&one, Coins::ZERO)?;
        let needed = one.wallet_min()?;
        let poorest = [winner, losers[0], losers[1]].map(|account| self.wallet(account));
        let by_wallets = poorest.into_iter().min()?.hundredths() / needed.hundredths();
        // Each of the players could win.
        let lefts = [winner, losers[0], losers[1]].map(|account| self.allowance_left(account));
        let by_right = lefts.into_iter().min()?.hundredths() / most.hundredths();
        let bet = by_wallets.min(by_right).min(lobby::PRIVATE_BET_MAX);
        (bet >= 1).then(|| whole_coins(bet))
    }

    /// Opens a private table with this bet. Its POT is taken by two wins in a row.
    pub(super) fn open_table(&self, bet: Coins) -> PrivateTable {
        PrivateTable { bet, ..PrivateTable::default() }
    }

    /// Plays a game at a private table in which the losers lose their whole stakes. Returns false
    /// if the game cannot begin.
    pub(super) fn lose_privately(
        &mut self,
        table: &mut PrivateTable,
        winner: usize,
        losers: [usize; 2],
    ) -> bool {
        let terms = self.private_terms(table.bet);
        let seats = [winner, losers[0], losers[1]];
        let Some((ante, stakes)) = self.stakes(&terms, seats) else {
            return false;
        };
        let pot = add(table.pot, add(add(ante, ante), ante));
        for (seat, account) in seats.into_iter().enumerate() {
            let others = (0..seats.len()).filter(|other| *other != seat).map(|other| stakes[other]);
            if allowance::max_gain(others, pot) > self.allowance_left(account) {
                self.refusals.games += 1;
                return false;
            }
        }
        let gross = add(stakes[1], stakes[2]);
        let fee = fee_of(gross, terms.price.fee_basis_points);
        table.wins += 1;
        let takes_pot = terms.hits.is_some_and(|hits| table.wins >= hits.to_win);
        table.pot = if takes_pot { Coins::ZERO } else { pot };
        if takes_pot {
            table.wins = 0;
        }
        let won = add(subtract(gross, fee), if takes_pot { pot } else { Coins::ZERO });
        for (account, change) in
            [(winner, won), (losers[0], negate(stakes[1])), (losers[1], negate(stakes[2]))]
        {
            let now = self.now_ms;
            let account = &mut self.accounts[account];
            account.wallet = subtract(add(account.wallet, change), ante);
            account.won.push((now, change));
        }
        true
    }

    /// Closes a table and refunds its POT to those who paid it (rule 7.4).
    pub(super) fn close_table(&mut self, table: PrivateTable, players: [usize; 3]) {
        let share = Coins::from_hundredths(table.pot.hundredths() / 3);
        for account in players {
            self.accounts[account].wallet = add(self.accounts[account].wallet, share);
        }
    }

    /// Plays three games in a room against honest players of equal skill, one won and two lost by
    /// the same counts, which costs only the fee. Returns false if the wallet is too small.
    pub(super) fn play_honestly(&mut self, account: usize, counts: u32) -> bool {
        let Some(price) = self.best_room(&[account]).map(|terms| terms.price) else {
            return false;
        };
        let Some(lost) = price.bet.checked_mul(counts) else {
            return false;
        };
        let fee = fee_of(add(lost, lost), price.fee_basis_points);
        let now = self.now_ms;
        let account = &mut self.accounts[account];
        account.wallet = subtract(account.wallet, fee);
        account.fees.push((now, fee));
        true
    }

    /// Runs a round of the matcher in which only the main player and the sybils look for a table of
    /// one room. Returns the two who were placed with the main player.
    pub(super) fn match_sybils(&mut self, sybils: &[usize], turn: u64) -> Option<[usize; 2]> {
        if self.is_day_limit_reached(MAIN) {
            self.refusals.rounds += 1;
            return None;
        }
        let seekers: Vec<usize> = std::iter::once(MAIN).chain(sybils.iter().copied()).collect();
        let tickets = seekers.iter().map(|account| {
            // The main player's ticket is the oldest, so it is placed first.
            let waited_ms = if *account == MAIN { 2 * GAME_MS } else { GAME_MS };
            let recent = self.accounts[*account].recent.clone();
            Ticket { recent, ..self.ticket(self.candidate(*account), waited_ms) }
        });
        let tickets: Vec<_> = tickets.collect();
        let ticket_of = |account: usize| TicketId(self.accounts[account].player.0);
        let placements = self.place(&tickets, turn);
        let Some(placed) = placements.iter().find(|placed| placed.contains(&ticket_of(MAIN)))
        else {
            self.refusals.rounds += 1;
            return None;
        };
        let sybil_of =
            |ticket: &TicketId| sybils.iter().copied().find(|sybil| ticket_of(*sybil) == *ticket);
        let others: Vec<usize> = placed.iter().filter_map(sybil_of).collect();
        others.try_into().ok()
    }

    /// Creates the ticket of a player who looks for a table of one room.
    fn ticket(&self, candidate: Candidate, waited_ms: i64) -> Ticket {
        Ticket {
            id: TicketId(candidate.player.0),
            candidate,
            rooms: RoomSet::default().with(0),
            recent: Vec::new(),
            since: Timestamp::from_ms(self.now_ms - waited_ms),
        }
    }

    /// Runs a round of the matcher. Returns the tickets of each table.
    fn place(&self, tickets: &[Ticket], turn: u64) -> Vec<Vec<TicketId>> {
        let now = Timestamp::from_ms(self.now_ms);
        let networks_apart = RoomSet::default().with(0);
        let round = Round { seats: &[3], networks_apart, tables: &[], tickets, now, turn };
        round.placements().into_iter().map(|placement| placement.tickets).collect()
    }

    /// Plays a game in a room in which these two lose their whole stakes to the main wallet.
    /// Returns false if a wallet is too small for every room.
    pub(super) fn lose_in_room(&mut self, losers: [usize; 2]) -> bool {
        let seats = [MAIN, losers[0], losers[1]];
        let Some(terms) = self.best_room(&seats).cloned() else {
            return false;
        };
        let Some((ante, stakes)) = self.stakes(&terms, seats) else {
            return false;
        };
        let gross = add(stakes[1], stakes[2]);
        let fee = fee_of(gross, terms.price.fee_basis_points);
        // The antes of the losers are won with the POT eventually.
        let antes = add(ante, ante);
        let now = self.now_ms;
        let main = &mut self.accounts[MAIN];
        main.wallet = add(main.wallet, add(subtract(gross, fee), antes));
        main.fees.push((now, fee));
        for (loser, stake) in losers.into_iter().zip([stakes[1], stakes[2]]) {
            self.record_net_transfer(loser, MAIN, stake, stakes[0].max(stake));
            let met = self.accounts[MAIN].player;
            let loser = &mut self.accounts[loser];
            loser.wallet = subtract(loser.wallet, add(stake, ante));
            loser.recent = vec![met];
        }
        true
    }

    /// Runs a round of the matcher in which these two and one honest player look for a table of one
    /// room. Returns true if all three are placed together.
    pub(super) fn match_with_stranger(&mut self, winner: usize, donor: usize, turn: u64) -> bool {
        if self.is_day_limit_reached(winner) {
            self.refusals.rounds += 1;
            return false;
        }
        let seekers = [self.candidate(winner), self.candidate(donor), honest_candidate(turn)];
        let tickets = seekers.map(|candidate| self.ticket(candidate, GAME_MS));
        let is_placed = self.place(&tickets, turn).iter().any(|placed| placed.len() == 3);
        self.refusals.rounds += u64::from(!is_placed);
        is_placed
    }

    /// Plays a game in a room in which the donor loses its whole stake to the winner, and an honest
    /// third player neither wins nor loses. Returns false if a wallet is too small for every room.
    pub(super) fn lose_beside_stranger(&mut self, winner: usize, donor: usize) -> bool {
        let Some(terms) = self.best_room(&[winner, donor]).cloned() else {
            return false;
        };
        let Some((ante, [own, lost, _])) = self.stakes(&terms, [winner, donor, donor]) else {
            return false;
        };
        let fee = fee_of(lost, terms.price.fee_basis_points);
        let net = subtract(lost, fee);
        self.record_net_transfer(donor, winner, net, own.max(lost));
        let now = self.now_ms;
        let account = &mut self.accounts[winner];
        // The ante of the loser is won with the POT eventually.
        account.wallet = add(account.wallet, add(net, ante));
        account.fees.push((now, fee));
        let account = &mut self.accounts[donor];
        account.wallet = subtract(account.wallet, add(lost, ante));
        true
    }

    /// Records the net transfer of a game in a room between two accounts, in thousandths of a whole stake.
    fn record_net_transfer(&mut self, loser: usize, winner: usize, moved: Coins, stake: Coins) {
        let net_transfer = moved.hundredths().saturating_mul(1_000) / stake.hundredths().max(1);
        let now = self.now_ms;
        let [from, to] = [loser, winner].map(|account| self.accounts[account].player);
        self.accounts[winner].room_transfers.push((now, from, net_transfer));
        self.accounts[loser].room_transfers.push((now, to, -net_transfer));
    }

    /// Returns true if the account has reached the daily limit on winnings in rooms.
    pub(super) fn is_day_limit_reached(&self, account: usize) -> bool {
        !self.is_without(Lever::RoomLimits) && self.room_winnings(account).is_day_limit_reached()
    }

    /// Returns true if two accounts may sit at one table.
    pub(super) fn may_meet(&self, one: usize, other: usize) -> bool {
        let other = self.candidate(other).conflict_keys;
        !self.candidate(one).conflict_keys.iter().any(|key| other.contains(key))
    }

    /// Returns the winnings of an account in rooms within a day, as the ledger computes them.
    fn room_winnings(&self, account: usize) -> Winnings {
        let mut winnings = Winnings::default();
        let transfers = self.accounts[account].room_transfers.iter().rev();
        for (_, other, won) in transfers.take_while(|(at, ..)| self.now_ms - at < DAY_MS) {
            winnings.add(*other, *won);
        }
        winnings
    }

    fn is_without(&self, lever: Lever) -> bool {
        self.farm.without.contains(&lever)
    }

    /// Claims relief for an account that is nearly empty.
    pub(super) fn claim_relief(&mut self, account: usize) {
        let terms = self.rewards.relief;
        let day = self.now_ms.div_euclid(DAY_MS);
        let FarmAccount { wallet, address, relief, .. } = &self.accounts[account];
        let (last, count) = *relief;
        let count = if last == day { count } else { 0 };
        if *wallet >= terms.floor || count >= terms.per_day {
            return;
        }
        if !self.count_grant(LimitedGrant::Relief, *address, day) {
            self.refusals.reliefs += 1;
            return;
        }
        self.accounts[account].relief = (day, count + 1);
        self.grant(account, terms.amount);
    }

    /// Creates a guest at this address.
    fn create_guest(&mut self, address: Address) -> usize {
        let account = self.accounts.len();
        let id = u128::from(self.farm.seed) << 64 | account as u128;
        self.accounts.push(FarmAccount {
            player: PlayerId(Uuid::from_u128(
                id.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835),
            )),
            address,
            wallet: Coins::ZERO,
            granted: Coins::ZERO,
            welcomed: false,
            streak: 0,
            relief: (-1, 0),
            won: Vec::new(),
            fees: Vec::new(),
            recent: Vec::new(),
            room_transfers: Vec::new(),
        });
        account
    }

    /// Claims the welcome grant if it is still due, then the daily reward and relief.
    fn claim(&mut self, account: usize) {
        let day = self.now_ms.div_euclid(DAY_MS);
        let address = self.accounts[account].address;
        if !self.accounts[account].welcomed {
            if self.count_grant(LimitedGrant::Welcome, address, day) {
                self.accounts[account].welcomed = true;
                self.grant(account, rewards::WELCOME);
            } else {
                self.refusals.welcomes += 1;
            }
        }
        // The daily reward requires the welcome grant.
        if self.accounts[account].welcomed {
            let streak = self.accounts[account].streak + 1;
            let streak = if usize::from(streak) > rewards::STREAK_DAYS { 1 } else { streak };
            self.accounts[account].streak = streak;
            self.grant(account, daily_amount(streak, &self.rewards.daily));
        }
        self.claim_relief(account);
    }

    /// Counts a grant to a network. Returns false if the network has reached its limit.
    fn count_grant(&mut self, counted: LimitedGrant, address: Address, day: i64) -> bool {
        let given = self.given.entry((address.network(), day, counted)).or_default();
        let may = self.limits.limit_for(counted).is_none_or(|limit| *given < limit);
        if may {
            *given += 1;
        }
        may
    }

    fn grant(&mut self, account: usize, amount: Coins) {
        let account = &mut self.accounts[account];
        account.wallet = add(account.wallet, amount);
        account.granted = add(account.granted, amount);
        self.minted = add(self.minted, amount);
    }

    /// Returns the remaining allowance of an account at private tables, as the ledger computes it.
    fn allowance_left(&self, account: usize) -> Coins {
        let FarmAccount { won, fees, .. } = &self.accounts[account];
        let day_of = |at: i64| usize::try_from((self.now_ms - at) / DAY_MS).unwrap_or(usize::MAX);
        let mut recent = RecentResults::default();
        for (at, amount) in won.iter().rev().take_while(|(at, _)| day_of(*at) < DAYS) {
            let day = &mut recent.won[day_of(*at)];
            *day = add(*day, *amount);
        }
        let paid = fees.iter().rev().take_while(|(at, _)| day_of(*at) < DAYS);
        recent.fees = paid.fold(Coins::ZERO, |sum, (_, amount)| add(sum, *amount));
        self.allowance.remaining(&recent)
    }

    /// Returns the ante and the stakes of a game, by seat; `None` if a player cannot pay.
    fn stakes(&self, terms: &Terms<AnyRules>, seats: [usize; 3]) -> Option<(Coins, [Coins; 3])> {
        let stake_terms = terms.stake_terms(3)?;
        let [first, second, third] =
            seats.map(|account| stake_terms.stake_of(self.wallet(account)));
        Some((stake_terms.ante, [first?, second?, third?]))
    }

    fn private_terms(&self, bet: Coins) -> Terms<AnyRules> {
        let mut terms = self.rooms[0].terms().clone();
        terms.price.bet = bet;
        terms
    }

    /// Returns the terms of the room with the highest bet that admits the poorest of these wallets
    /// and requires no account.
    fn best_room(&self, accounts: &[usize]) -> Option<&Terms<AnyRules>> {
        let wallet = accounts.iter().map(|account| self.wallet(*account)).min()?;
        let may = |room: &&Room| {
            let is_for = room.wallet_max().is_none_or(|most| wallet <= most);
            let seats_three = room.terms().rules.seats().most == 3;
            wallet >= room.wallet_min() && is_for && !room.needs_account() && seats_three
        };
        self.rooms.iter().rfind(may).map(Room::terms)
    }

    fn candidate(&self, account: usize) -> Candidate {
        let FarmAccount { player, address, .. } = &self.accounts[account];
        let from = match address {
            _ if self.is_without(Lever::Addresses) => None,
            address if self.is_without(Lever::Networks) => Some(isolate_network(*address)),
            address => Some(*address),
        };
        let blocked = if self.is_without(Lever::RoomLimits) {
            Vec::new()
        } else {
            self.room_winnings(account).partners_at_bound().collect()
        };
        // Each guest has a device of its own.
        let devices = vec![player.0.into_bytes().to_vec()];
        let profile = MatchmakingProfile {
            rating: INITIAL_RATING,
            devices,
            blocked,
            ..MatchmakingProfile::default()
        };
        conflict_keys::candidate(&[0; 32], *player, &profile, from)
    }

    /// Returns an address of the attacker: the only IPv4 address, or one of many IPv6 addresses
    /// within one network of 48 bits or in as many networks.
    fn address(&self, number: u32) -> Address {
        if self.farm.addresses == 1 {
            return IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9)).into();
        }
        let place = u128::from(number) + 1;
        let bits = if self.farm.apart { 80 } else { 64 };
        let network = 0x2001_0db8_u128 << 96;
        IpAddr::V6(Ipv6Addr::from_bits(network | place << bits)).into()
    }
}

/// Returns an honest player in a network of its own, a different one in each turn.
fn honest_candidate(turn: u64) -> Candidate {
    let player = PlayerId(Uuid::from_u128(u128::MAX - u128::from(turn)));
    Candidate::new(player, INITIAL_RATING)
}

/// Returns an address whose own 64 bits form its network.
fn isolate_network(address: Address) -> Address {
    let text = address.to_string();
    let ip = text.split('/').next().and_then(|ip| ip.parse::<IpAddr>().ok());
    match ip {
        Some(IpAddr::V6(v6)) => {
            // The bits that distinguish the attacker's addresses replace those of the network.
            let subnet = v6.to_bits() >> 64 & 0xffff;
            IpAddr::V6(Ipv6Addr::from_bits(0x2001_0db8_u128 << 96 | subnet << 80)).into()
        }
        Some(IpAddr::V4(_)) | None => address,
    }
}

fn whole_coins(coins: i64) -> Coins {
    Coins::from_whole(coins).unwrap_or(Coins::ZERO)
}

fn add(one: Coins, other: Coins) -> Coins {
    Coins::from_hundredths(one.hundredths().saturating_add(other.hundredths()))
}

fn subtract(one: Coins, other: Coins) -> Coins {
    Coins::from_hundredths(one.hundredths().saturating_sub(other.hundredths()))
}

fn fee_of(gross: Coins, basis_points: u32) -> Coins {
    gross.share_rounded_down(basis_points).unwrap_or(Coins::ZERO)
}

fn negate(amount: Coins) -> Coins {
    subtract(Coins::ZERO, amount)
}
