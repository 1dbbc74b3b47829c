-- Calls over REST that move coins and carry an `Idempotency-Key`, with the answers of those that
-- were done, so that a repeated call gets the same answer. A row without an answer is being worked on
-- until its lease ends; then whoever repeats the call takes it over. A refusal leaves no row. Rows are
-- removed after two days, and a caller has a bounded number of them.
create table idempotency_keys (
    -- `player:<id>` or `operator:<id>`.
    caller text not null,
    -- Method and path, with the names of the path's parameters in place of their values.
    route text not null,
    key text not null check (char_length(key) between 1 and 128),
    -- SHA-256 of method, path and body.
    input_hash bytea not null check (octet_length(input_hash) = 32),
    -- Names the call for whoever carries it out, the same for all who do.
    attempt uuid not null,
    -- Who works on it.
    lease uuid not null,
    leased_until timestamptz not null,
    created_at timestamptz not null default now(),
    status smallint null check (status between 200 and 299),
    content_type text null,
    body bytea null,
    primary key (caller, route, key),
    constraint idempotency_keys_answer_is_whole check ((status is null) = (body is null))
);

create index idempotency_keys_by_age on idempotency_keys (created_at);

grant select, insert, update, delete on idempotency_keys to bahay_service;
