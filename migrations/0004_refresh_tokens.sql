-- A refresh token is good for one use, so one that comes twice was stolen. Only its SHA-256 is
-- kept.
create table refresh_tokens (
    hash bytea primary key check (octet_length(hash) = 32),
    session uuid not null references sessions,
    issued_at timestamptz not null default now(),
    expires_at timestamptz not null,
    used_at timestamptz null
);

create index refresh_tokens_of_session on refresh_tokens (session);
