/** Errors about sealed data. Messages name ids and files, never a key and never what was sealed. */

/**
 * - `key_file`: a key file is missing, unreadable or damaged
 * - `unknown_key`: the box was sealed with a key that this key ring does not have
 * - `damaged_box`: the text is no box, or was changed after it was sealed
 * - `wrong_context`: the box is intact, but was sealed as another kind or for another record
 * - `locked`: another process is changing the key files, or died while doing so
 * - `key_in_use`: the key cannot be removed from the ring, or not yet
 */
export type VaultErrorCode = 'key_file' | 'unknown_key' | 'damaged_box' | 'wrong_context' | 'locked' | 'key_in_use'

/** Thrown by everything in vault/. Carries no `cause`: parsers quote their input, which is a secret here. */
export class VaultError extends Error {
  readonly code: VaultErrorCode

  constructor(code: VaultErrorCode, message: string) {
    super(message)
    this.name = 'VaultError'
    this.code = code
  }
}
