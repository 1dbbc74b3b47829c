-- Statements that the login of a server must not run, with or without the role that the server sets, one per
-- line. scripts/containers.sh runs them in a house that was set up by containers/roles.sql.
alter table operations add column more bigint
alter table operations disable trigger all
alter view transfers set (security_invoker = false)
drop table account_operations
drop view entries
drop table game_records cascade
truncate account_operations
truncate operations, account_operations, seals
delete from operations
delete from operation_keys
delete from account_operations
delete from seals
delete from game_records
delete from audit_entries
update operations set answer = '{}'
update operations set amounts[1] = amounts[1] + 1
update operations set versions = versions, balances = balances
update operation_keys set operation = operation
update account_operations set account = account
update seals set hash = sha256('')
update game_records set game = game
update game_records set record = null
update archive_objects set hash = sha256('')
delete from archive_objects
delete from archive_dictionaries
update owner_settings set archive_grace = interval '0'
delete from owner_settings
drop table operations_unforeseen
insert into operations_unforeseen select * from operations
delete from account_operations_unforeseen
update audit_entries set detail = '{}'
update accounts set code = code || 'x'
update operators set name = 'mine'
update corrections set amount = 1
create table mine (id bigint)
create temporary table mine (id bigint)
create schema mine
create function mine() returns int language sql as 'select 1'
create rule mine as on insert to transfers do instead nothing
create or replace view entries as select * from transfers
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
copy operations to program 'cat'
copy operations from program 'cat'
copy operations to '/tmp/operations'
alter system set fsync = off
checkpoint
