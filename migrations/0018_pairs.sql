-- Pairs of players: the games that they played together and the coins between them, for the ranking of pairs by
-- signs of collusion; and the operators' reviews of pairs. A projection of the seals of the ledger, some seconds
-- late, like the figures of reports. Amounts are in hundredths of a coin. `first` is the smaller id of a pair.

-- The games of a pair by the day of their end, in the house's time zone. Pairs with a house bot have no row.
create table pair_days (
    day date not null,
    first uuid not null,
    second uuid not null,
    games bigint not null check (games > 0),
    -- The payments of the first to the second, and those of the second to the first; 0 after a reversal.
    paid bigint not null check (paid >= 0),
    received bigint not null check (received >= 0),
    -- The games in which the first paid the second more than it received, and those in which it received more.
    games_paid bigint not null check (games_paid >= 0),
    games_received bigint not null check (games_received >= 0),
    -- The sum of the squares of the net payments, one a game: the variance of their sum if each game could as
    -- well have gone the other way. A product of two amounts may exceed 64 bits.
    squares numeric not null check (squares >= 0),
    primary key (day, first, second),
    constraint pair_days_in_order check (first < second)
);

-- The settled games of a player, or of a house bot, by the same days. The numbers of new and returning players of
-- a period are counted from these rows alone.
create table player_days (
    day date not null,
    player uuid not null,
    games bigint not null check (games > 0),
    -- The end of the first of them.
    first_at timestamptz not null,
    -- The day on which the account was created.
    created_on date not null,
    is_bot boolean not null,
    -- Whether a game of an earlier day was settled.
    played_before boolean not null,
    primary key (day, player)
);

-- The payments between each two players of a settled game, without those of house bots.
create view pair_payments as
    select a.game, a.finished_at, a.player as first, b.player as second, v.paid, v.received
    from game_players a
    join game_players b on b.game = a.game and a.player < b.player
    join game_records r on r.game = a.game
    -- Both sums come from one aggregate, which PostgreSQL evaluates once for each pair. As expressions they
    -- would be evaluated for each use of a column.
    cross join lateral (
        select
            coalesce(
                sum((y ->> 'paid')::bigint) filter (
                    where (y ->> 'from')::smallint = a.seat and (y ->> 'to')::smallint = b.seat
                ),
                0
            )::bigint as paid,
            coalesce(
                sum((y ->> 'paid')::bigint) filter (
                    where (y ->> 'from')::smallint = b.seat and (y ->> 'to')::smallint = a.seat
                ),
                0
            )::bigint as received
        from jsonb_array_elements(r.settlement -> 'payments') y
    ) v
    where not exists (
        select from players h where h.id in (a.player, b.player) and h.kind = 'bot'
    );

insert into projections (name) values ('pairs');

-- The newest review of a pair by an operator. The audit has the earlier ones. A reviewed pair is not listed again
-- until new games raise its score. Deleted with an account of the pair.
create table pair_reviews (
    first uuid not null references players,
    second uuid not null references players,
    -- The score of the pair at the review.
    score bigint not null check (score >= 0),
    reason text not null check (char_length(reason) between 10 and 500),
    reviewed_by uuid not null references operators,
    reviewed_at timestamptz not null default date_trunc('milliseconds', now()),
    primary key (first, second),
    constraint pair_reviews_in_order check (first < second)
);

create index pair_reviews_of_second on pair_reviews (second);

-- A change of the house's time zone rebuilds the projection.
grant select, insert, update, delete on pair_days, player_days to bahay_service;
grant select, insert, update (score, reason, reviewed_by, reviewed_at), delete on pair_reviews to bahay_service;
grant select on pair_payments to bahay_service;
