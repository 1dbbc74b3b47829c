-- People who run the house, each with a token of its own. Only the token's SHA-256 is kept. An
-- operator is disabled and never removed, because corrections name who asked and who decided.
--
-- The service reads this table and cannot change it: operators are made by `bahay operator`, with
-- the login that owns the schema.
create table operators (
    id uuid primary key,
    name text not null unique check (name ~ '^[a-z][a-z0-9.-]{0,31}$'),
    role text not null check (role in ('viewer', 'support', 'finance', 'admin')),
    token_hash bytea not null unique check (octet_length(token_hash) = 32),
    created_at timestamptz not null default now(),
    disabled_at timestamptz null
);

grant select on operators to bahay_service;
