/** Settings of the vault: which process gets which keys. */
import { text } from '../setting.js'

export const vaultSettings = {
  vaultPublicKeysFile: text(
    'VAULT_PUBLIC_KEYS_FILE',
    '',
    'File with the public keys that seal card data (`api`, `tokens`).'
  ),
  vaultPrivateKeysFile: text(
    'VAULT_PRIVATE_KEYS_FILE',
    '',
    'File with the private keys that open card data (`payments` only).'
  )
} as const
