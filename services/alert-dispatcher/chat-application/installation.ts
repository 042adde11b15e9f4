import { z } from 'zod'
import { ChatInstallation } from '#proto/chat-application.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { unseal, seal } from '#shared/seal/seal.ts'

/** The secrets of one installation. */
const Secrets = z.object({
  /** Bot token of the workspace. */
  token: z.string().min(1),
  /** Webhook URL of the channel. */
  url: z.url({ protocol: /^https$/ }),
})
type Secrets = z.infer<typeof Secrets>

/** A stored installation with encrypted secrets. */
export const StoredInstallation = ChatInstallation.extend({ sealed: z.string() })
export type StoredInstallation = z.infer<typeof StoredInstallation>

/** A decrypted installation. */
export type DecryptedInstallation = ChatInstallation & Secrets

/** Returns the associated data of the encryption, which binds secrets to their installation. */
const buildAssociatedData = (id: string): string => JSON.stringify(['chat-application', id])

/** Encrypts the secrets of an installation for storage. */
export const encryptInstallation = (
  { token, url, ...shown }: DecryptedInstallation,
  key: RotatingKey,
): StoredInstallation => ({
  ...shown,
  sealed: seal(JSON.stringify({ token, url }), buildAssociatedData(shown.id), key),
})

/** Decrypts an installation; undefined if the current key cannot decrypt it. */
export const decryptInstallation = (
  { sealed, ...shown }: StoredInstallation,
  key: RotatingKey | undefined,
): DecryptedInstallation | undefined => {
  const text = key && unseal(sealed, buildAssociatedData(shown.id), key)
  return text === undefined ? undefined : { ...shown, ...Secrets.parse(JSON.parse(text)) }
}
