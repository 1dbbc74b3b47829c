-- Operations whose house sides have no entries yet. Posting adds a row here instead of locking
-- `fee` or `issue`; a periodic step takes rows out in order and, in the same transaction, writes
-- the house's entries with balance and version.
create table unfolded (
    operation bigint primary key
);
