-- Coins that went from one account to another. Rows are written once; a mistake is mended by
-- another transfer. `number` counts the transfers of one operation from 1.
--
-- There are no foreign keys here or in `entries`: they double the cost of a settlement, and the
-- one statement that writes these rows takes their accounts and operations from rows that it
-- locked or wrote itself. The audit looks for what a foreign key would refuse.
create table transfers (
    operation bigint not null,
    number smallint not null check (number > 0),
    code text not null
        check (code in (
            'ante', 'hold', 'payment', 'fee', 'release', 'pot', 'refund',
            'welcome', 'daily', 'relief', 'adjustment'
        )),
    source bigint not null,
    destination bigint not null,
    amount bigint not null,
    primary key (operation, number),
    constraint transfers_move_something check (amount > 0),
    constraint transfers_go_elsewhere check (source <> destination)
);
