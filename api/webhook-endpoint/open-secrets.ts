/** The key file of webhook secrets in `api`, which needs it for registrations alone. */
import type { Redis } from '../../redis/connection/connections.js'
import { requireOwnKeys } from '../../redis/installation/key-record.js'
import type { ProcessContext } from '../../runtime/lifecycle.js'
import { VaultError } from '../../vault/vault-error.js'
import type { KeyHolder } from '../../vault/watched-keys.js'
import { loadWebhookSecrets, type WebhookSecrets } from '../../vault/webhook-secrets.js'
import { ServiceError } from '../http/service-error.js'

/** With a file that can't be read at the start, registrations are answered 503 and /readyz warns. */
export async function openWebhookSecrets(
  redis: Redis,
  context: ProcessContext
): Promise<WebhookSecrets & Pick<KeyHolder, 'keyIds'>> {
  const file = context.config.webhookKeysFile
  try {
    const secrets = loadWebhookSecrets(file)
    await requireOwnKeys(redis, 'webhook', secrets, context, { isFirst: true, isOptional: true })
    return secrets
  } catch (error) {
    if (!(error instanceof VaultError)) throw error
    context.log.error({ err: error }, 'webhook endpoints cannot be registered until this process has its key file')
    const warning = `${error.message} Registrations of webhook endpoints are answered 503, all else goes on. Restore the file, and restart this process.`
    context.onWarning('webhook keys', () => warning)
    const refuse = (): never => {
      throw new ServiceError('service_unavailable', { cause: error })
    }
    return { secretOf: refuse, keyIds: refuse }
  }
}
