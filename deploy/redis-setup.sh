#!/bin/sh
# redis-setup.sh FOLDER [DURABLE_HOST [MEMORY_ONLY_HOST]]: makes all that both Redis and their users need, in a new folder:
#   durable/, memory-only/   configuration, users (ACL), and tls/ of each server
#   api/, operator/, …       of each user: redis_url, secrets_redis_url, and the authority redis-ca.pem
#   authority/               key and certificate of the authority, which signs the next certificate: keep it apart
# HOSTS: the names in the certificate when there are more, such as replicas: DNS:redis-1.internal,DNS:redis-2.internal
set -eu
folder=$1
durable=${2:-localhost}
memory_only=${3:-$durable}
hosts=${HOSTS:-DNS:$durable,DNS:$memory_only}
redis_files=$(cd "$(dirname "$0")/../ops/redis" && pwd)
if [ -e "$folder/authority" ]; then
  echo "$folder/authority exists: nothing was changed. Name a new folder." >&2
  exit 1
fi
umask 077
mkdir -p "$folder/authority"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# An authority for this installation, and one certificate for both Redis.
openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj '/CN=Card payments Redis authority' \
  -keyout "$folder/authority/ca.key" -out "$folder/authority/ca.crt" 2>/dev/null
openssl req -newkey rsa:2048 -nodes -subj '/CN=redis' -keyout "$work/server.key" -out "$work/server.csr" 2>/dev/null
printf 'subjectAltName=%s\n' "$hosts" > "$work/names"
openssl x509 -req -in "$work/server.csr" -CA "$folder/authority/ca.crt" -CAkey "$folder/authority/ca.key" \
  -CAcreateserial -days 825 -extfile "$work/names" -out "$work/server.crt" 2>/dev/null

# redis KIND HOST PORT FILE: the files of a server, a password for each of its users, and a file with the address of each.
redis() {
  mkdir -p "$folder/$1/tls"
  cp "$redis_files/$1.conf" "$folder/$1/"
  cp "$folder/authority/ca.crt" "$work/server.crt" "$work/server.key" "$folder/$1/tls/"
  cp "$redis_files/$1.acl" "$work/users"
  for user in $(sed -n 's/^user \([a-z]*\) on .*/\1/p' "$redis_files/$1.acl"); do
    password=$(openssl rand -hex 24)
    sha256=$(printf %s "$password" | openssl dgst -sha256 -r | cut -d' ' -f1)
    name=$(printf %s "$user" | tr '[:lower:]' '[:upper:]')_SHA256
    sed "s/\${$name}/$sha256/" "$work/users" > "$work/filled"
    mv "$work/filled" "$work/users"
    mkdir -p "$folder/$user"
    printf 'rediss://%s:%s@%s:%s\n' "$user" "$password" "$2" "$3" > "$folder/$user/$4"
    cp "$folder/authority/ca.crt" "$folder/$user/redis-ca.pem"
  done
  mv "$work/users" "$folder/$1/$1.acl"
}
redis durable "$durable" 6379 redis_url
redis memory-only "$memory_only" 6380 secrets_redis_url
