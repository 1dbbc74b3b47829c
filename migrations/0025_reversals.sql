-- Corrections come into the ledger: an operator's adjustment of a wallet, and the reversal of an
-- operation that was booked. An adjustment is no grant any more, because it may also take coins,
-- and because only two operators together can make one.
alter table operations
    drop constraint operations_kind_check,
    add constraint operations_kind_check
        check (kind in ('open', 'settle', 'void', 'grant', 'adjust', 'reverse'));

alter table transfers
    drop constraint transfers_code_check,
    add constraint transfers_code_check
        check (code in (
            'ante', 'hold', 'payment', 'fee', 'release', 'pot', 'refund',
            'welcome', 'daily', 'relief', 'adjustment', 'reversal'
        ));
