-- What operators make of reports by players: upheld or dismissed, once, and by whom. A report by
-- itself changes nothing, nor does this; a ban is an act of its own.
alter table player_reports
    add column outcome text null check (outcome in ('upheld', 'dismissed')),
    add column decided_by uuid null references operators,
    add column decided_at timestamptz null,
    -- For people to read later.
    add column note text null check (char_length(note) between 10 and 500),
    add constraint player_reports_decided_once check (
        (outcome is null) = (decided_by is null)
        and (outcome is null) = (decided_at is null)
        and (outcome is null) = (note is null)
    );

-- The list for operators, newest first: all of them, and those that wait.
create index player_reports_newest on player_reports (created_at, id);
create index player_reports_open on player_reports (created_at, id) where outcome is null;

grant update (outcome, decided_by, decided_at, note) on player_reports to bahay_service;
