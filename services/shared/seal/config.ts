import type { Environment } from '../config/environment.ts'
import { type RotatingKey, type Setting, parseSettings, signingKeySetting } from '../config/setting.ts'

/** Minimum length of an encryption key, in characters. */
export const minKeyLength = 16

/** Returns a setting for the key that encrypts stored secrets; short keys are rejected. */
export const encryptionKeySetting = (doc: string): Setting<RotatingKey | undefined> => {
  const setting = signingKeySetting(doc)
  return {
    ...setting,
    allowed: `${setting.allowed}; at least ${minKeyLength} characters`,
    parse: (current, previous) => {
      const tooShort = [current, previous].some((key) => key !== undefined && key.length < minKeyLength)
      if (tooShort)
        throw new Error(`must have at least ${minKeyLength} characters, like the output of openssl rand -base64 32`)
      return setting.parse(current, previous)
    },
  }
}

/** Settings of the encryption of stored secrets. */
export const sealSettings = {
  SVC_USER_CONNECTIONS_ENCRYPTION_KEY: encryptionKeySetting(
    'Encryption key for stored secrets, such as user connections and channel secrets. Without it these cannot be saved.',
  ),
} as const

/** Returns the encryption key, which may be replaced while the process runs; undefined if none is configured. */
export const readSealKey = (env: Environment): RotatingKey | undefined =>
  parseSettings(sealSettings, env).SVC_USER_CONNECTIONS_ENCRYPTION_KEY
