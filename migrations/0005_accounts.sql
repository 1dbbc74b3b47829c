-- The chart of accounts. Every coin is in exactly one of these rows, in whole hundredths, and all
-- balances together are zero: what `issue` is below zero is what everybody else holds.
--
--   wallet:<player>       what a player can spend
--   stake:<game>:<seat>   what a seat can lose in the game that it is playing
--   pot:<table>           the POT of a table
--   fee:<room>            what the house has earned in a room
--   issue                 where coins come from; the only account below zero
--   suspense              where a correction waits to be explained; nothing, in good times
--
-- `balance` and `version` are those of the account's newest entry. `fee` and `issue` are house
-- accounts: every game or grant touches one, so nothing locks them while posting. Their entries
-- follow in the order of the operations (see `unfolded`), and until then their balance is late.
create table accounts (
    id bigint generated always as identity primary key,
    code text not null unique,
    kind text not null
        check (kind in ('wallet', 'stake', 'pot', 'fee', 'issue', 'suspense')),
    player uuid null references players,
    balance bigint not null default 0,
    version bigint not null default 0 check (version >= 0),
    constraint accounts_kind_is_in_code check (split_part(code, ':', 1) = kind),
    constraint accounts_wallet_has_player check ((kind = 'wallet') = (player is not null)),
    constraint accounts_not_overdrawn check (balance >= 0 or kind = 'issue')
) with (fillfactor = 80);

-- The house accounts are few among millions of stakes.
create index accounts_of_house on accounts (kind) where kind in ('fee', 'issue');

insert into accounts (code, kind) values ('issue', 'issue'), ('suspense', 'suspense');
