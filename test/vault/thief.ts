/** What a thief of the private key can do with a box, without any code of ours. */
import sodium from 'sodium-native'
import type { StoredKey } from '../../vault/key-ring.js'

/** Everything in the box. Throws when the key does not open it. */
export function openWith({ public: publicText = '', private: privateText = '' }: StoredKey, sealed: Buffer): string[] {
  const opened = Buffer.alloc(sealed.length - sodium.crypto_box_SEALBYTES)
  const publicKey = Buffer.from(publicText, 'base64')
  if (!sodium.crypto_box_seal_open(opened, sealed, publicKey, Buffer.from(privateText, 'base64'))) {
    throw new Error('the key does not open the box')
  }
  return JSON.parse(opened.toString()) as string[]
}
