import { delay } from '../../runtime/delay.js'
import { advance } from './earlier-payments.js'

/** A command that left its stream by hand is missed after 15 min at most. Before that, what was sent must be over its horizon. */
export async function passLostCommands(dataDir: string, horizonMs: number): Promise<void> {
  await delay(horizonMs)
  await advance(dataDir, '15m')
}
