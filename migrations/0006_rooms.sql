-- Rooms and the house: the terms of play, and whether games may begin.

-- Rooms: stake tiers that operators create and change. The newest revision of a room is in force; every
-- revision is kept with its author and time, so that the terms of every past game are known.
create table rooms (
    id text primary key check (id ~ '^[a-z][a-z0-9-]{0,31}$'),
    -- The kind of the room's games, which never changes: see `games`.
    kind text not null check (kind ~ '^[a-z][a-z0-9_]*$' and char_length(kind) <= 32),
    -- The revision in force. Incremented by one.
    revision integer not null check (revision > 0)
);

create table room_revisions (
    room text not null references rooms deferrable initially deferred,
    revision integer not null check (revision > 0),
    name text not null check (char_length(name) between 1 and 40),
    -- True if games may begin.
    is_open boolean not null,
    -- The name of the rule set that the rules were derived from; single switches may differ.
    rule_set text not null check (rule_set ~ '^[a-z][a-z0-9_]{0,31}$'),
    -- Bet, multiplier, fee, the POT's rules, clocks and the rules of the game, as in tables and records. The
    -- program validates the content.
    terms jsonb not null,
    -- The minimum balance for sitting down, in addition to what the terms require; and the maximum balance.
    coins_min bigint not null check (coins_min >= 0),
    coins_max bigint null check (coins_max >= coins_min),
    -- True if the room is closed to guests, who are known by a device alone.
    needs_account boolean not null default false,
    -- Null for the rooms that the program creates at its first start.
    changed_by uuid null references operators,
    changed_at timestamptz not null default date_trunc('milliseconds', now()),
    primary key (room, revision)
);

alter table rooms add constraint rooms_have_a_revision
    foreign key (id, revision) references room_revisions (room, revision)
    deferrable initially deferred;

grant select, insert, update (revision) on rooms to bahay_service;
grant select, insert on room_revisions to bahay_service;

-- The state of the house, in one row: games may begin only if it is open, in addition to each room's setting. Closing the house changes no
-- room, so opening it restores the former state.
create table house (
    one boolean primary key default true check (one),
    is_open boolean not null,
    -- Incremented with every change. The terms sent to tables are numbered by the sum of the room's revision
    -- and this one, which rises with either change.
    revision integer not null check (revision >= 0),
    -- The reason of the closing, for people.
    reason text null check (char_length(reason) between 10 and 500),
    changed_by uuid null references operators,
    changed_at timestamptz not null default date_trunc('milliseconds', now()),
    constraint house_closed_for_a_reason check (is_open = (reason is null))
);

insert into house (is_open, revision) values (true, 0);

grant select, update (is_open, revision, reason, changed_by, changed_at) on house
    to bahay_service;
