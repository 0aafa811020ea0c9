/** Two rows at a time: what each client does, until it fails. */
import { messageOf } from '../../runtime/message-of.js'
import { type Client, clients, emptyFolder, type Workplace } from './clients.js'
import { NotAvailable } from './run.js'
import { sampleRows } from './sample-rows.js'
import { type Stage, startStage } from './stage.js'
import { Tools } from './tools.js'

export const columns = ['tools', 'generated', 'compiled', 'story', 'story behind the growing proxy'] as const

export interface Row {
  readonly name: string
  readonly version: string
  readonly cells: Readonly<Partial<Record<(typeof columns)[number], string>>>
  /** `not tried`: a tool or a registry was not available. */
  readonly state: 'ok' | 'FAILED' | 'not tried'
  /** Null: all went well. */
  readonly problem: string | null
}

interface DrillOptions {
  readonly root: string
  readonly vendorDir: string
  readonly names: readonly string[]
  readonly say: (line: string) => void
  readonly onRow: (row: Row) => void
}

/** Programs of one row wait for a registry, or use one core. */
const ROWS_AT_ONCE = 2

/** Runs the rows with these names. Rejects only when the service does not start. */
export async function runDrill({ root, vendorDir, names, say, onRow }: DrillOptions): Promise<Row[]> {
  const tools = new Tools(vendorDir, say)
  const starting = startStage()
  starting.catch(() => undefined)
  const waiting = [...clients, ...sampleRows].filter(({ name }) => names.includes(name))
  const rows: Row[] = []
  const runRows = async (): Promise<void> => {
    for (let client = waiting.shift(); client !== undefined; client = waiting.shift()) {
      const place = { root, tools, folder: await emptyFolder(tools, client.name) }
      const row = await rowOf(client, place, starting)
      rows.push(row)
      onRow(row)
    }
  }
  try {
    await Promise.all(Array.from({ length: ROWS_AT_ONCE }, runRows))
    return rows
  } finally {
    await (await starting).stop()
  }
}

async function rowOf(client: Client, place: Workplace, starting: Promise<Stage>): Promise<Row> {
  const story = async (isGrowing: boolean) => client.story(place, await (await starting).environment(isGrowing))
  const steps = [
    () => client.prepare(place),
    () => client.generate(place),
    () => client.compile(place),
    () => story(false),
    () => story(true)
  ]
  const cells: Record<string, string> = {}
  for (const [index, column] of columns.entries()) {
    const startedAt = Date.now()
    try {
      await steps[index]?.()
      cells[column] = `yes ${((Date.now() - startedAt) / 1_000).toFixed(1)} s`
    } catch (error) {
      const state = error instanceof NotAvailable ? 'not tried' : 'FAILED'
      return {
        ...client,
        cells: { ...cells, [column]: state },
        state,
        problem: `${state}: ${column}: ${messageOf(error)}`
      }
    }
  }
  return { ...client, cells, state: 'ok', problem: null }
}
