-- What operators read at a glance, counted from the seals of the ledger some seconds after it was
-- booked, as standings are: `figures_progress` says up to which seal, and moves in the transaction
-- that counts. All of it can be thrown away and counted again. Amounts are in hundredths of a coin.
-- The indexes are those that the desk needs to answer in some milliseconds with a million games, by
-- what was measured.

-- Transfers by the hour (UTC) in which they were booked. `kind` is that of the game, and empty
-- where there is none; `room` is empty where nothing tells one.
create table booked_hours (
    hour timestamptz not null,
    kind text not null,
    room text not null,
    code text not null,
    source_kind text not null,
    destination_kind text not null,
    transfers bigint not null check (transfers > 0),
    amount bigint not null check (amount > 0),
    primary key (hour, kind, room, code, source_kind, destination_kind)
);

-- Operations by the same hours.
create table operation_hours (
    hour timestamptz not null,
    kind text not null,
    room text not null,
    operation_kind text not null,
    operations bigint not null check (operations > 0),
    primary key (hour, kind, room, operation_kind)
);

-- What all accounts of a kind hold together.
create table held_by_kind (
    account_kind text primary key,
    amount bigint not null
);

-- What is in the POT of each table.
create table held_pots (
    table_id uuid primary key,
    amount bigint not null check (amount >= 0),
    changed_at timestamptz not null
);

create index held_pots_idle on held_pots (changed_at) where amount > 0;

-- A row for each settled game, to be listed and filtered.
create table settlements (
    game uuid primary key,
    -- The day (UTC) in which it was finished: with it, few rows are read of many.
    day date not null,
    finished_at timestamptz not null,
    booked_at timestamptz not null,
    kind text not null,
    room text not null,
    -- Null when the record cannot be played again.
    ending text null,
    -- Null when nobody won.
    winner uuid null,
    -- What was paid by losers, before the fee; the fee; the POT, when somebody took it. What was paid
    -- and the fee are 0 once the settlement was reversed: the coins went back.
    gross bigint not null check (gross >= 0),
    fee bigint not null check (fee >= 0),
    pot bigint null check (pot >= 0),
    took_pot boolean not null generated always as (pot is not null) stored,
    -- Whether the AI has played for somebody.
    taken_over boolean not null,
    -- When a reversal of the settlement was booked.
    reversed_at timestamptz null,
    constraint settlements_reversed_to_zero
        check (reversed_at is null or (gross = 0 and fee = 0 and pot is null))
);

create index settlements_newest on settlements (day, finished_at, game)
    include (kind, room, ending, gross, fee, pot, took_pot, taken_over, reversed_at);

-- Settlements of exactly one sort of a day, as `settlement_days` has them: so that a filter that
-- fits few reads only those.
create index settlements_of_sort
    on settlements (day, gross, kind, room, coalesce(ending, ''), took_pot, taken_over);

-- Settlements that were booked late: five seconds after the end of the game.
create index settlements_slow on settlements (booked_at)
    where booked_at - finished_at > interval '5 seconds';

-- How many settlements there are of each sort, so that totals of many need not read them.
create table settlement_days (
    day date not null,
    kind text not null,
    room text not null,
    -- Empty for null.
    ending text not null,
    took_pot boolean not null,
    taken_over boolean not null,
    gross bigint not null,
    -- Zero once all of them were reversed, which are counted with a gross of 0.
    games bigint not null check (games >= 0),
    reversed bigint not null default 0 check (reversed between 0 and games),
    fees bigint not null,
    pots bigint not null,
    primary key (day, kind, room, ending, took_pot, taken_over, gross)
);

-- The same by player, for the list and the totals of somebody who has played ten thousand games:
-- all that both ask for is in the index, side by side.
create table player_settlements (
    player uuid not null,
    finished_at timestamptz not null,
    game uuid not null,
    kind text not null,
    room text not null,
    ending text null,
    gross bigint not null,
    fee bigint not null,
    pot bigint null,
    taken_over boolean not null,
    reversed_at timestamptz null,
    primary key (player, finished_at, game)
        include (kind, room, ending, gross, fee, pot, taken_over, reversed_at)
) partition by range (finished_at);

-- What a player has won of players who were made within the seven days before, less what it has lost
-- to such, by the day (UTC) in which the game was finished: coins of many new accounts that gather
-- at one.
create table newcomer_coins (
    player uuid not null,
    day date not null,
    amount bigint not null,
    primary key (player, day)
);

create index newcomer_coins_most on newcomer_coins (day, amount desc, player);

create table figures_progress (
    is_only boolean primary key default true check (is_only),
    -- The last seal that was counted.
    seal bigint not null check (seal >= 0)
);

insert into figures_progress (seal) values (0);

grant select, insert, update on booked_hours, operation_hours, held_by_kind, held_pots,
    settlement_days, newcomer_coins to bahay_service;
grant select, insert, update (gross, fee, reversed_at) on settlements, player_settlements
    to bahay_service;
grant select, update on figures_progress to bahay_service;

-- Operations that wait to be counted: what reports read from the ledger itself.
create view late_operations as
    select u.operation
    from pending_house_entries u
    union all
    select unnest(s.operations)
    from seals s
    where s.number > (select p.seal from figures_progress p);

grant select on late_operations to bahay_service;
