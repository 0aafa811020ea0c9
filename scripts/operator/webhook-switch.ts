/** `webhook disable|enable`: for the endpoint that its merchant has abandoned. */
import type { Command } from 'commander'
import { MerchantStore } from '../../redis/merchants/merchants.js'
import { createWebhookEndpointStore, type WebhookEndpointStore } from '../../redis/webhooks/webhook-endpoints.js'
import type { OperatorConnection } from './connection.js'
import type { Output, VerbMaker } from './verb.js'

export function addSwitchVerbs(noun: Command, verb: VerbMaker): void {
  for (const [name, change, does] of [
    ['disable', 'for_ever', 'Neither send nor keep the events of a merchant, until it registers its endpoint again.'],
    ['enable', 'can_be_undone', 'Take a disable back: send what happens from now on.']
  ] as const) {
    verb(
      noun.command(name),
      { does, subject: ['merchant', 'id of the merchant'], change },
      (connection, _, merchantId) => switched(connection, merchantId, name)
    )
  }
}

async function switched(
  connection: OperatorConnection,
  merchantId: string,
  verb: 'disable' | 'enable'
): Promise<Output> {
  await requireMerchant(connection, merchantId)
  const switches = switchesOf(connection)
  if (verb === 'disable') await switches.switchOff(merchantId, Date.now())
  else await switches.switchOn(merchantId)
  const text =
    verb === 'disable'
      ? `Webhooks of ${merchantId} are switched off: events are neither sent nor kept, until it registers its endpoint again (PUT /v1/webhook-endpoint). What waits goes when it is due, within a day; what is undeliverable stays until it is too old, or \`webhook discard ${merchantId}\`.`
      : `Webhooks of ${merchantId} are switched on.`
  return { json: { merchant_id: merchantId, webhooks_enabled: verb === 'enable' }, text }
}

/** A line for each of these merchants whose webhooks are switched off. */
export async function switchedOffLines(
  connection: OperatorConnection,
  merchantIds: readonly string[]
): Promise<string[]> {
  const switches = switchesOf(connection)
  const lines: string[] = []
  for (const merchantId of merchantIds) {
    const sinceMs = await switches.offSince(merchantId)
    if (sinceMs === null) continue
    lines.push(`Webhooks of ${merchantId} are switched off since ${new Date(sinceMs).toISOString()} (webhook enable).`)
  }
  return lines
}

/** Rejects when there is no such merchant: a typing error must not look like success. */
export async function requireMerchant({ redis, config }: OperatorConnection, merchantId: string): Promise<void> {
  if ((await new MerchantStore(redis, config.environment).findMerchant(merchantId)) !== null) return
  throw new Error(`There is no merchant ${merchantId}. \`merchant list\` shows all.`)
}

function switchesOf({ redis, config }: OperatorConnection): WebhookEndpointStore {
  return createWebhookEndpointStore(redis, config.partitions)
}
