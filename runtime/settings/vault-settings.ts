/** Settings of the vault: which process gets which keys. */
import { keyFile } from '../setting.js'

export const vaultSettings = {
  vaultPublicKeysFile: keyFile(
    'VAULT_PUBLIC_KEYS_FILE',
    ['api', 'tokens', 'operator'],
    'publicKeyFile',
    'File with the public keys that seal card data.'
  ),
  vaultPrivateKeysFile: keyFile(
    'VAULT_PRIVATE_KEYS_FILE',
    ['payments', 'operator'],
    'secretKeyFile',
    'File with the private keys that open card data.'
  )
} as const
