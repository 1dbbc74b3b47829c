-- The logins of an installation, made once in an empty database `bahay`, by a superuser:
--
--   psql --set owner_password=… --set server_password=… --file containers/roles.sql bahay
--
-- `bahay_owner` owns the schema: it migrates, audits and makes the first operator, and nothing that
-- listens to players knows its password. `bahay_server` owns nothing: it has what the migrations grant
-- the role `bahay_service`, which adds to the books and changes none of them. Neither is a superuser,
-- makes roles or databases, or reads another database than this one.
\set ON_ERROR_STOP on

create role bahay_service nologin;
create role bahay_owner login password :'owner_password';
create role bahay_server login password :'server_password';

-- The first migration grants the role to whoever migrates, so that a test may take it.
grant bahay_service to bahay_owner with admin option;
grant bahay_service to bahay_server;

-- The owner of a database may do what it likes in its schema `public`; nobody else makes anything.
alter database bahay owner to bahay_owner;
revoke all on database bahay from public;
revoke all on schema public from public;
grant connect on database bahay to bahay_server;
