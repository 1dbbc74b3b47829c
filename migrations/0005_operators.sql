-- Operators: the people who run the house, their sign-ins, the audit of their acts, and the requests that a
-- second operator decides.

-- People who run the house. An operator may have one API token for programs, which the operator creates; only
-- the token's SHA-256 is stored. An operator is disabled and never deleted, because corrections name the
-- operators who requested and decided them. A name never changes. A token expires; a reset of the sign-in and a
-- change of the role revoke it.
create table operators (
    id uuid primary key,
    name text not null unique check (name ~ '^[a-z][a-z0-9.-]{0,31}$'),
    role text not null check (role in ('viewer', 'support', 'finance', 'admin')),
    token_hash bytea null unique check (octet_length(token_hash) = 32),
    token_expires_at timestamptz null,
    created_at timestamptz not null default now(),
    disabled_at timestamptz null,
    constraint operators_tokens_expire check ((token_hash is null) = (token_expires_at is null))
);

grant select, insert, update (role, token_hash, token_expires_at, disabled_at) on operators to bahay_service;

alter table sanctions
    add foreign key (imposed_by) references operators,
    add foreign key (lifted_by) references operators;

-- The sign-in of operators in browsers: a password with a second factor, and sessions by cookie.
create table operator_credentials (
    operator uuid primary key references operators,
    -- Argon2id in the PHC string format, as for players.
    password_hash text not null,
    -- The secret shared with the operator's authenticator (RFC 6238), which cannot be stored as a hash. It is
    -- sealed (ChaCha20-Poly1305) with a key that the database does not have, which adds 37 bytes; it is plain
    -- if the service has no such key.
    totp_secret bytea not null check (octet_length(totp_secret) in (20, 57)),
    -- The time step of the last accepted code, so that no code is accepted twice.
    totp_step bigint not null,
    set_at timestamptz not null
);

-- An enrolment lets an operator set a password and a second factor, with a code that is shown once.
create table operator_enrolments (
    operator uuid primary key references operators,
    -- The SHA-256 of the code.
    code_hash bytea not null unique check (octet_length(code_hash) = 32),
    -- The second factor to be set, stored as above. Each opening of the enrolment page draws a new one, and
    -- only the browser of that opening may complete the enrolment.
    totp_secret bytea null check (octet_length(totp_secret) in (20, 57)),
    -- The SHA-256 of the token in that browser's cookie.
    browser_hash bytea null check (octet_length(browser_hash) = 32),
    -- The number of openings of the enrolment page.
    openings integer not null default 0,
    expires_at timestamptz not null,
    constraint operator_enrolments_opened check ((totp_secret is null) = (browser_hash is null))
);

-- Every issued enrolment code with its issuer, who has seen the code and could have used it. Issuer and
-- operator count as one person until some time after the end of the code. Never deleted.
create table operator_issuances (
    id uuid primary key,
    operator uuid not null references operators,
    -- Null for the command line, which has all rights.
    issued_by uuid null references operators,
    issued_at timestamptz not null,
    -- The expiry of an unused code.
    expires_at timestamptz not null,
    -- Set when the code is used, replaced or revoked.
    ended_at timestamptz null
);

create index operator_issuances_of_operator on operator_issuances (operator, issued_at);

create table operator_sessions (
    id uuid primary key,
    operator uuid not null references operators,
    -- The SHA-256 of the cookie's token.
    token_hash bytea not null unique check (octet_length(token_hash) = 32),
    opened_at timestamptz not null,
    last_seen_at timestamptz not null,
    ended_at timestamptz null,
    -- The address as rate limits use it.
    address text null
);

create index operator_sessions_open on operator_sessions (operator) where ended_at is null;

-- Browsers in which an operator has signed in. Failed sign-ins of such a browser are counted separately from
-- those of its address. A browser is identified by a cookie, which several operators may share.
create table operator_browsers (
    -- The SHA-256 of the token in the cookie.
    token_hash bytea not null check (octet_length(token_hash) = 32),
    operator uuid not null references operators,
    signed_in_at timestamptz not null,
    primary key (token_hash, operator)
);

grant select, insert, update, delete on operator_credentials, operator_enrolments
    to bahay_service;
grant select, insert, update (last_seen_at, ended_at), delete on operator_sessions
    to bahay_service;
grant select, insert, update (signed_in_at), delete on operator_browsers to bahay_service;
grant select, insert, update (ended_at) on operator_issuances to bahay_service;

-- The audit of operators: their acts over every channel. An entry is written in the transaction of the
-- change, and never updated or deleted.
create table audit_entries (
    -- Of version 7, and so ordered by time.
    id uuid primary key,
    at timestamptz not null default date_trunc('milliseconds', now()),
    -- Null for the command line, and for a sign-in under an unknown name.
    operator uuid null references operators,
    action text not null check (action ~ '^[a-z]+(_[a-z]+)*$'),
    -- The object of the act, as in `room:newbie`.
    subject text null check (char_length(subject) between 1 and 200),
    detail jsonb not null default '{}',
    -- A session at the desk, a session over the API, an API token, the command line, or a schedule of
    -- tournaments.
    channel text not null check (channel in ('desk', 'api', 'token', 'command', 'schedule')),
    -- The address as rate limits use it.
    address text null
);

create index audit_entries_of_operator on audit_entries (operator, id);
create index audit_entries_of_action on audit_entries (action, id);
create index audit_entries_of_subject on audit_entries (subject, id);

grant select, insert on audit_entries to bahay_service;

-- Notes by operators about a player, for operators. They are never changed, and deleted with the account.
create table player_notes (
    id uuid primary key,
    player uuid not null references players,
    written_by uuid not null references operators,
    words text not null check (char_length(words) between 1 and 2000),
    -- The id of the call that inserted the row, so that a retried call inserts no second one.
    attempt uuid not null unique,
    created_at timestamptz not null default date_trunc('milliseconds', now())
);

create index player_notes_of_player on player_notes (player, created_at, id);

grant select, insert, delete on player_notes to bahay_service;

-- Corrections of the books, as requests: one operator requests and another decides, unless the requester
-- withdraws. An approved correction names the operation that booked it, in the transaction of the approval.
create table corrections (
    id uuid primary key,
    -- The id of the call that inserted the row, so that a retried call inserts no second one.
    attempt uuid not null unique,
    kind text not null check (kind in ('adjustment', 'reversal', 'pass', 'pass_revocation')),
    state text not null default 'open'
        check (state in ('open', 'approved', 'rejected', 'withdrawn')),
    -- For an adjustment: the player of the wallet and the added amount; negative takes coins. For a pass: its
    -- player, and the largest buy-in that it pays.
    player uuid null references players,
    amount bigint null check (amount <> 0),
    -- For a reversal: the reversed operation.
    reversed_operation bigint null references operations,
    -- For the revocation of a pass: the correction that granted it.
    revoked_pass uuid null references corrections,
    reason text not null check (char_length(reason) between 10 and 500),
    requested_by uuid not null references operators,
    requested_at timestamptz not null,
    decided_by uuid null references operators,
    -- The time of the decision or of the withdrawal.
    decided_at timestamptz null,
    rejection_reason text null check (char_length(rejection_reason) between 10 and 500),
    -- The operation that booked it.
    operation bigint null unique references operations,
    constraint corrections_need_two check (decided_by <> requested_by),
    constraint corrections_of_a_kind check (
        (kind in ('adjustment', 'pass')) = (player is not null and amount is not null)
        and (kind = 'reversal') = (reversed_operation is not null)
        and (kind = 'pass_revocation') = (revoked_pass is not null)
        and (player is null) = (amount is null)
        and (kind <> 'pass' or amount > 0)
    ),
    constraint corrections_decided_once check (
        (state in ('open', 'withdrawn')) = (decided_by is null)
        and (state = 'open') = (decided_at is null)
        and (state = 'approved' and kind in ('adjustment', 'reversal')) = (operation is not null)
        and (state = 'rejected') = (rejection_reason is not null)
    )
);

-- An operation is reversed once, and has one open request at a time.
create unique index corrections_reverse_once on corrections (reversed_operation)
    where state in ('open', 'approved');

-- The same for the revocation of a pass.
create unique index corrections_revoke_once on corrections (revoked_pass)
    where state in ('open', 'approved');

-- A player has one open request for an amount at a time, so that a loss is not compensated twice.
create unique index corrections_adjust_once on corrections (player, amount, kind)
    where state = 'open';

-- The recent requests by operator and by player: both have a daily limit.
create index corrections_of_requester on corrections (requested_by, requested_at)
    where kind in ('adjustment', 'pass');
create index corrections_of_player on corrections (player, requested_at)
    where kind in ('adjustment', 'pass');

-- The open requests.
create index corrections_open on corrections (id) where state = 'open';

grant select, insert, update (state, decided_by, decided_at, rejection_reason, operation)
    on corrections to bahay_service;
