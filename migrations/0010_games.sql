-- Games as far as coins are concerned, from the opening on. Cards are in `game_records`.
create table games (
    id uuid primary key,
    table_id uuid not null,
    room text not null,
    state text not null default 'open' check (state in ('open', 'settled', 'voided')),
    -- What each seat paid into the POT.
    ante bigint not null check (ante >= 0),
    opened_at timestamptz not null,
    finished_at timestamptz null,
    void_reason text null,
    constraint games_finish_once check ((state = 'open') = (finished_at is null)),
    constraint games_voided_for_a_reason check ((state = 'voided') = (void_reason is not null))
);

-- A table plays one game at a time.
create unique index games_open_at_table on games (table_id) where state = 'open';
