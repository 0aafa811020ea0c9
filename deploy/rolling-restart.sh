#!/bin/sh
# rolling-restart.sh [UNIT…]: restarts the processes of this machine one after the other, each when the one before is ready:
# all that run, or those that are named, such as card-payments-api@1. Ends with code 1 at the first that is not ready.
#   READY_WITHIN_S: how long that may take (60)
set -eu
within=${READY_WITHIN_S:-60}
if [ $# -eq 0 ]; then
  # Workers first: what `api` of a new release accepts, they can read.
  for process in payments archive timers webhooks notifications tokens api; do
    # shellcheck disable=SC2046
    set -- "$@" $(systemctl list-units --type=service --state=active --plain --no-legend "card-payments-$process@*" | cut -d' ' -f1)
  done
fi

# ready UNIT: what /readyz of the unit answers; the address is that of the running process.
ready() {
  pid=$(systemctl show --property=MainPID --value "$1")
  [ "$pid" -gt 0 ] || return 1
  host=$(tr '\0' '\n' < "/proc/$pid/environ" | sed -n 's/^OPS_HOST=//p')
  port=$(tr '\0' '\n' < "/proc/$pid/environ" | sed -n 's/^OPS_PORT=//p')
  case ${host:-127.0.0.1} in 0.0.0.0 | ::) host=127.0.0.1 ;; esac
  curl --silent --fail --max-time 10 --output /dev/null "http://${host:-127.0.0.1}:$port/readyz"
}

for unit in "$@"; do
  systemctl restart "$unit"
  waited=0
  until ready "$unit"; do
    if [ "$waited" -ge "$within" ]; then
      echo "$unit is not ready after $within s: see journalctl -u $unit. The units after it were not restarted." >&2
      exit 1
    fi
    sleep 1
    waited=$((waited + 1))
  done
  echo "$unit is restarted, and ready"
done
