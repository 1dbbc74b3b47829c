-- What posting in two round trips needs. It reads without locks and writes in one statement, so
-- the ids of accounts to be made are taken while reading.
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
