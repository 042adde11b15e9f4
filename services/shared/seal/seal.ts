import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import type { RotatingKey } from '../config/setting.ts'

const algorithm = 'aes-256-gcm'
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
const keyIdLength = 8

/** Encrypts a text with `about` as additional authenticated data. Format: `<key id>.<nonce, ciphertext and tag>`. */
export const seal = (text: string, about: string, { current }: RotatingKey): string => {
  const key = deriveSealKey(current)
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(about))
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${computeKeyId(key)}.${sealed.toString('base64url')}`
}

/** Decrypts a text; undefined if it was changed, has another `about`, or was encrypted with neither key. */
export const unseal = (sealed: string, about: string, { current, previous }: RotatingKey): string | undefined => {
  const [id, body = '', ...rest] = sealed.split('.')
  const secrets = previous === undefined ? [current] : [current, previous]
  const key = secrets.map(deriveSealKey).find((each) => computeKeyId(each) === id)
  const bytes = Buffer.from(body, 'base64url')
  // Base64 decoding ignores invalid characters, so the text is compared with its canonical form.
  const isWhole = rest.length === 0 && bytes.toString('base64url') === body && bytes.length >= nonceBytes + tagBytes
  return key && isWhole ? decryptBytes(bytes, about, key) : undefined
}

const decryptBytes = (bytes: Buffer, about: string, key: Buffer): string | undefined => {
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(about))
    .setAuthTag(bytes.subarray(-tagBytes))
  try {
    const text = decipher.update(bytes.subarray(nonceBytes, -tagBytes))
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/** Derives a key of fixed length from a secret (HKDF, RFC 5869). */
const deriveSealKey = (secret: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', 'watchhouse sealed connections', keyBytes))

/** Returns an identifier of a key that reveals nothing about the key. */
const computeKeyId = (key: Buffer): string =>
  createHash('sha256').update('key id').update(key).digest('base64url').slice(0, keyIdLength)
