/** What a thief of the private key can do with a box, without any code of ours. */
import sodium from 'sodium-native'
import type { StoredKey } from '../../vault/key-ring.js'

/** Everything in the box. Throws when the key does not open it. */
export function openWith({ public: publicText = '', private: privateText = '' }: StoredKey, box: Buffer): string[] {
  const sender = box.subarray(0, sodium.crypto_kx_PUBLICKEYBYTES)
  const rest = box.subarray(sender.length)
  const shared = Buffer.alloc(sodium.crypto_kx_SESSIONKEYBYTES)
  const [publicKey, privateKey] = [publicText, privateText].map(text => Buffer.from(text, 'base64')) as [Buffer, Buffer]
  sodium.crypto_kx_server_session_keys(shared, null, publicKey, privateKey, sender)
  const nonce = rest.subarray(0, sodium.crypto_secretbox_NONCEBYTES)
  const sealed = rest.subarray(nonce.length)
  const opened = Buffer.alloc(sealed.length - sodium.crypto_secretbox_MACBYTES)
  if (!sodium.crypto_secretbox_open_easy(opened, sealed, nonce, shared)) {
    throw new Error('the key does not open the box')
  }
  return JSON.parse(opened.toString()) as string[]
}
