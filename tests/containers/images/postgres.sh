#!/bin/bash
# The part of the PostgreSQL image's entry point that docker-compose.yml relies on. With an empty volume, it
# creates the cluster, permits password authentication over TCP, creates the database, and runs the scripts of
# /docker-entrypoint-initdb.d on a server that is reachable by its socket only; then it starts the public
# server.
set -euo pipefail
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # Word splitting of the options is intended.
  # shellcheck disable=SC2086
  initdb --username "$POSTGRES_USER" --pwfile <(printf '%s\n' "$POSTGRES_PASSWORD") \
    ${POSTGRES_INITDB_ARGS:-}
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
  pg_ctl start --silent --wait --options "-c listen_addresses=''"
  createdb --username "$POSTGRES_USER" --no-password "$POSTGRES_DB"
  for file in /docker-entrypoint-initdb.d/*.sh; do
    # A file that is not executable is sourced, as by the original image.
    if [ -x "$file" ]; then "$file"; else . "$file"; fi
  done
  pg_ctl stop --silent --wait --mode fast
fi
exec "$@"
