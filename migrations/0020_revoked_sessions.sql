-- Each node asks twice a second which sessions have ended lately, so that their access tokens
-- stop working everywhere before they expire.
create index sessions_revoked on sessions (revoked_at) where revoked_at is not null;
