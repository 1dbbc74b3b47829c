#!/bin/bash
# What the entry point of PostgreSQL's image does for docker-compose.yml: with an empty volume it makes the
# cluster, lets the superuser and everybody else in by password over TCP, makes the database and runs
# what lies in /docker-entrypoint-initdb.d on a server that only its socket reaches; then it starts the
# server that all reach.
set -euo pipefail
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # Words of options.
  # shellcheck disable=SC2086
  initdb --username "$POSTGRES_USER" --pwfile <(printf '%s\n' "$POSTGRES_PASSWORD") \
    ${POSTGRES_INITDB_ARGS:-}
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
  pg_ctl start --silent --wait --options "-c listen_addresses=''"
  createdb --username "$POSTGRES_USER" --no-password "$POSTGRES_DB"
  for file in /docker-entrypoint-initdb.d/*.sh; do
    # What may not be executed is read, as by that image.
    if [ -x "$file" ]; then "$file"; else . "$file"; fi
  done
  pg_ctl stop --silent --wait --mode fast
fi
exec "$@"
