-- Whether games may begin at all, beside what each room says: one row. Closing the house closes
-- nothing else, so that opening it leaves every room as it was.
create table house (
    one boolean primary key default true check (one),
    is_open boolean not null,
    -- Counts up with every change. What a room says to its tables is numbered by the sum of its
    -- own revision and this, which rises whichever of the two changes.
    revision integer not null check (revision >= 0),
    -- Why it is closed, for people to read.
    reason text null check (char_length(reason) between 10 and 500),
    changed_by uuid null references operators,
    changed_at timestamptz not null default date_trunc('milliseconds', now()),
    constraint house_closed_for_a_reason check (is_open = (reason is null))
);

insert into house (is_open, revision) values (true, 0);

grant select, update (is_open, revision, reason, changed_by, changed_at) on house
    to bahay_service;
