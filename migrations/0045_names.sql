-- How a player is shown, and whose a name is. A name that a player has chosen after signing in is
-- claimed: nobody else may choose it, nor one that looks like it. Names that guests bring along at
-- their first sign-in are not claimed, so two of them may be alike until one of the two claims it.
alter table players
    -- Of the catalogue in the program.
    add column avatar text not null default 'carabao',
    -- When the name was last changed by its player.
    add column renamed_at timestamptz null,
    -- A deleted player keeps its id, because the books name it, and nothing that says who it was.
    add column deleted_at timestamptz null;

-- What claimed names look like: skeletons after Unicode's UTS 39, one or two for each name. The
-- primary key decides races.
create table name_looks (
    look text primary key,
    player uuid not null references players
);

create index name_looks_of_player on name_looks (player);

grant select, insert, delete on name_looks to bahay_service;
