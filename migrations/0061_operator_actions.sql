-- What operators did, whichever way: at the desk, over the API, from the command line. A row is
-- written in the transaction of the change that it tells of, and never changed or removed.
create table operator_actions (
    -- Of version 7, so by time.
    id uuid primary key,
    at timestamptz not null default date_trunc('milliseconds', now()),
    -- Null for the command line, and for a sign-in by a name that no operator has.
    operator uuid null references operators,
    action text not null check (action ~ '^[a-z]+(_[a-z]+)*$'),
    -- What it was done to, as in `room:newbie`.
    subject text null check (char_length(subject) between 1 and 200),
    detail jsonb not null default '{}',
    way text not null check (way in ('desk', 'api', 'command')),
    -- Where it came from, as far as limits go.
    address text null
);

create index operator_actions_of_operator on operator_actions (operator, id);
create index operator_actions_of_kind on operator_actions (action, id);
create index operator_actions_on_subject on operator_actions (subject, id);

grant select, insert on operator_actions to bahay_service;
