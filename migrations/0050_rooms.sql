-- Rooms: stake tiers, as operators make and change them. A room is what its newest revision says;
-- every revision stays, with who made it and when, so that it is known for ever by which terms a
-- game was played.
create table rooms (
    id text primary key check (id ~ '^[a-z][a-z0-9-]{0,31}$'),
    -- The one that is in force. Counts up by one.
    revision integer not null check (revision > 0)
);

create table room_revisions (
    room text not null references rooms deferrable initially deferred,
    revision integer not null check (revision > 0),
    name text not null check (char_length(name) between 1 and 40),
    -- Whether games may begin.
    is_open boolean not null,
    -- Bet, multiplier, fee, the POT's rules, clocks and rule set, as tables and records have them.
    terms jsonb not null,
    -- What a wallet must hold to sit down, beside what the terms ask for; and the most that it may.
    coins_min bigint not null check (coins_min >= 0),
    coins_max bigint null check (coins_max >= coins_min),
    -- Null for what the program brought along at its first start.
    changed_by uuid null references operators,
    changed_at timestamptz not null default date_trunc('milliseconds', now()),
    primary key (room, revision)
);

alter table rooms add constraint rooms_have_a_revision
    foreign key (id, revision) references room_revisions (room, revision)
    deferrable initially deferred;

grant select, insert, update (revision) on rooms to bahay_service;
grant select, insert on room_revisions to bahay_service;
