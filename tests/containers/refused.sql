-- Statements that the login of a server must not run, with or without the role that the server sets, one per
-- line. scripts/containers.sh runs them in a house that was set up by containers/roles.sql.
alter table entries add column more bigint
alter table entries disable trigger all
drop table entries
drop table game_records cascade
truncate entries
truncate operations, transfers, entries, seals
delete from operations
delete from transfers
delete from entries
delete from seals
delete from game_records
delete from audit_entries
update operations set answer = '{}'
update transfers set amount = amount + 1
update entries set amount = amount + 1
update seals set hash = sha256('')
update game_records set game = game
update game_records set record = null
update archive_objects set hash = sha256('')
delete from archive_objects
delete from archive_dictionaries
insert into closed_months select now(), 1, 1, 1, 1, 1, sha256('')
delete from closed_months
drop table entries_unforeseen
update audit_entries set detail = '{}'
update accounts set code = code || 'x'
update operators set role = 'admin'
update corrections set amount = 1
create table mine (id bigint)
create temporary table mine (id bigint)
create schema mine
create function mine() returns int language sql as 'select 1'
create trigger mine before insert on games for each row execute function write_books()
create role mine
drop role bahay_owner
alter role bahay_server superuser
alter role bahay_owner password 'mine'
set role bahay_owner
set session authorization bahay_owner
set session_replication_role = replica
reassign owned by bahay_owner to bahay_server
alter database bahay owner to bahay_server
drop database bahay
insert into _sqlx_migrations select * from _sqlx_migrations
delete from _sqlx_migrations
select rolpassword from pg_authid
select pg_read_file('/etc/passwd')
copy entries to program 'cat'
copy entries from program 'cat'
copy entries to '/tmp/entries'
alter system set fsync = off
checkpoint
