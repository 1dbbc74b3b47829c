-- Rooms and the house: where games may be played, by which terms, and whether any may begin.

-- Rooms: stake tiers, as operators make and change them. A room is what its newest revision says;
-- every revision stays, with who made it and when, so that it is known for ever by which terms a
-- game was played.
create table rooms (
    id text primary key check (id ~ '^[a-z][a-z0-9-]{0,31}$'),
    -- Which game is played there, always the same: see `games`.
    kind text not null check (kind ~ '^[a-z][a-z0-9_]*$' and char_length(kind) <= 32),
    -- The one that is in force. Counts up by one.
    revision integer not null check (revision > 0)
);

create table room_revisions (
    room text not null references rooms deferrable initially deferred,
    revision integer not null check (revision > 0),
    name text not null check (char_length(name) between 1 and 40),
    -- Whether games may begin.
    is_open boolean not null,
    -- The rule set that the rules began as, by its name; single switches may be set otherwise.
    rule_set text not null check (rule_set ~ '^[a-z][a-z0-9_]{0,31}$'),
    -- Bet, multiplier, fee, the POT's rules, clocks and the rules of the game, as tables and records
    -- have them. What is in it is the program's to check.
    terms jsonb not null,
    -- What a wallet must hold to sit down, beside what the terms ask for; and the most that it may.
    coins_min bigint not null check (coins_min >= 0),
    coins_max bigint null check (coins_max >= coins_min),
    -- Whether it is closed to guests, who are known by a device alone.
    needs_account boolean not null default false,
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

-- Whether games may begin at all, beside what each room says: one row. Closing the house closes
-- nothing else, so that opening it leaves every room as it was.
create table house (
    one boolean primary key default true check (one),
    is_open boolean not null,
    -- Counts up with every change. What a room says to its tables is numbered by the sum of its
    -- own revision and this, which rises whichever of the two changes.
    revision integer not null check (revision >= 0),
    -- Why it is closed, for people to read.
    reason text null check (char_length(reason) between 10 and 500),
    changed_by uuid null references operators,
    changed_at timestamptz not null default date_trunc('milliseconds', now()),
    constraint house_closed_for_a_reason check (is_open = (reason is null))
);

insert into house (is_open, revision) values (true, 0);

grant select, update (is_open, revision, reason, changed_by, changed_at) on house
    to bahay_service;
