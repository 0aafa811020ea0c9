/** Debian's Prometheus and Alertmanager with the shipped files, whose times are sixty times shorter: a minute is a second. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { freePort } from '../../scripts/start/ports.js'
import { type ProcessGroup, startGroup } from '../../scripts/start/process-group.js'
import { type DebianProgramName, obtainProgram } from '../runner/debian-program.js'
import { until } from './conditions.js'

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const SHORTER = 60
const STOP_MS = 3_000

/** Every duration of a file, and the seconds with which an expression compares an age. */
function shortened(text: string): string {
  return text
    .replace(/(?<=[[: ])(\d+)([smhd])(?=[\]:,\s}])/g, (_, count: string, unit: keyof typeof UNIT_MS) => {
      return `${(Number(count) * UNIT_MS[unit]) / SHORTER}ms`
    })
    .replace(/(_seconds\{[^}]*\}\S*\)) > (\d+)/g, (_, series: string, seconds: string) => {
      return `${series} > ${Number(seconds) / SHORTER}`
    })
}

interface Alert {
  readonly status: unknown
  readonly labels: { readonly alertname: string }
}

export class Monitoring {
  /** Names of the alerts of each notification, in their order of arrival. */
  readonly pages: string[][] = []
  readonly tickets: string[][] = []
  readonly #dir = mkdtempSync(join(tmpdir(), 'monitoring-'))
  readonly #programs: ProcessGroup[] = []
  #receiver: Server | undefined
  #alertmanager = ''
  #output = ''

  /** `targets`: of each job of deploy/prometheus.yml, as `host:port`. */
  static async start(targets: Readonly<Record<string, readonly string[]>>): Promise<Monitoring> {
    const monitoring = new Monitoring()
    try {
      await monitoring.#start(targets)
      return monitoring
    } catch (error) {
      await monitoring.stop()
      throw error
    }
  }

  /** Names of the alerts that fire at the moment, as Alertmanager has them. */
  async firing(): Promise<string[]> {
    const answer = await fetch(`${this.#alertmanager}/api/v2/alerts?active=true`)
    const alerts = (await answer.json()) as Alert[]
    return namesOf(alerts).sort()
  }

  /** All that the two programs have printed. */
  get output(): string {
    return this.#output
  }

  async stop(): Promise<void> {
    await Promise.all(this.#programs.map(program => program.stop(STOP_MS)))
    this.#receiver?.closeAllConnections()
    this.#receiver?.close()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  async #start(targets: Readonly<Record<string, readonly string[]>>): Promise<void> {
    const receiver = await this.#startReceiver()
    const [ownPort, alertsPort] = [await freePort(), await freePort()]
    this.#alertmanager = `http://127.0.0.1:${alertsPort}`
    const alertmanager = parse(shortened(readFileSync('deploy/alertmanager.yml', 'utf8')))
    for (const { name, webhook_configs } of alertmanager.receivers) webhook_configs[0].url = `${receiver}/${name}`
    const prometheus = parse(shortened(readFileSync('deploy/prometheus.yml', 'utf8')))
    prometheus.alerting.alertmanagers[0].static_configs[0].targets = [`127.0.0.1:${alertsPort}`]
    for (const { job_name, static_configs } of prometheus.scrape_configs) static_configs[0].targets = targets[job_name]
    writeFileSync(join(this.#dir, 'alerts.yml'), shortened(readFileSync('ops/alerts.yml', 'utf8')))
    writeFileSync(join(this.#dir, 'prometheus.yml'), JSON.stringify(prometheus))
    writeFileSync(join(this.#dir, 'alertmanager.yml'), JSON.stringify(alertmanager))
    await this.#run('prometheus-alertmanager', [
      `--config.file=${join(this.#dir, 'alertmanager.yml')}`,
      `--storage.path=${join(this.#dir, 'alertmanager')}`,
      `--web.listen-address=127.0.0.1:${alertsPort}`,
      '--cluster.listen-address='
    ])
    await this.#untilAnswers(`${this.#alertmanager}/-/ready`)
    await this.#run('prometheus', [
      `--config.file=${join(this.#dir, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(this.#dir, 'prometheus')}`,
      `--web.listen-address=127.0.0.1:${ownPort}`,
      `--query.lookback-delta=${(UNIT_MS.m * 5) / SHORTER}ms`,
      `--rules.alert.resend-delay=${UNIT_MS.m / SHORTER}ms`
    ])
    await this.#untilAnswers(`http://127.0.0.1:${ownPort}/-/ready`)
  }

  async #run(name: DebianProgramName, args: readonly string[]): Promise<void> {
    const { file, env, folder } = await obtainProgram(name, '.vendor', line => process.stderr.write(`${line}\n`))
    const onOutput = (text: string): void => {
      this.#output += text
    }
    const script = 'exec "$@"'
    this.#programs.push(
      await startGroup({
        script,
        args: [file, ...args],
        env: { ...process.env, ...env },
        cwd: folder ?? this.#dir,
        onOutput
      })
    )
  }

  /** Whom Alertmanager tells, in the place of the operators. */
  async #startReceiver(): Promise<string> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { alerts }: { alerts: Alert[] } = JSON.parse(Buffer.concat(chunks).toString())
        const list = request.url === '/pages' ? this.pages : this.tickets
        list.push(namesOf(alerts.filter(({ status }) => status === 'firing')))
        response.end()
      })
    })
    this.#receiver = server
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  async #untilAnswers(url: string): Promise<void> {
    const probe = (): Promise<boolean> =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false
      )
    await until(`${url} answers`, probe).catch((error: unknown) => {
      throw new Error(this.#output.slice(-4_000), { cause: error })
    })
  }
}

function namesOf(alerts: readonly Alert[]): string[] {
  return [...new Set(alerts.map(({ labels }) => labels.alertname))]
}
