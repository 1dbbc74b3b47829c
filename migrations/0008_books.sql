-- Two functions that read and write the books, so that a connection plans their parts once. As one statement
-- of twenty parts the write was planned anew for nearly every settlement, which cost twice its execution; and
-- all its parts were set up for each call, needed or not.
--
-- The functions decide nothing: the service computes amounts, versions and balances, and constraints reject
-- impossible ones. Both run with the rights of the caller.
--
-- Every row is found by a key, whatever the statistics say: in a new database they describe empty tables,
-- which would be read sequentially.

-- Returns accounts, keys and games as of one snapshot, as one row of arrays: a row for each account cost more
-- to build, send and parse than to find.
--
-- Accounts and keys are in the order of the arguments, with nulls for missing ones. Seats are those of all
-- games, by game and seat.
create function books_of(
    account_codes text[],
    operation_keys text[],
    asked_games uuid[],
    asked_tables uuid[]
)
returns table (
    account_ids bigint[], balances bigint[], versions bigint[],
    input_hashes bytea[], answers jsonb[],
    game_ids uuid[], table_ids uuid[], rooms text[], states text[], antes bigint[],
    seat_games uuid[], seat_players uuid[], seat_stakes bigint[]
)
language plpgsql
stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
    known bigint[] := (
        select array_agg(n.operation order by k.place)
        from unnest(operation_keys) with ordinality as k (key, place)
        left join operation_keys n on n.key = k.key
    );
    known_hashes bytea[] := array_fill(null::bytea, array[cardinality(operation_keys)]);
    known_answers jsonb[] := array_fill(null::jsonb, array[cardinality(operation_keys)]);
begin
    -- Nearly always all keys are new, and no month is read.
    if num_nonnulls(variadic known) > 0 then
        select array_agg(o.input_hash order by k.place), array_agg(o.answer order by k.place)
        into known_hashes, known_answers
        from unnest(known) with ordinality as k (id, place)
        left join operations o on o.id = k.id;
    end if;
    return query
    with found as materialized (
        select g.id, g.table_id, g.room, g.state, g.ante
        from games g
        where g.id = any(asked_games)
        union all
        select g.id, g.table_id, g.room, g.state, g.ante
        from games g
        where g.table_id = any(asked_tables) and g.state = 'open' and g.id <> all(asked_games)
    )
    select a.ids, a.balances, a.versions, known_hashes, known_answers, g.ids, g.table_ids, g.rooms,
        g.states, g.antes, s.games, s.players, s.stakes
    from (
        select array_agg(r.id) as ids, array_agg(r.balance) as balances,
            array_agg(r.version) as versions
        from (
            select a.id, a.balance, a.version
            from unnest(account_codes) with ordinality as k (code, place)
            left join accounts a on a.code = k.code
            order by k.place
        ) r
    ) a
    cross join (
        select array_agg(f.id) as ids, array_agg(f.table_id) as table_ids,
            array_agg(f.room) as rooms, array_agg(f.state) as states, array_agg(f.ante) as antes
        from found f
    ) g
    cross join (
        select array_agg(r.game) as games, array_agg(r.player) as players,
            array_agg(r.stake) as stakes
        from (
            select p.game, p.player, p.stake
            from found f
            join game_players p on p.game = f.id
            order by p.game, p.seat
        ) r
    ) s;
end
$$;

-- The rows that a batch writes, as `write_books` receives them: one array for each of these types.
--
-- Until it is written an operation is identified by its index in the batch, below 64. New accounts have their
-- ids: a process takes a block of 1,024 ids at a time from the sequence.

-- An operation with all that it changes beside accounts: its transfers; the end of a game with its documents,
-- or its opening. `listed` are the accounts whose `account_operations` name it.
create type booked_operation as (
    place bigint, key text, kind text, input_hash bytea, answer jsonb, game uuid,
    codes text[], sources bigint[], destinations bigint[], amounts bigint[],
    accounts bigint[], versions bigint[], balances bigint[], listed bigint[],
    end_state text, finished_at timestamptz, void_reason text, settlement jsonb, record text,
    game_kind text, table_id uuid, room text, ante bigint, commitment bytea, opened_at timestamptz
);

-- A seat of a game that begins, or of one that ends, which has a net result.
create type booked_seat as (
    game uuid, player uuid, seat smallint, stake bigint, net bigint, finished_at timestamptz
);

create type booked_account as (
    id bigint, code text, kind text, player uuid, balance bigint, version bigint
);

-- An account as it was read, with its balance and version after the batch.
create type changed_account as (
    id bigint, version_read bigint, balance_read bigint, balance bigint, version bigint
);

-- Writes the decided operations against the books as they were read, all or nothing. The order is the global
-- lock order: the games that end, which are locked by writing their ends; new accounts; the accounts that
-- were read; and then operations in the order of their keys. An id is taken only then, so that ids ascend
-- along each account. If the books have changed since they were read, the function fails with the error
-- BH001, which rolls everything back. One id of operations is taken, and the index is added to it.
--
-- Arrays are expanded to rows in the select list and not in `from`. There PostgreSQL would first materialize
-- each array, and then join them row by row: a tenth of all the instructions of reading and writing the
-- books. `from` remains where a loop reads the same rows repeatedly and needs them materialized.
create function write_books(
    operations booked_operation[],
    seats booked_seat[],
    new_accounts booked_account[],
    changed_accounts changed_account[]
)
returns void
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
    first_operation bigint;
    ended bigint;
    settled bigint;
    opened bigint;
    written bigint;
begin
    select count((o.row).end_state), count((o.row).record), count((o.row).game_kind)
    into ended, settled, opened
    from (select unnest(operations) as row) o;

    -- Ends come first, since a table may end one game and begin another. They are in the order of ids, which
    -- is the lock order of games.
    if ended > 0 then
        update games g
        set state = e.state,
            finished_at = coalesce(e.finished_at, date_trunc('milliseconds', now())),
            void_reason = e.reason
        from (
            select (o.row).game, (o.row).end_state as state, (o.row).finished_at,
                (o.row).void_reason as reason
            from (select unnest(operations) as row) o
            where (o.row).end_state is not null
            order by 1
        ) e
        where g.id = e.game and g.finished_at is null;
        get diagnostics written = row_count;
        if written <> ended then
            raise exception 'a game is no longer open' using errcode = 'BH001';
        end if;
    end if;

    if cardinality(new_accounts) > 0 then
        insert into accounts (id, code, kind, player, balance, version)
        overriding system value
        select (n.row).id, (n.row).code, (n.row).kind, (n.row).player,
            (n.row).balance, (n.row).version
        from (select unnest(new_accounts) as row) n
        order by (n.row).code;
    end if;

    -- An account without an entry is rewritten unchanged, which locks it and compares it like all others. The
    -- service may have read it long ago: the balance differs from that of the same version if the database was
    -- restored to an earlier time meanwhile. The array is in the order of ids and a loop over it is the only
    -- possible plan, so rows are locked in that order, which is the lock order of accounts.
    update accounts a
    set balance = c.balance, version = c.version
    from (
        select (c.row).id, (c.row).version_read, (c.row).balance_read, (c.row).balance,
            (c.row).version
        from (select unnest(changed_accounts) as row) c
    ) c
    where a.id = c.id and a.version = c.version_read and a.balance = c.balance_read;
    get diagnostics written = row_count;
    if written <> cardinality(changed_accounts) then
        raise exception 'an account is not as it was read' using errcode = 'BH001';
    end if;

    -- A deletion of an account holds its wallet's lock until the end, so it is visible by now.
    if opened > 0 and exists (
        select
        from (select unnest(seats) as row) s
        join players p on p.id = (s.row).player
        where (s.row).net is null and p.deleted_at is not null
    ) then
        raise exception 'a player has deleted its account' using errcode = 'BH001';
    end if;

    first_operation := nextval('operation_ids');
    if first_operation < first_operation_of(now()) then
        first_operation := begin_month_of_operations();
    end if;
    insert into operation_keys (key, operation)
    select (o.row).key, first_operation + (o.row).place
    from (select unnest(operations) as row) o;
    insert into operations (
        id, key, kind, input_hash, answer, game,
        codes, sources, destinations, amounts, accounts, versions, balances
    )
    select first_operation + (o.row).place, (o.row).key, (o.row).kind, (o.row).input_hash,
        (o.row).answer, (o.row).game, (o.row).codes, (o.row).sources, (o.row).destinations,
        (o.row).amounts, (o.row).accounts, (o.row).versions, (o.row).balances
    from (select unnest(operations) as row) o;
    insert into unsealed_operations (operation)
    select first_operation + (o.row).place
    from (select unnest(operations) as row) o;
    insert into account_operations (account, operation)
    select unnest((o.row).listed), first_operation + (o.row).place
    from (select unnest(operations) as row) o;

    if ended > 0 then
        update game_players p
        set net = s.net,
            finished_at = coalesce(s.finished_at, date_trunc('milliseconds', now()))
        from (
            select (s.row).game, (s.row).player, (s.row).net, (s.row).finished_at
            from (select unnest(seats) as row) s
            where (s.row).net is not null
        ) s
        where p.game = s.game and p.player = s.player;
        get diagnostics written = row_count;
        if written <> (
            select count((s.row).net) from (select unnest(seats) as row) s
        ) then
            raise exception 'a seat was not found again' using errcode = 'BH002';
        end if;

        -- The void of a game writes one notice to each of its players.
        if ended > settled then
            insert into notices (player, kind, game, amount)
            select p.player, 'game_voided', g.id, g.ante + p.stake
            from (select unnest(operations) as row) o
            join games g on g.id = (o.row).game
            join game_players p on p.game = g.id
            where (o.row).end_state = 'voided';
        end if;
    end if;

    if settled > 0 then
        insert into game_records (game, settlement, record)
        select (o.row).game, (o.row).settlement, (o.row).record
        from (select unnest(operations) as row) o
        where (o.row).record is not null;
    end if;

    if opened > 0 then
        insert into games (id, kind, table_id, room, ante, commitment, opened_at)
        select (o.row).game, (o.row).game_kind, (o.row).table_id, (o.row).room, (o.row).ante,
            (o.row).commitment, (o.row).opened_at
        from (select unnest(operations) as row) o
        where (o.row).game_kind is not null;
        insert into game_players (game, player, seat, stake)
        select (s.row).game, (s.row).player, (s.row).seat, (s.row).stake
        from (select unnest(seats) as row) s
        where (s.row).net is null;
    end if;
end
$$;
