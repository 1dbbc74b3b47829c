-- Operators also take from a player only the right to speak: a mute. It is kept as a ban is, and
-- ends as one does; whoever is muted plays on, and every phrase is refused.
alter table bans
    add column bars text not null default 'entry' check (bars in ('entry', 'speech'));
