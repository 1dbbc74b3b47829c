-- The hash chain over what was booked. The step that writes the house's entries takes operations
-- out of `unfolded` and, in the same transaction, seals them: one row here with a digest of each
-- operation and its transfers, and a hash over these and the hash before. A byte that is changed
-- later no longer fits its digest, a digest that is changed as well no longer fits its hash, and
-- whoever has once noted a number and its hash can tell a chain that was written anew. The texts
-- that are hashed are told in docs/LEDGER.md; code and documentation compute them independently.
create table seals (
    -- From 1, without a gap.
    number bigint primary key check (number > 0),
    operations bigint[] not null check (cardinality(operations) > 0),
    -- 32 bytes for each operation, in the order of `operations`.
    digests bytea not null,
    hash bytea not null check (octet_length(hash) = 32),
    sealed_at timestamptz not null default now(),
    constraint seals_digest_each_operation
        check (octet_length(digests) = 32 * cardinality(operations))
);

grant select, insert on seals to bahay_service;

-- What was folded before there were seals is sealed here, a thousand operations a seal. From now
-- on every operation passes through `unfolded`, also one that moves nothing.
do $$
declare
    seal bigint := 0;
    hash_before bytea := decode(repeat('00', 32), 'hex');
    last bigint := 0;
    ids bigint[];
    each_digest bytea;
    body bytea;
begin
    loop
        select array_agg(n.id order by n.id), string_agg(n.digest, '' order by n.id),
            string_agg(int8send(n.id) || n.digest, '' order by n.id)
        into ids, each_digest, body
        from (
            select o.id, sha256(convert_to(
                concat_ws(
                    E'\t', o.id, o.key, o.kind, encode(o.input_hash, 'hex'),
                    coalesce(o.game::text, ''),
                    (extract(epoch from o.created_at) * 1000000)::bigint, o.answer
                ) || coalesce((
                    select string_agg(
                        E'\n' || concat_ws(
                            E'\t', t.number, t.code, t.source, t.destination, t.amount
                        ), '' order by t.number
                    )
                    from transfers t
                    where t.operation = o.id
                ), ''), 'UTF8'
            )) as digest
            from operations o
            where o.id > last and not exists (select from unfolded u where u.operation = o.id)
            order by o.id
            limit 1000
        ) n;
        exit when ids is null;
        seal := seal + 1;
        hash_before := sha256(hash_before || int8send(seal) || body);
        insert into seals (number, operations, digests, hash)
        values (seal, ids, each_digest, hash_before);
        last := ids[cardinality(ids)];
    end loop;
end
$$;
