/**
 * Whose account at which acquirer the payments of this installation are in, recorded by its first `payments`. With another one
 * by mistake, sales would be captured there, and their refunds fail for good.
 *
 * In the test environment the address is that of a simulator, whose port may change: only the account is compared.
 */
import type { Config } from '../../runtime/config.js'
import type { Check } from '../../runtime/health.js'
import type { Redis } from '../connection/connections.js'
import { keys, shortHash } from '../keys.js'
import { required, storedValue } from '../stored-fields.js'

interface Acquirer {
  /** A fingerprint: the account is a credential. */
  readonly account: string
  readonly transactionUrl: string
  readonly queryUrl: string
}

const storedAcquirer = storedValue<Acquirer>('acquirer', {
  account: [required],
  transactionUrl: [''],
  queryUrl: ['']
})

type Settings = Pick<Config, 'environment' | 'networkMerchantId' | 'networkTransactionUrl' | 'networkQueryUrl'>

/**
 * Rejects with a sentence when the payments of this data are elsewhere. Answers the condition that must go on to hold: an
 * operator may give the installation another account while an old process still runs.
 */
export async function requireOwnAcquirer(redis: Redis, settings: Settings): Promise<Check> {
  const own = acquirerOf(settings)
  const recorded = await redis.set(keys.acquirer(), storedAcquirer.encode(own), 'NX', 'GET')
  const sentence = recorded === null ? undefined : difference(storedAcquirer.decode(recorded), own)
  if (sentence !== undefined) throw new Error(sentence)
  return async () => {
    const text = await redis.get(keys.acquirer())
    return text === null ? undefined : difference(storedAcquirer.decode(text), own)
  }
}

/** The next `payments` that starts records its own. False: none was recorded. */
export async function forgetAcquirer(redis: Redis): Promise<boolean> {
  return (await redis.del(keys.acquirer())) === 1
}

function acquirerOf({ environment, networkMerchantId, networkTransactionUrl, networkQueryUrl }: Settings): Acquirer {
  const account = shortHash(networkMerchantId)
  if (environment === 'test') return { account, transactionUrl: '', queryUrl: '' }
  return { account, transactionUrl: networkTransactionUrl, queryUrl: networkQueryUrl }
}

function difference(recorded: Acquirer, own: Acquirer): string | undefined {
  const settings = [
    recorded.account !== own.account && 'NETWORK_MERCHANT_ID is another account',
    recorded.transactionUrl !== own.transactionUrl && `NETWORK_TRANSACTION_URL was ${recorded.transactionUrl}`,
    recorded.queryUrl !== own.queryUrl && `NETWORK_QUERY_URL was ${recorded.queryUrl}`
  ].filter(part => part !== false)
  if (settings.length === 0) return undefined
  return `The payments of this installation are elsewhere: ${settings.join('; ')}. Correct it. Is the change meant? Stop all \`payments\`, then \`operator installation change-acquirer\` (docs/OPERATIONS.md, Keys).`
}
