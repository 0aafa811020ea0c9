# Stand-ins for the images that deploy/Dockerfile and deploy/compose.yaml name.
FROM drill-debian12 AS node

FROM drill-debian12 AS postgres
ENV PATH=/usr/lib/postgresql/15/bin:$PATH PGDATA=/var/lib/postgresql/data
# As the image's own: reads the password as root, makes the database of the user as postgres, then serves.
COPY --chmod=755 <<'EOF' /entrypoint
#!/bin/sh
set -eu
if [ "$(id -u)" = 0 ]; then
  install -d -o postgres -g postgres -m 700 "$PGDATA"
  PASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
  export PASSWORD
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0"
fi
if [ ! -e "$PGDATA/PG_VERSION" ]; then
  printf %s "$PASSWORD" > /tmp/password
  initdb --username="$POSTGRES_USER" --pwfile=/tmp/password --auth=scram-sha-256
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  echo "CREATE DATABASE $POSTGRES_USER;" | postgres --single -D "$PGDATA" postgres
fi
exec postgres -c listen_addresses='*' -c unix_socket_directories=/tmp
EOF
VOLUME /var/lib/postgresql/data
ENTRYPOINT ["/entrypoint"]

FROM drill-debian13 AS redis
RUN install -d -o 999 -g 999 /data
VOLUME /data
WORKDIR /data
