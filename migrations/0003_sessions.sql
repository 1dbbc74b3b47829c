-- One signing in: a family of refresh tokens of which each replaces the one before. Revoking the
-- session ends the family.
create table sessions (
    id uuid primary key,
    player uuid not null references players,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    revoked_at timestamptz null,
    revoke_reason text null,
    user_agent text null
);

create index sessions_of_player on sessions (player);
