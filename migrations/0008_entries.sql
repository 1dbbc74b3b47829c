-- The two sides of each transfer: one entry on its source, below zero, and one on its
-- destination. An account's entries are numbered from 1 without a gap, and each starts from the
-- balance that the one before left.
create table entries (
    account bigint not null,
    version bigint not null check (version > 0),
    operation bigint not null,
    number smallint not null,
    amount bigint not null check (amount <> 0),
    balance_before bigint not null,
    balance_after bigint not null,
    primary key (account, version),
    constraint entries_add_up check (balance_after = balance_before + amount)
);
