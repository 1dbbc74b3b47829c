-- A player's claimed daily rewards and reliefs; the first claim inserts the row. Claims of one player lock
-- it, so they are serialized. The dates are of the player's calendar. The coins themselves are in the ledger,
-- under the keys `daily:<player>:<date>` and `relief:<player>:<date>:<number>`.
create table rewards (
    player uuid primary key references players,
    -- The newest claim of the daily reward, its day of the streak, and the call that made it, so that a
    -- retried call is recognized.
    daily_date date null,
    streak smallint not null default 0 check (streak between 0 and 7),
    daily_attempt uuid null,
    -- The day of the newest relief, the number granted on it, and the call that made the newest.
    relief_date date null,
    relief_count smallint not null default 0 check (relief_count >= 0),
    relief_attempt uuid null,
    constraint rewards_streak_has_a_day check ((daily_date is null) = (streak = 0)),
    constraint rewards_relief_has_a_day check ((relief_date is null) = (relief_count = 0))
);

grant select, insert, update on rewards to bahay_service;

-- The number of grants to a network on a day of UTC: an IPv4 address, or the first 48 bits of an IPv6
-- address; or, by its digest, to a linked identity. The row is updated in the transaction of the grant. Rows
-- of past days are deleted.
create table grant_counts (
    code text not null check (code in ('welcome', 'relief')),
    taker text not null,
    day date not null,
    granted bigint not null check (granted > 0),
    primary key (code, taker, day)
);

create index grant_counts_by_day on grant_counts (day);

grant select, insert, update (granted), delete on grant_counts to bahay_service;
