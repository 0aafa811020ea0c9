/** `merchant create|list|show|enable|disable` */
import { Command } from 'commander'
import { type Merchant, MerchantStore } from '../../redis/merchants/merchants.js'
import { createWebhookEndpointStore } from '../../redis/webhooks/webhook-endpoints.js'
import { type ActionMaker, type Output, subjectOf } from './action.js'
import type { OperatorConnection } from './connection.js'
import { listKeys } from './key.js'
import { table } from './table.js'

const LABEL_WIDTH = 20

export function merchantCommand(action: ActionMaker): Command {
  const noun = new Command('merchant').description('Who may take payments.')

  noun
    .command('create')
    .description('Add a merchant. It is enabled; make its keys with `key create`.')
    .argument('[name]', 'name of the merchant, 1 to 120 characters')
    .option('--name <name>', 'the same, as an option')
    .option('--json', 'print JSON')
    .action(
      action<{ name?: string }>(async (connection, options, args) => {
        const name = subjectOf(args, options.name, 'name')
        const merchant = await storeOf(connection).createMerchant(name)
        return { json: present(merchant), text: `Merchant ${merchant.merchantId} (${merchant.name}) was created.` }
      })
    )
  noun
    .command('list')
    .description('All merchants, oldest first.')
    .option('--json', 'print JSON')
    .action(action(async connection => listed(await storeOf(connection).listMerchants())))
  noun
    .command('show')
    .description('One merchant: its state, its keys, and where its webhooks go.')
    .argument('[merchant]', 'id of the merchant, see `merchant list`')
    .option('--merchant <id>', 'the same, as an option')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  npm run --silent operator -- merchant show m_2f7k0c9x1q')
    .action(
      action<{ merchant?: string }>((connection, options, args) =>
        shown(connection, subjectOf(args, options.merchant, 'merchant'))
      )
    )

  for (const [verb, isEnabled] of [
    ['enable', true],
    ['disable', false]
  ] as const) {
    noun
      .command(verb)
      .description(isEnabled ? 'Let a merchant take payments again.' : 'Refuse every request of a merchant within 1 s.')
      .argument('[merchant]', 'id of the merchant, see `merchant list`')
      .option('--merchant <id>', 'the same, as an option')
      .option('--json', 'print JSON')
      .action(
        action<{ merchant?: string }>(async (connection, options, args) => {
          const merchantId = subjectOf(args, options.merchant, 'merchant')
          const merchant = await storeOf(connection).setEnabled(merchantId, isEnabled)
          return { json: present(merchant), text: `Merchant ${merchantId} is ${isEnabled ? 'enabled' : 'disabled'}.` }
        })
      )
  }
  return noun
}

function storeOf({ redis, config }: OperatorConnection): MerchantStore {
  return new MerchantStore(redis, config.environment)
}

async function shown(connection: OperatorConnection, merchantId: string): Promise<Output> {
  const { redis, config } = connection
  const store = storeOf(connection)
  const endpoints = createWebhookEndpointStore(redis, config.partitions)
  const [merchant, keys, endpoint, offSinceMs] = await Promise.all([
    store.requireMerchant(merchantId),
    store.listKeys(merchantId),
    endpoints.find(merchantId),
    endpoints.offSince(merchantId)
  ])
  const fields = {
    ...present(merchant),
    webhook_url: endpoint?.url ?? null,
    webhooks_off_since: offSinceMs === null ? null : new Date(offSinceMs).toISOString()
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name.padEnd(LABEL_WIDTH)}${value ?? '-'}`)
  const { json, text } = listKeys(keys)
  return { json: { ...fields, keys: json }, text: `${lines.join('\n')}\n\n${text}` }
}

function listed(merchants: readonly Merchant[]): Output {
  const rows = merchants.map(merchant => [
    merchant.merchantId,
    merchant.isEnabled ? 'enabled' : 'disabled',
    new Date(merchant.createdAtMs).toISOString(),
    merchant.name
  ])
  return {
    json: merchants.map(present),
    text: table(['MERCHANT', 'STATE', 'CREATED', 'NAME'], rows, 'There are no merchants yet. Add one: merchant create.')
  }
}

function present(merchant: Merchant): Record<string, unknown> {
  return {
    merchant_id: merchant.merchantId,
    name: merchant.name,
    enabled: merchant.isEnabled,
    created_at: new Date(merchant.createdAtMs).toISOString()
  }
}
