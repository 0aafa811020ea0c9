/** `merchant create|list|show|enable|disable` */
import { Command } from 'commander'
import { type Merchant, MerchantStore } from '../../redis/merchants/merchants.js'
import { createWebhookEndpointStore } from '../../redis/webhooks/webhook-endpoints.js'
import type { OperatorConnection } from './connection.js'
import { listKeys } from './key.js'
import { table } from './table.js'
import type { Output, VerbMaker } from './verb.js'

const LABEL_WIDTH = 20

export function merchantCommand(verb: VerbMaker): Command {
  const noun = new Command('merchant').description('Who may take payments.')
  const subject = ['merchant', 'id of the merchant, see `merchant list`'] as const
  verb(
    noun.command('create'),
    {
      does: 'Add a merchant. It is enabled; make its keys with `key create`.',
      subject: ['name', 'name of the merchant, 1 to 120 characters'],
      change: 'can_be_undone'
    },
    async (connection, _, name) => {
      const merchant = await storeOf(connection).createMerchant(name)
      const { merchantId } = merchant
      return {
        json: present(merchant),
        text: `Merchant ${merchantId} (${merchant.name}) was created.`,
        made: merchantId
      }
    }
  )
  verb(noun.command('list'), { does: 'All merchants, oldest first.' }, async connection =>
    listed(await storeOf(connection).listMerchants())
  )
  verb(
    noun.command('show'),
    { does: 'One merchant: its state, its keys, and where its webhooks go.', subject },
    (connection, _, merchantId) => shown(connection, merchantId)
  ).addHelpText('after', '\nExample:\n  npm run --silent operator -- merchant show m_2f7k0c9x1q')
  for (const [name, isEnabled, does] of [
    ['enable', true, 'Let a merchant take payments again.'],
    ['disable', false, 'Refuse every request of a merchant within 1 s.']
  ] as const) {
    verb(noun.command(name), { does, subject, change: 'can_be_undone' }, async (connection, _, merchantId) => {
      const merchant = await storeOf(connection).setEnabled(merchantId, isEnabled)
      return { json: present(merchant), text: `Merchant ${merchantId} is ${isEnabled ? 'enabled' : 'disabled'}.` }
    })
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
