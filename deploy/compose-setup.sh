#!/bin/sh
# compose-setup.sh FOLDER: makes what compose.yaml mounts, a folder for each service; changes nothing once all is there.
#   HOSTS: names of the certificate of both Redis. OPERATOR: the operator's command line of a release.
set -eu
state=$1
hosts=${HOSTS:-DNS:durable,DNS:memory-only}
operator=${OPERATOR:-operator}
redis_files=$(cd "$(dirname "$0")/../ops/redis" && pwd)
if [ -e "$state/complete" ]; then exit 0; fi
umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# An authority for this installation, and one certificate for both Redis.
openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj '/CN=Card payments test authority' \
  -keyout "$work/ca.key" -out "$work/ca.crt" 2>/dev/null
openssl req -newkey rsa:2048 -nodes -subj '/CN=redis' -keyout "$work/server.key" -out "$work/server.csr" 2>/dev/null
printf 'subjectAltName=%s\n' "$hosts" > "$work/names"
openssl x509 -req -in "$work/server.csr" -CA "$work/ca.crt" -CAkey "$work/ca.key" -CAcreateserial -days 3650 \
  -extfile "$work/names" -out "$work/server.crt" 2>/dev/null

# redis KIND PORT VARIABLE: the files of a server, a password for each of its users, and a file with the address of each.
redis() {
  mkdir -p "$state/$1/tls"
  cp "$redis_files/$1.conf" "$state/$1/"
  cp "$work/ca.crt" "$work/server.crt" "$work/server.key" "$state/$1/tls/"
  cp "$redis_files/$1.acl" "$work/users"
  for user in $(sed -n 's/^user \([a-z]*\) on .*/\1/p' "$redis_files/$1.acl"); do
    password=$(openssl rand -hex 24)
    sha256=$(printf %s "$password" | openssl dgst -sha256 -r | cut -d' ' -f1)
    name=$(printf %s "$user" | tr '[:lower:]' '[:upper:]')_SHA256
    sed "s/\${$name}/$sha256/" "$work/users" > "$work/filled"
    mv "$work/filled" "$work/users"
    mkdir -p "$state/$user"
    printf 'rediss://%s:%s@%s:%s\n' "$user" "$password" "$1" "$2" > "$state/$user/$3"
    cp "$work/ca.crt" "$state/$user/redis-ca.pem"
  done
  mv "$work/users" "$state/$1/$1.acl"
}
redis durable 6379 redis_url
redis memory-only 6380 secrets_redis_url

# A password for PostgreSQL, and a file with its address for those who use it.
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

# The users of the image, and of the image of Redis. Only root can give files away.
if [ "$(id -u)" = 0 ]; then
  chown -R 10001:10001 "$state"
  chown -R 999:999 "$state/durable" "$state/memory-only"
fi
chmod 711 "$state"
touch "$state/complete"
