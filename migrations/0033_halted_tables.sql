-- Tables that were stopped because going on could have done harm: for operators, who release or
-- void them. A table can be halted again after it was released.
create table halted_tables (
    id uuid primary key default gen_random_uuid(),
    table_id uuid not null,
    -- As far as they are known: a table between games has no game, and one that cannot be read
    -- may have no room.
    room text null,
    game uuid null,
    -- Of its journal, when it was halted; null when the journal could not be read.
    version bigint null,
    reason text not null,
    halted_at timestamptz not null default date_trunc('milliseconds', now()),
    released_at timestamptz null,
    outcome text null check (outcome in ('released', 'voided')),
    constraint halted_tables_end_once check ((released_at is null) = (outcome is null))
);

-- Halted once at a time, however many nodes meet the same fault.
create unique index halted_tables_now on halted_tables (table_id) where released_at is null;

grant select, insert, update (released_at, outcome) on halted_tables to bahay_service;
