-- What a bot of the house has left goes back to `issue`, by an operation and under a code of their
-- own; see docs/LEDGER.md.
alter table operations
    drop constraint operations_kind_check,
    add constraint operations_kind_check
        check (kind in (
            'open', 'settle', 'void', 'grant', 'adjust', 'reverse', 'return', 'sweep'
        ));

alter table transfers
    drop constraint transfers_code_check,
    add constraint transfers_code_check
        check (code in (
            'ante', 'hold', 'payment', 'fee', 'release', 'pot', 'refund',
            'welcome', 'daily', 'relief', 'adjustment', 'reversal', 'return', 'house_bot', 'sweep'
        ));
