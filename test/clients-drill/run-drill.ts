/** One row after the other: what a client does, until it fails. */
import { messageOf } from '../../runtime/message-of.js'
import { type Client, clients, emptyFolder, type Workplace } from './clients.js'
import { sampleRows } from './sample-rows.js'
import { type Stage, startStage } from './stage.js'
import { Tools } from './tools.js'

export const columns = ['generated', 'compiled', 'story', 'story behind the growing proxy'] as const

export interface Row {
  readonly name: string
  readonly version: string
  readonly cells: Readonly<Partial<Record<(typeof columns)[number], string>>>
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

/** Runs the rows with these names. Rejects only when the service does not start. */
export async function runDrill({ root, vendorDir, names, say, onRow }: DrillOptions): Promise<Row[]> {
  const tools = new Tools(vendorDir, say)
  const stage = await startStage()
  try {
    const rows: Row[] = []
    for (const client of [...clients, ...sampleRows].filter(({ name }) => names.includes(name))) {
      const place = { root, tools, folder: await emptyFolder(tools, client.name) }
      const row = await rowOf(client, place, stage)
      rows.push(row)
      onRow(row)
    }
    return rows
  } finally {
    await stage.stop()
  }
}

async function rowOf(client: Client, place: Workplace, stage: Stage): Promise<Row> {
  const steps = [
    () => client.generate(place),
    () => client.compile(place),
    async () => client.story(place, await stage.environment(false)),
    async () => client.story(place, await stage.environment(true))
  ]
  const cells: Record<string, string> = {}
  for (const [index, column] of columns.entries()) {
    const startedAt = Date.now()
    try {
      await steps[index]?.()
      cells[column] = `yes ${((Date.now() - startedAt) / 1_000).toFixed(1)} s`
    } catch (error) {
      return { ...client, cells: { ...cells, [column]: 'NO' }, problem: `${column}: ${messageOf(error)}` }
    }
  }
  return { ...client, cells, problem: null }
}
