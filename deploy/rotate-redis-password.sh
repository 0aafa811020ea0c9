#!/bin/sh
# Rotates the password of one Redis user; all other users stay as they are. Between the two calls, processes restart:
#   rotate-redis-password.sh add  USER ADDRESS_FILE HOST:PORT…   a second password, which ADDRESS_FILE has from now on
#   rotate-redis-password.sh drop USER ADDRESS_FILE HOST:PORT…   ends all passwords but that of ADDRESS_FILE
# HOST:PORT: each server that has the user, replicas too. ADMINISTRATOR_FILE: address with the login of `administrator`.
# CA: the authority of the servers' certificates.
set -eu
step=$1 user=$2 file=$3
shift 3
: "${ADMINISTRATOR_FILE:?Give the file with the address of the user administrator.}"
umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# password_of FILE: the password of an address such as rediss://user:password@host:6379.
password_of() { sed -n 's#^rediss\{0,1\}[a-z-]*://[^:@/]*:\([^@]*\)@.*#\1#p' "$1"; }
sha256() { printf %s "$1" | openssl dgst -sha256 -r | cut -d' ' -f1; }
# ask USER PASSWORD HOST:PORT COMMAND…: fails when Redis answers with an error. No password is in the list of processes.
ask() {
  name=$1 secret=$2 server=$3
  shift 3
  case $(cat "$ADMINISTRATOR_FILE") in rediss*) set -- --tls ${CA:+--cacert "$CA"} "$@" ;; esac
  REDISCLI_AUTH=$secret redis-cli -e --no-auth-warning -h "${server%:*}" -p "${server##*:}" --user "$name" "$@"
}
administrator=$(password_of "$ADMINISTRATOR_FILE")
case $(password_of "$file") in
  '' | *[!A-Za-z0-9_-]*)
    echo "The address in $file has no password of letters and digits: rotate it by hand (docs/SECURITY.md)." >&2
    exit 2
    ;;
esac

case $step in
  add)
    old=$(password_of "$file")
    new=$(openssl rand -hex 24)
    for server in "$@"; do ask "$user" "$old" "$server" PING > /dev/null; done
    for server in "$@"; do
      ask administrator "$administrator" "$server" ACL SETUSER "$user" "#$(sha256 "$new")" > /dev/null
      ask administrator "$administrator" "$server" ACL SAVE > /dev/null
    done
    # The file keeps its owner and mode.
    sed "s#:$old@#:$new@#" "$file" > "$work/address"
    cat "$work/address" > "$file"
    echo "$user has two passwords, and $file the new one. Bring it to each machine, restart what reads it, then: $0 drop"
    ;;
  drop)
    kept=$(password_of "$file")
    for server in "$@"; do ask "$user" "$kept" "$server" PING > /dev/null; done
    for server in "$@"; do
      ask administrator "$administrator" "$server" ACL SETUSER "$user" resetpass "#$(sha256 "$kept")" > /dev/null
      ask administrator "$administrator" "$server" ACL SAVE > /dev/null
    done
    echo "$user has the password of $file alone."
    ;;
  *) echo "$0 add|drop USER ADDRESS_FILE HOST:PORT…" >&2; exit 2 ;;
esac
