-- Operators in browsers: a password with a second factor, and sessions by cookie. Who has neither
-- yet, or lost them, is given an enrolment: a code, told once, with which to set both.
create table operator_credentials (
    operator uuid primary key references operators,
    -- Argon2id in the PHC string format, as for players.
    password_hash text not null,
    -- Shared with the operator's authenticator (RFC 6238). It cannot be kept as a hash.
    totp_secret bytea not null check (octet_length(totp_secret) = 20),
    -- The time step of the last code that was taken, so that no code is taken twice.
    totp_step bigint not null,
    set_at timestamptz not null
);

create table operator_enrolments (
    operator uuid primary key references operators,
    -- The SHA-256 of the code.
    code_hash bytea not null unique check (octet_length(code_hash) = 32),
    -- Of the second factor that is going to be set.
    totp_secret bytea not null check (octet_length(totp_secret) = 20),
    expires_at timestamptz not null
);

create table operator_sessions (
    id uuid primary key,
    operator uuid not null references operators,
    -- The SHA-256 of what the cookie holds.
    token_hash bytea not null unique check (octet_length(token_hash) = 32),
    opened_at timestamptz not null,
    last_seen_at timestamptz not null,
    ended_at timestamptz null,
    -- The address, as far as limits go.
    address text null
);

create index operator_sessions_open on operator_sessions (operator) where ended_at is null;

grant select, insert, update, delete on operator_credentials, operator_enrolments
    to bahay_service;
grant select, insert, update (last_seen_at, ended_at) on operator_sessions to bahay_service;

-- From now on administrators make and disable operators at the desk; before, only the login that
-- owns the schema could. A name and a role stay as they were made.
grant insert, update (token_hash, disabled_at) on operators to bahay_service;
