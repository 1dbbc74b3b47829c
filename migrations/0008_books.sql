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

-- Writes the decided operations against the books as they were read, all or nothing. The order is the global
-- lock order: the games that end, which are locked by writing their ends; new accounts; the accounts that
-- were read; and then operations in the order of their keys. An id is taken only then, so that ids ascend
-- along each account. If the books have changed since they were read, the function fails with the error
-- BH001, which rolls everything back.
--
-- An operation is identified by its index in the batch, below 64, and a new account by a negative number, -1
-- less its index among the new ones, below 1,024. One id of each sequence is taken, and the index is added to
-- it.
--
-- Arrays are expanded to rows in the select list and not in `from`. There PostgreSQL would first materialize
-- each array, and then join them row by row: a tenth of all the instructions of reading and writing the
-- books. `from` remains where a loop reads the same rows repeatedly and needs them materialized.
create function write_books(
    ended_games uuid[], ended_states text[], ended_times timestamptz[], ended_reasons text[],
    ended_seat_games uuid[], ended_seat_players uuid[], ended_seat_nets bigint[],
    made_places bigint[], made_codes text[], made_kinds text[], made_players uuid[],
    made_balances bigint[], made_versions bigint[],
    read_ids bigint[], read_versions bigint[], read_balances_after bigint[],
    read_versions_after bigint[],
    operation_places bigint[], operation_keys text[], operation_kinds text[],
    operation_hashes bytea[], operation_answers jsonb[], operation_games uuid[],
    transfer_places bigint[], transfer_numbers smallint[], transfer_codes text[],
    transfer_sources bigint[], transfer_destinations bigint[], transfer_amounts bigint[],
    entry_accounts bigint[], entry_versions bigint[], entry_places bigint[],
    entry_numbers smallint[], entry_amounts bigint[], entry_befores bigint[],
    entry_afters bigint[],
    record_games uuid[], record_settlements jsonb[], record_texts text[],
    opened_games uuid[], opened_kinds text[], opened_tables uuid[], opened_rooms text[],
    opened_antes bigint[], opened_commitments bytea[], opened_times timestamptz[],
    opened_seat_games uuid[], opened_seat_players uuid[], opened_seat_numbers smallint[],
    opened_seat_stakes bigint[]
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
    first_account bigint := 0;
    first_operation bigint;
    written bigint;
begin
    -- Ends come first, since a table may end one game and begin another. They are in the order of ids, which
    -- is the lock order of games.
    if cardinality(ended_games) > 0 then
        update games g
        set state = f.state,
            finished_at = coalesce(f.finished_at, date_trunc('milliseconds', now())),
            void_reason = f.reason
        from (
            select e.id, e.state, e.finished_at, e.reason
            from (
                select unnest(ended_games) as id, unnest(ended_states) as state,
                    unnest(ended_times) as finished_at, unnest(ended_reasons) as reason
            ) e
            order by e.id
        ) f
        where g.id = f.id and g.finished_at is null;
        get diagnostics written = row_count;
        if written <> cardinality(ended_games) then
            raise exception 'a game is no longer open' using errcode = 'BH001';
        end if;
    end if;

    if cardinality(made_places) > 0 then
        first_account := nextval('accounts_id_seq');
        insert into accounts (id, code, kind, player, balance, version)
        overriding system value
        select first_account + n.place, n.code, n.kind, n.player, n.balance, n.version
        from (
            select unnest(made_places) as place, unnest(made_codes) as code,
                unnest(made_kinds) as kind, unnest(made_players) as player,
                unnest(made_balances) as balance, unnest(made_versions) as version
        ) n
        order by n.code;
    end if;

    -- An account without an entry is rewritten unchanged, which locks it and compares its version like all
    -- others. The arrays are in the order of ids and a loop over them is the only possible plan, so rows are
    -- locked in that order, which is the lock order of accounts.
    update accounts a
    set balance = r.balance, version = r.version
    from (
        select unnest(read_ids) as id, unnest(read_versions) as version_read,
            unnest(read_balances_after) as balance, unnest(read_versions_after) as version
    ) r
    where a.id = r.id and a.version = r.version_read;
    get diagnostics written = row_count;
    if written <> cardinality(read_ids) then
        raise exception 'an account is not as it was read' using errcode = 'BH001';
    end if;

    -- A deletion of an account holds its wallet's lock until the end, so it is visible by now.
    if cardinality(opened_seat_players) > 0 and exists (
        select from players p where p.id = any(opened_seat_players) and p.deleted_at is not null
    ) then
        raise exception 'a player has deleted its account' using errcode = 'BH001';
    end if;

    first_operation := nextval('operation_ids');
    if first_operation < first_operation_of(now()) then
        first_operation := begin_month_of_operations();
    end if;
    insert into operation_keys (key, operation)
    select o.key, first_operation + o.place
    from (select unnest(operation_keys) as key, unnest(operation_places) as place) o;
    insert into operations (id, key, kind, input_hash, answer, game)
    select first_operation + o.place, o.key, o.kind, o.input_hash, o.answer, o.game
    from (
        select unnest(operation_places) as place, unnest(operation_keys) as key,
            unnest(operation_kinds) as kind, unnest(operation_hashes) as input_hash,
            unnest(operation_answers) as answer, unnest(operation_games) as game
    ) o;
    insert into pending_house_entries (operation)
    select first_operation + u.place from unnest(operation_places) as u (place);

    if cardinality(transfer_places) > 0 then
        insert into transfers (operation, number, code, source, destination, amount)
        select first_operation + t.place, t.number, t.code,
            case when t.source < 0 then first_account - t.source - 1 else t.source end,
            case when t.destination < 0 then first_account - t.destination - 1
                else t.destination end,
            t.amount
        from (
            select unnest(transfer_places) as place, unnest(transfer_numbers) as number,
                unnest(transfer_codes) as code, unnest(transfer_sources) as source,
                unnest(transfer_destinations) as destination, unnest(transfer_amounts) as amount
        ) t;
    end if;

    if cardinality(entry_accounts) > 0 then
        insert into entries (
            account, version, operation, number, amount, balance_before, balance_after
        )
        select case when e.account < 0 then first_account - e.account - 1 else e.account end,
            e.version, first_operation + e.place, e.number, e.amount, e.balance_before,
            e.balance_after
        from (
            select unnest(entry_accounts) as account, unnest(entry_versions) as version,
                unnest(entry_places) as place, unnest(entry_numbers) as number,
                unnest(entry_amounts) as amount, unnest(entry_befores) as balance_before,
                unnest(entry_afters) as balance_after
        ) e;
    end if;

    if cardinality(ended_games) > 0 then
        update game_players p
        set net = s.net,
            finished_at = coalesce(f.finished_at, date_trunc('milliseconds', now()))
        from (
            select unnest(ended_seat_games) as game, unnest(ended_seat_players) as player,
                unnest(ended_seat_nets) as net
        ) s
        join unnest(ended_games, ended_times) as f (id, finished_at) on f.id = s.game
        where p.game = s.game and p.player = s.player;
        get diagnostics written = row_count;
        if written <> cardinality(ended_seat_games) then
            raise exception 'a seat was not found again' using errcode = 'BH002';
        end if;

        -- The void of a game writes one notice to each of its players.
        if 'voided' = any(ended_states) then
            insert into notices (player, kind, game, amount)
            select p.player, 'game_voided', g.id, g.ante + p.stake
            from games g
            join game_players p on p.game = g.id
            where g.id = any(ended_games) and g.state = 'voided';
        end if;
    end if;

    if cardinality(record_games) > 0 then
        insert into game_records (game, settlement, record)
        select d.game, d.settlement, d.record
        from (
            select unnest(record_games) as game, unnest(record_settlements) as settlement,
                unnest(record_texts) as record
        ) d;
    end if;

    if cardinality(opened_games) > 0 then
        insert into games (id, kind, table_id, room, ante, commitment, opened_at)
        select g.id, g.kind, g.table_id, g.room, g.ante, g.commitment, g.opened_at
        from (
            select unnest(opened_games) as id, unnest(opened_kinds) as kind,
                unnest(opened_tables) as table_id, unnest(opened_rooms) as room,
                unnest(opened_antes) as ante, unnest(opened_commitments) as commitment,
                unnest(opened_times) as opened_at
        ) g;
        insert into game_players (game, player, seat, stake)
        select s.game, s.player, s.seat, s.stake
        from (
            select unnest(opened_seat_games) as game, unnest(opened_seat_players) as player,
                unnest(opened_seat_numbers) as seat, unnest(opened_seat_stakes) as stake
        ) s;
    end if;
end
$$;
