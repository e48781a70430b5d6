#!/bin/sh
# What the chart uses of the official entry point: initialise an empty PGDATA, run the files of initdb.d, start.
set -eu
sockets=/var/run/postgresql
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  umask 077
  printf '%s' "$POSTGRES_PASSWORD" > /tmp/password
  # shellcheck disable=SC2086 # the arguments are several
  initdb --pgdata="$PGDATA" --username=postgres --pwfile=/tmp/password --encoding=UTF8 --locale=C.UTF-8 ${POSTGRES_INITDB_ARGS:-}
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  pg_ctl --pgdata="$PGDATA" --wait --options="-c listen_addresses='' -c unix_socket_directories=$sockets" start
  for file in /docker-entrypoint-initdb.d/*.sql; do
    PGPASSWORD="$POSTGRES_PASSWORD" psql -v ON_ERROR_STOP=1 --no-password --no-psqlrc --host="$sockets" --username=postgres --dbname=postgres --file="$file"
  done
  pg_ctl --pgdata="$PGDATA" --mode=fast --wait stop
fi
exec "$@" -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories="$sockets"
