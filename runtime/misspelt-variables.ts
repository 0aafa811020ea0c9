/**
 * Finds misspelt variables of this service, which would be ignored, such as `NETWORK_TIMEOUT`.
 *
 * Variables of other programs must not keep a process from starting. So a name counts only when it differs from one of
 * ours in its unit, case and underscores alone, or in one letter of a long name. A prefix such as `NETWORK_` proves
 * nothing: Kubernetes sets such variables for its services.
 */

/** Shorter names are too close to those of others: `HOST` is two letters from `HOME`. */
const LENGTH_MIN = 8
/** What Kubernetes sets in NOTIFICATION_PORT for a service `notification`. */
const KUBERNETES_LINK = /^(?:tcp|udp):\/\//
const UNITS = /_(?:MS|S|SECONDS|MINUTES|HOURS|DAYS)$/

/** Part of another setting since v0.2.0. Ignored, they would change how long a hold lasts, or who can reach a process. */
const MOVED: Readonly<Record<string, string>> = {
  PREAUTH_TTL_DAYS_BY_BRAND: 'PREAUTH_TTL_DAYS (7,visa=5)',
  NOTIFICATIONS_HOST: 'HOST'
}

/** A sentence for each variable of `env` that looks like one of `known`, or of these with `_FILE`, but is none. */
export function misspeltVariables(env: NodeJS.ProcessEnv, known: readonly string[]): string[] {
  const names = new Set(known.flatMap(name => [name, `${name}_FILE`]))
  return Object.entries(env).flatMap(([given, value = '']) => {
    if (names.has(given) || KUBERNETES_LINK.test(value)) return []
    if (Object.hasOwn(MOVED, given)) return [`${given}: is part of ${MOVED[given]} now. Unset it`]
    // When the variable itself is set, the other one belongs to another program.
    const meant = [...names].find(name => !env[name] && isAlmost(given, name))
    return meant === undefined ? [] : [`${given}: is not known; did you mean ${meant}? Correct the name, or unset it`]
  })
}

function isAlmost(given: string, name: string): boolean {
  if (name.length < LENGTH_MIN) return false
  const [left, right] = [bareName(given), bareName(name)]
  return left === right || isOneEditApart(left, right)
}

function bareName(name: string): string {
  return name.toUpperCase().replace(UNITS, '').replaceAll('_', '')
}

/** Whether the names differ by one inserted, deleted, replaced or swapped letter. */
function isOneEditApart(left: string, right: string): boolean {
  if (Math.abs(left.length - right.length) > 1) return false
  let start = 0
  while (start < left.length && left[start] === right[start]) start++
  const [restLeft, restRight] = [left.slice(start), right.slice(start)]
  const isSwapped = restLeft[0] === restRight[1] && restLeft[1] === restRight[0]
  return (
    restLeft.slice(1) === restRight ||
    restLeft === restRight.slice(1) ||
    restLeft.slice(1) === restRight.slice(1) ||
    (isSwapped && restLeft.slice(2) === restRight.slice(2))
  )
}
