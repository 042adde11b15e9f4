import { type Setting, type RotatingKey, signingKey } from '#shared/config/setting.ts'

const shortest = 16

/** A key that nobody guesses by trying. */
const encryptionKey = (doc: string): Setting<RotatingKey | undefined> => {
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

/** What keeping other people's connections obeys. */
export const connectionSettings = {
  SVC_USER_CONNECTIONS_ENCRYPTION_KEY: encryptionKey(
    'Encrypts whatever is stored encrypted, such as user connections; without it nothing of that kind is saved.',
  ),
} as const
