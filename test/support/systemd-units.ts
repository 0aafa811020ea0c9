/** The units of deploy/systemd, read as systemd reads them: the unit, its drop-in, its environment files. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of the shipped environment files; on a machine their content stands in /etc/card-payments. */
const ETC = 'etc'
const ON_MACHINE = '/etc/card-payments'

export interface Unit {
  readonly user: string
  readonly execStart: string
  readonly stopTimeoutMs: number
  /** What the process gets; `%i` is 1, `%d` is `credentialsDir`, `%S` is `stateDir`. */
  readonly environment: Readonly<Record<string, string>>
  /** By id: the file that systemd copies into the folder of credentials. */
  readonly credentials: ReadonlyMap<string, string>
}

/** Reads the template of a process. `etcDir`, `credentialsDir` and `stateDir` replace the folders of a machine. */
export function readUnit(
  systemdDir: string,
  processName: string,
  { etcDir = ON_MACHINE, credentialsDir = '/run/credentials', stateDir = '/var/lib' } = {}
): Unit {
  const lines = [`card-payments-${processName}@.service`, 'card-payments-.service.d/common.conf']
    .flatMap(file => readFileSync(join(systemdDir, file), 'utf8').split('\n'))
    .filter(line => /^\w+=/.test(line))
    .map(line =>
      line
        .replaceAll('%i', '1')
        .replaceAll('%j', processName)
        .replaceAll('%d', credentialsDir)
        .replaceAll('%S', stateDir)
    )
  const all = (key: string): string[] =>
    lines.filter(line => line.startsWith(`${key}=`)).map(line => line.slice(key.length + 1))
  const files = all('EnvironmentFile').map(file => file.replace(`${ON_MACHINE}/`, '').replace('-', ''))
  const given = all('Environment').flatMap(line => line.split(' '))
  return {
    user: all('User').at(-1) ?? '',
    execStart: all('ExecStart').at(-1) ?? '',
    stopTimeoutMs: Number(all('TimeoutStopSec').at(-1)) * 1_000,
    environment: {
      ...Object.fromEntries(given.map(text => split(text, '=', etcDir))),
      ...readSettings(systemdDir, files, etcDir)
    },
    credentials: new Map(all('LoadCredential').map(text => split(text, ':', etcDir)))
  }
}

/** What the environment files of a machine set; one that is not shipped sets nothing. `etcDir` as for `readUnit`. */
export function readSettings(systemdDir: string, files: readonly string[], etcDir: string): Record<string, string> {
  const paths = files.map(file => join(systemdDir, ETC, file)).filter(existsSync)
  const lines = paths.flatMap(path => readFileSync(path, 'utf8').split('\n').filter(isAssignment))
  return Object.fromEntries(lines.map(line => split(line, '=', etcDir)))
}

function isAssignment(line: string): boolean {
  return /^[A-Z]/.test(line)
}

function split(text: string, separator: string, etcDir: string): [name: string, value: string] {
  const at = text.indexOf(separator)
  return [text.slice(0, at), text.slice(at + 1).replace(ON_MACHINE, etcDir)]
}
