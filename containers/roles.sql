-- The logins of an installation. A superuser creates them once in an empty database `bahay`:
--
--   psql --set owner_password=… --set server_password=… --file containers/roles.sql bahay
--
-- `bahay_owner` owns the schema: it migrates, audits and creates the first operator, and no process that
-- accepts connections from players knows its password. `bahay_server` owns no object: it has the privileges
-- that the migrations grant to the role `bahay_service`, which can add to the ledger and change none of its
-- rows. Neither login is a superuser, can create roles or databases, or can read another database.
\set ON_ERROR_STOP on

create role bahay_service nologin;
create role bahay_owner login password :'owner_password';
create role bahay_server login password :'server_password';

-- The first migration grants the role to the user who migrates, so that a test can set it.
grant bahay_service to bahay_owner with admin option;
grant bahay_service to bahay_server;

-- The owner of the database has all privileges in its schema `public`; no other user can create objects.
alter database bahay owner to bahay_owner;
revoke all on database bahay from public;
revoke all on schema public from public;
grant connect on database bahay to bahay_server;
