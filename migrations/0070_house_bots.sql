-- Bots of the house: players of their own kind, whom nobody can sign in as, and who are seated
-- where players have waited for others. Coins come to them from `issue` under a code of their own,
-- so that what the house has put into play by them is one sum; see docs/LEDGER.md.
alter table players
    drop constraint players_kind_check,
    add constraint players_kind_check check (kind in ('guest', 'bot'));

-- They are few among the players.
create index players_bots on players (id) where kind = 'bot';

alter table transfers
    drop constraint transfers_code_check,
    add constraint transfers_code_check
        check (code in (
            'ante', 'hold', 'payment', 'fee', 'release', 'pot', 'refund',
            'welcome', 'daily', 'relief', 'adjustment', 'reversal', 'return', 'house_bot'
        ));
