import type { Environment } from '../config/environment.ts'
import { type RotatingKey, type Setting, read, signingKey } from '../config/setting.ts'

const shortest = 16

/** A key that encrypts what is stored, long enough that nobody guesses it by trying. */
export const encryptionKey = (doc: string): Setting<RotatingKey | undefined> => {
  const setting = signingKey(doc)
  return {
    ...setting,
    allowed: `${setting.allowed}; at least ${shortest} characters`,
    parse: (current, previous) => {
      const tooShort = [current, previous].some((key) => key !== undefined && key.length < shortest)
      if (tooShort)
        throw new Error(`must have at least ${shortest} characters, like the output of openssl rand -base64 32`)
      return setting.parse(current, previous)
    },
  }
}

/** What keeping other people's secrets obeys. */
export const sealSettings = {
  SVC_USER_CONNECTIONS_ENCRYPTION_KEY: encryptionKey(
    'Encrypts whatever is stored encrypted, such as user connections and secrets of channels; without it nothing of that kind is saved.',
  ),
} as const

/** The operator's key, read anew each time since it may be replaced while we run; absent where nothing secret is kept. */
export const sealKey = (env: Environment): RotatingKey | undefined =>
  read(sealSettings, env).SVC_USER_CONNECTIONS_ENCRYPTION_KEY
