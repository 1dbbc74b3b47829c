-- How accounts, keys and games stand at one moment, as one row of arrays. `read_books` gave a row of
-- fourteen columns for each account, eight or nine of them for an operation, and to put these together,
-- to send and to take them apart cost more than finding what is in them. It stays for nodes of the
-- version before.
--
-- Accounts and keys are in the order in which they were asked for, with nulls where there is none.
-- Seats are those of all games, by game and seat.
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
begin
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
    select a.ids, a.balances, a.versions, o.input_hashes, o.answers, g.ids, g.table_ids, g.rooms,
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
        select array_agg(r.input_hash) as input_hashes, array_agg(r.answer) as answers
        from (
            select o.input_hash, o.answer
            from unnest(operation_keys) with ordinality as k (key, place)
            left join operations o on o.key = k.key
            order by k.place
        ) r
    ) o
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
