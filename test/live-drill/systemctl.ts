/** A `systemctl` for a drill without systemd: what deploy/rolling-restart.sh asks of it, the supervisor does. */
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { messageOf } from '../../runtime/message-of.js'
import { runToEnd } from '../../scripts/start/apt-packages.js'
import { restarted } from '../support/processes.js'
import type { Installation } from './installed-service.js'

/** Runs the shipped script to its end. Resolves to what it prints, rejects with its complaint. */
export async function restartBySystemctl(installation: Installation): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    answer(installation, pathname.slice(1), searchParams.get('of') ?? '').then(
      text => response.end(text),
      error => response.writeHead(500).end(messageOf(error))
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    const bin = join(installation.dir, 'systemctl')
    await mkdir(bin, { recursive: true })
    const { port } = server.address() as AddressInfo
    const ask = `exec curl --silent --fail --max-time 60 "http://127.0.0.1:${port}/$1?of=$last"`
    await writeFile(join(bin, 'systemctl'), `#!/bin/sh\nfor last; do :; done\n${ask}\n`)
    await chmod(join(bin, 'systemctl'), 0o755)
    const script = join(installation.root, 'deploy/rolling-restart.sh')
    return await runToEnd('sh', [script], { PATH: `${bin}${delimiter}${process.env['PATH']}` })
  } finally {
    server.close()
  }
}

/** `of`: a unit such as `card-payments-api@1.service`, or the pattern of all units of a process. */
async function answer(installation: Installation, verb: string, of: string): Promise<string> {
  const [, name = '', instance = ''] = /^card-payments-(\w+)@(\d|\*)/.exec(of) ?? []
  const { processes } = installation.service()
  if (verb === 'list-units') {
    const units = processes.flatMap(process =>
      process.name.startsWith(`${name}.`) ? [process.name.split('.')[1]] : []
    )
    return units.map(unit => `card-payments-${name}@${unit}.service loaded active running\n`).join('')
  }
  const process = processes.find(it => it.name === `${name}.${instance}`)
  if (process === undefined) throw new Error(`There is no unit ${of}.`)
  if (verb === 'restart') await restarted(process)
  return `${process.pid ?? 0}\n`
}
