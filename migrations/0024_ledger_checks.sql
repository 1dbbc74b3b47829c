-- Checks of the ledger that ran while serving, one in each slot of time whatever the number of
-- nodes: the first to add the slot's row runs it. A row without an end is a check that broke off.
create table ledger_checks (
    -- When the slot began.
    slot timestamptz primary key,
    -- Whether all games were read again, or only those since the check before.
    extent text not null check (extent in ('everything', 'recent')),
    started_at timestamptz not null default now(),
    finished_at timestamptz null,
    -- What was counted, in words of the check's own.
    counted jsonb null,
    -- One line for each thing that does not add up; none in good times.
    differences text[] null,
    constraint ledger_checks_end_with_a_result check (
        (finished_at is null) = (counted is null)
        and (finished_at is null) = (differences is null)
    )
);

grant select, insert, update (finished_at, counted, differences) on ledger_checks to bahay_service;
