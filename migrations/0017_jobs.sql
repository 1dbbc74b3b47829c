-- The queue of jobs: work that is enqueued in the transaction that causes it and performed later by any node.
-- A finished job is deleted. A periodic job is one row, which returns to the queue when a run ends.

create table jobs (
    id bigint primary key generated always as identity,
    -- The kind of the job, by which a node finds the code that performs it.
    name text not null check (name ~ '^[a-z][a-z0-9_]*$' and char_length(name) <= 64),
    payload jsonb not null,
    -- Among the jobs that are not dead, at most one has this key.
    unique_key text null check (char_length(unique_key) between 1 and 200),
    created_at timestamptz not null default now(),
    -- The time from which the job is due. While a node performs it, the end of that node's lease.
    run_at timestamptz not null default now(),
    -- The attempts since the last success.
    attempts integer not null default 0 check (attempts >= 0),
    -- The number of times the job was taken. With the id it names one attempt, so that a node whose lease has
    -- ended changes nothing.
    turn bigint not null default 0,
    -- The error of the last failed attempt.
    last_error text null,
    -- Set when the attempts are used up: a dead letter, which waits for an operator.
    died_at timestamptz null,
    constraint jobs_dead_have_an_error check (died_at is null or last_error is not null)
);

create unique index jobs_unique_key on jobs (unique_key) where died_at is null;
create index jobs_due on jobs (run_at) where died_at is null;
create index jobs_dead on jobs (id) where died_at is not null;

grant select, insert, update (run_at, attempts, turn, last_error, died_at), delete on jobs
    to bahay_service;

insert into additive_migrations (version) values (17);
