#!/bin/sh
# PostgreSQL's image runs this once, with an empty volume, to create the logins of roles.sql.
set -eu
exec psql --no-psqlrc --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
  --set owner_password="$BAHAY_OWNER_PASSWORD" --set server_password="$BAHAY_SERVER_PASSWORD" \
  --file /etc/bahay/roles.sql
