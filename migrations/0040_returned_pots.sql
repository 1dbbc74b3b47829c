-- POTs whose table is gone are given back to who paid the antes in them, by an operation of its
-- own: see docs/LEDGER.md.
alter table operations
    drop constraint operations_kind_check,
    add constraint operations_kind_check
        check (kind in ('open', 'settle', 'void', 'grant', 'adjust', 'reverse', 'return'));

alter table transfers
    drop constraint transfers_code_check,
    add constraint transfers_code_check
        check (code in (
            'ante', 'hold', 'payment', 'fee', 'release', 'pot', 'refund',
            'welcome', 'daily', 'relief', 'adjustment', 'reversal', 'return'
        ));
