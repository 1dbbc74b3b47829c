-- The projection of figures for reports, from the seals of the ledger some seconds late, like standings.
-- Amounts are in hundredths of a coin. The indexes were chosen by measurement, for answers within some
-- milliseconds with a million games.

-- Transfers by the hour (UTC) of their booking. `kind` is that of the game, and empty without one; `room` is
-- empty if there is none.
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

-- The coins of all accounts of a kind.
create table held_by_kind (
    account_kind text primary key,
    amount bigint not null
);

-- The coins in the POT of each table.
create table held_pots (
    table_id uuid primary key,
    amount bigint not null check (amount >= 0),
    changed_at timestamptz not null
);

create index held_pots_idle on held_pots (changed_at) where amount > 0;

-- A row for each settled game, for lists and filters.
create table settlements (
    game uuid primary key,
    -- The day (UTC) of its end, which limits the rows that a query reads.
    day date not null,
    finished_at timestamptz not null,
    booked_at timestamptz not null,
    kind text not null,
    room text not null,
    -- Null if the record cannot be replayed.
    ending text null,
    -- Null if nobody won.
    winner uuid null,
    -- The payments of the losers before the fee; the fee; and the POT, if it was won. Payments and fee are 0
    -- after a reversal, which returned the coins.
    gross bigint not null check (gross >= 0),
    fee bigint not null check (fee >= 0),
    pot bigint null check (pot >= 0),
    took_pot boolean not null generated always as (pot is not null) stored,
    -- The ante of each seat, which a reversal does not return, and the number of seats.
    ante bigint not null check (ante >= 0),
    seats smallint not null check (seats > 0),
    -- True if the AI has acted for a player.
    taken_over boolean not null,
    -- The time at which a reversal of the settlement was booked.
    reversed_at timestamptz null,
    constraint settlements_reversed_to_zero
        check (reversed_at is null or (gross = 0 and fee = 0 and pot is null))
);

create index settlements_newest on settlements (day, finished_at, game)
    include (kind, room, ending, gross, fee, pot, took_pot, taken_over, seats, reversed_at);

-- The settlements of a day with the same attributes, as in `settlement_days`: a filter with few matches reads
-- only those, and so do the orders by payments, fee and ante.
create index settlements_of_sort on settlements (
    day, gross, kind, room, coalesce(ending, ''), took_pot, taken_over, fee, ante, finished_at, game
);

-- The order by POTs.
create index settlements_with_pot on settlements (day, pot, finished_at, game) where pot is not null;

-- The order by reversals, which are few because two operators agree on each.
create index settlements_reversed on settlements (finished_at, game) where reversed_at is not null;

-- Late settlements: booked more than five seconds after the end of the game.
create index settlements_slow on settlements (booked_at)
    where booked_at - finished_at > interval '5 seconds';

-- The number of settlements by attributes, so that sums of many need not read them. The fee and the ante are
-- nearly determined by the other attributes, so they add few rows.
create table settlement_days (
    day date not null,
    kind text not null,
    room text not null,
    -- Empty for null.
    ending text not null,
    took_pot boolean not null,
    taken_over boolean not null,
    gross bigint not null,
    fee bigint not null,
    ante bigint not null,
    -- Zero after all of them were reversed; reversed settlements are counted with a gross and a fee of 0.
    games bigint not null check (games >= 0),
    reversed bigint not null default 0 check (reversed between 0 and games),
    pots bigint not null,
    -- The most seats of any of them, whether it was reversed or not.
    seats_max smallint not null,
    primary key (day, kind, room, ending, took_pot, taken_over, gross, fee, ante)
);

-- Returns the number by which lists of settlements are ordered: the amount or the text that `key` names. A text
-- counts by its position in `ranks`, from 1; others by 0. PostgreSQL replaces a call by this expression.
create function settlement_order(
    key text,
    gross bigint,
    fee bigint,
    ante bigint,
    taken_over boolean,
    kind text,
    room text,
    ending text,
    ranks text[]
) returns bigint
language sql immutable parallel safe
return case key
    when 'gross' then gross
    when 'fee' then fee
    when 'ante' then ante
    when 'taken_over' then taken_over::int
    else coalesce(
        array_position(ranks, case key when 'kind' then kind when 'room' then room else ending end),
        0
    )
end;

-- The settlements by player, for the list and the sums of a player with ten thousand games: the index
-- contains everything that both need.
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
    -- The change of the player's coins without the ante, 0 after a reversal; and the ante.
    net bigint not null,
    ante bigint not null,
    seats smallint not null,
    reversed_at timestamptz null,
    primary key (player, finished_at, game)
        include (kind, room, ending, gross, fee, pot, taken_over, net, ante, seats, reversed_at)
) partition by range (finished_at);

-- A player's gains from players who were created within the seven days before, less the losses to them, by
-- the day (UTC) of the game's end. It reveals coins of many new accounts that flow to one player.
create table newcomer_coins (
    player uuid not null,
    day date not null,
    amount bigint not null,
    primary key (player, day)
);

create index newcomer_coins_most on newcomer_coins (day, amount desc, player);

-- The payments of a settled game from and to such new players, from which those gains are summed.
create view newcomer_payments as
    select r.game, (f.finished_at at time zone 'UTC')::date as day, v.player, v.amount
    from game_records r
    cross join lateral jsonb_array_elements(r.settlement -> 'payments') y
    join game_players f on f.game = r.game and f.seat = (y ->> 'from')::smallint
    join game_players t on t.game = r.game and t.seat = (y ->> 'to')::smallint
    cross join lateral (
        values
            (t.player, f.player, (y ->> 'paid')::bigint),
            (f.player, t.player, -((y ->> 'paid')::bigint))
    ) as v (player, newcomer, amount)
    join players m on m.id = v.newcomer
    where m.kind = 'guest' and m.created_at > f.finished_at - interval '7 days';

grant select on newcomer_payments to bahay_service;

insert into projections (name) values ('figures');

grant select, insert, update on booked_hours, operation_hours, held_by_kind, held_pots,
    settlement_days, newcomer_coins to bahay_service;
grant select, insert, update (gross, fee, reversed_at) on settlements to bahay_service;
grant select, insert, update (gross, fee, net, reversed_at) on player_settlements to bahay_service;

-- The operations that are not projected yet, which reports read from the ledger itself.
create view late_operations as
    select u.operation
    from unsealed_operations u
    union all
    select unnest(s.operations)
    from seals s
    where s.number > (select p.seal from projections p where p.name = 'figures');

grant select on late_operations to bahay_service;

-- Their transfers, with the kinds of the accounts.
create view late_transfers as
    select s.kind as source, d.kind as destination, t.amount
    from late_operations l
    join transfers t on t.operation = l.operation
    join accounts s on s.id = t.source
    join accounts d on d.id = t.destination;

grant select on late_transfers to bahay_service;
