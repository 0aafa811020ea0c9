#!/bin/sh
# compose-setup.sh FOLDER: makes what compose.yaml mounts, a folder for each service; changes nothing when all exist.
#   OPERATOR: the operator's command line of a release. HOSTS: as for redis-setup.sh.
set -eu
state=$1
operator=${OPERATOR:-operator}
if [ -e "$state/complete" ]; then exit 0; fi
umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Removes what an interrupted run left.
rm -rf "$state/authority"
sh "$(dirname "$0")/redis-setup.sh" "$state" durable memory-only
# The folder of the volume. Redis ends when the folder that its file names is missing, also with another --dir.
sed 's#^dir .*#dir /data#' "$state/durable/durable.conf" > "$work/durable.conf"
cp "$work/durable.conf" "$state/durable/"

# A password for PostgreSQL, and a file with its address for its users.
password=$(openssl rand -hex 24)
mkdir -p "$state/postgres"
printf %s "$password" > "$state/postgres/password"
for user in api payments archive operator; do
  printf 'postgres://payments:%s@postgres:5432/payments\n' "$password" > "$state/$user/archive_url"
done

# Each process gets the key files that it reads, and no others.
SERVICE_ENV=test "$operator" vault init "$work/keys" > /dev/null
SERVICE_ENV=test "$operator" webhook-keys init "$work/keys" > /dev/null
cp "$work/keys/vault-public-keys.json" "$state/api/"
cp "$work/keys/vault-public-keys.json" "$state/tokens/"
cp "$work/keys/vault-private-keys.json" "$state/payments/"
cp "$work/keys/webhook-keys.json" "$state/api/"
cp "$work/keys/webhook-keys.json" "$state/webhooks/"
cp "$work"/keys/*.json "$state/operator/"

# The users of the image, and of the image of Redis. Only root can change owners.
if [ "$(id -u)" = 0 ]; then
  chown -R 10001:10001 "$state"
  chown -R 999:999 "$state/durable" "$state/memory-only"
fi
chmod 711 "$state"
touch "$state/complete"
