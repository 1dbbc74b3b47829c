-- REST requests that move coins and carry an `Idempotency-Key`, with the responses of the completed ones, so
-- that a repeated request gets the same response. A row without a response is being processed until its lease
-- expires; then a repeated request takes it over. A refused request leaves no row. Rows are deleted after two
-- days, and a caller has a bounded number of them.
create table idempotency_keys (
    -- `player:<id>` or `operator:<id>`.
    caller text not null,
    -- Method and path, with the names of the path's parameters in place of their values.
    route text not null,
    key text not null check (char_length(key) between 1 and 128),
    -- SHA-256 of method, path and body.
    input_hash bytea not null check (octet_length(input_hash) = 32),
    -- The id of the operation, the same for every attempt to process it.
    attempt uuid not null,
    -- The id of the lease's holder.
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
