-- Corrections of the books, as requests: one operator asks, another decides. Approved ones name
-- the operation that booked them, in the transaction of which they became approved.
create table corrections (
    id uuid primary key,
    -- Names the call that made the row, so that a call that is repeated makes no second one.
    attempt uuid not null unique,
    kind text not null check (kind in ('adjustment', 'reversal')),
    state text not null default 'open' check (state in ('open', 'approved', 'rejected')),
    -- Of an adjustment: whose wallet, and what is added to it; below zero takes coins.
    player uuid null references players,
    amount bigint null check (amount <> 0),
    -- Of a reversal: the operation that is taken back.
    reversed_operation bigint null references operations,
    reason text not null check (char_length(reason) between 10 and 500),
    requested_by uuid not null references operators,
    requested_at timestamptz not null default now(),
    decided_by uuid null references operators,
    decided_at timestamptz null,
    rejection_reason text null check (char_length(rejection_reason) between 10 and 500),
    -- The operation that booked it.
    operation bigint null unique references operations,
    constraint corrections_need_two check (decided_by <> requested_by),
    constraint corrections_of_a_kind check (
        (kind = 'adjustment') = (player is not null and amount is not null)
        and (kind = 'reversal') = (reversed_operation is not null)
        and (player is null) = (amount is null)
    ),
    constraint corrections_decided_once check (
        (state = 'open') = (decided_by is null)
        and (decided_by is null) = (decided_at is null)
        and (state = 'approved') = (operation is not null)
        and (state = 'rejected') = (rejection_reason is not null)
    )
);

-- An operation is taken back once.
create unique index corrections_reverse_once on corrections (reversed_operation)
    where state = 'approved';

-- What waits for somebody to decide.
create index corrections_open on corrections (id) where state = 'open';

grant select, insert, update (state, decided_by, decided_at, rejection_reason, operation)
    on corrections to bahay_service;
