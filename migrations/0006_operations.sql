-- What was asked of the ledger, once each. The key is derived from what the operation does
-- (`open:<game>`, `settle:<game>`, `void:<game>`, `welcome:<player>`, ...), so asking again finds
-- this row: with the same input the stored answer is the answer, with another input it is an
-- error.
--
-- An id is taken while the operation's accounts are locked, so ids ascend along each account. An
-- operation that is rolled back leaves a gap between ids, which means nothing.
create sequence operation_ids as bigint;

create table operations (
    id bigint primary key,
    key text not null unique,
    kind text not null check (kind in ('open', 'settle', 'void', 'grant')),
    -- SHA-256 of the input in a canonical form.
    input_hash bytea not null check (octet_length(input_hash) = 32),
    answer jsonb not null,
    game uuid null,
    -- The database's clock, the one clock that all nodes share.
    created_at timestamptz not null default now()
);

alter sequence operation_ids owned by operations.id;
