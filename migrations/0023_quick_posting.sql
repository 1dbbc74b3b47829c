-- What posting in two round trips needs. Ids are taken in the statement that writes, once for a
-- whole batch: the statement adds a number below 64 to the id of an operation, one below 1,024 to
-- that of an account. So ids still ascend along each account, with gaps, which mean nothing.
alter sequence operation_ids increment by 64;
alter table accounts alter column id set increment by 1024;
grant usage on sequence accounts_id_seq to bahay_service;

-- Taking a record apart into `jsonb` cost more than all the rest of a settlement together, and
-- nothing looks into records: they are read whole. `json` keeps the text as it came. LZ4 is
-- several times faster than PostgreSQL's own compression, where the server was built with it.
-- `settlement`, which the books are checked against, stays `jsonb`.
alter table game_records alter column record type json using record::json;

do $$
begin
    alter table game_records alter column record set compression lz4;
exception
    when feature_not_supported then null;
end
$$;
