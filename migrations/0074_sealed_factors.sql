-- Second factors of operators are sealed (ChaCha20-Poly1305) by keys that the database does not have:
-- 37 bytes more than a plain one. Those that are stored plain are sealed at their next use. The one
-- of an enrolment is drawn when the operator is first shown it.
alter table operator_credentials drop constraint operator_credentials_totp_secret_check;
alter table operator_credentials add check (octet_length(totp_secret) in (20, 57));

alter table operator_enrolments drop constraint operator_enrolments_totp_secret_check;
alter table operator_enrolments alter column totp_secret drop not null;
alter table operator_enrolments add check (octet_length(totp_secret) in (20, 57));
