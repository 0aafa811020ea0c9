/** The process itself: its answers survive a kill, and it stays out of the live environment. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { isRecord, parseJson } from '../../../runtime/json.js'
import { createCardNetwork } from '../../../workers/network/card-network.js'
import { endlessLease } from '../../../workers/network/leases.js'
import { credentials, networkConfig, purchase } from '../../support/card-network.js'

const ENTRY = fileURLToPath(new URL('../../../scripts/simulator/network.js', import.meta.url))

describe('the process network', () => {
  let folder: string
  let child: ChildProcess | undefined

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'network-process-'))
  })

  afterEach(async () => {
    await kill()
    rmSync(folder, { recursive: true })
  })

  function start(env: Record<string, string> = {}): ChildProcess {
    child = spawn(process.execPath, [ENTRY], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        SERVICE_ENV: 'test',
        DATA_DIR: folder,
        NETWORK_PORT: '0',
        NETWORK_MERCHANT_ID: credentials.networkMerchantId,
        NETWORK_MERCHANT_KEY: credentials.networkMerchantKey,
        ...env
      }
    })
    return child
  }

  async function kill(): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  /** The address in the line that says that it listens; mocha's time limit is the bound. */
  async function listening({ stdout }: ChildProcess): Promise<string> {
    if (stdout === null) throw new Error('The process has no standard output.')
    for await (const line of createInterface({ input: stdout })) {
      const entry = parseJson(line)
      if (isRecord(entry) && typeof entry['url'] === 'string') return entry['url']
    }
    throw new Error('The process ended before it listened.')
  }

  it('keeps every answered sale after a kill', async () => {
    const before = createCardNetwork(networkConfig(await listening(start())))
    const result = await before.authorise(purchase({ orderId: 'order1' }), endlessLease)
    await kill()
    await before.close()

    const after = createCardNetwork(networkConfig(await listening(start())))
    const found = await after.query('order1', endlessLease)
    await after.close()
    expect(found).to.have.nested.include({ 'sales.length': 1, 'sales[0].status': 'captured' })
    expect(found).to.have.nested.property(
      'sales[0].references.saleId',
      result.kind === 'approved' ? result.references.saleId : 'not approved'
    )
  })

  it('refuses the live environment', async () => {
    const live = start({
      SERVICE_ENV: 'live',
      LOG_LEVEL: 'silent',
      NOTIFICATIONS_SECRET: 'a-secret-of-its-own-that-is-long-enough',
      NETWORK_TRANSACTION_URL: 'https://127.0.0.1:1',
      NETWORK_QUERY_URL: 'https://127.0.0.1:1'
    })
    const [code] = await once(live, 'exit')
    expect(code).to.equal(1)
  })
})
