-- The documents of settled games: the record holds all that is needed to verify a game, the
-- settlement is what the ledger booked for it. Written once.
create table game_records (
    game uuid primary key references games,
    settlement jsonb not null,
    record jsonb not null
);
