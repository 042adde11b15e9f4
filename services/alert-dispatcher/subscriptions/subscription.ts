import { z } from 'zod'
import { type SubscriptionSecrets, subscriptionFields } from '#proto/subscriptions.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { unseal, seal } from '#shared/seal/seal.ts'
import { isOtherOrigin, createInvalidParameterError } from '../policy/saved-channels/errors.ts'

const EncryptedText = z.string()

/** A stored subscription with encrypted URL and secrets. */
export const StoredSubscription = z.object({
  id: z.string(),
  owner: z.string(),
  ...subscriptionFields,
  url: EncryptedText,
  signingSecret: EncryptedText,
  /** The previous signing secret. It also signs until `untilMs`, so that the receiver can switch to the new one. */
  replaced: z.object({ signingSecret: EncryptedText, untilMs: z.int() }).nullable(),
  createdAtMs: z.int(),
  updatedAtMs: z.int(),
})
export type StoredSubscription = z.infer<typeof StoredSubscription>

/** A decrypted subscription. */
export interface DecryptedSubscription extends Pick<
  StoredSubscription,
  'id' | 'name' | 'enabled' | 'minSeverity' | 'matchRule' | 'matchHost'
> {
  url: string
  signingSecret: string
  replaced: { signingSecret: string; untilMs: number } | null
}

const replacedSecretTtlMs = 24 * 3_600_000

/** Returns the associated data of the encryption, which binds a secret to its subscription and owner. */
const buildAssociatedData = ({ owner, id }: Pick<StoredSubscription, 'owner' | 'id'>, part: 'url' | 'secret'): string =>
  JSON.stringify(['webhook-subscription', owner, id, part])

/** Encrypts a secret for this subscription and owner. */
export const encryptSubscriptionSecret = (
  of: Pick<StoredSubscription, 'owner' | 'id'>,
  part: 'url' | 'secret',
  text: string,
  key: RotatingKey,
): string => seal(text, buildAssociatedData(of, part), key)

type ChangedSecrets = Partial<Pick<StoredSubscription, 'url' | 'signingSecret' | 'replaced'>>

/**
 * Returns the changed secrets. A replaced signing secret keeps signing for a day, unless the URL moves to another
 * server. Throws `invalid` if such a move has no new secret.
 */
export const updateSecrets = (
  stored: StoredSubscription,
  changes: SubscriptionSecrets,
  sealing: { key: RotatingKey; nowMs: number },
): ChangedSecrets & { hasMoved: boolean } => {
  const { url, movedSigningSecret } = changes
  const hasMoved = url !== undefined && isOtherOrigin(decryptSubscription(stored, sealing.key)?.url, url)
  if (!hasMoved) return { ...replaceSecrets(stored, changes, sealing), hasMoved }
  if (movedSigningSecret === undefined)
    throw createInvalidParameterError('url', 'has a different host; set a new signingSecret too')
  const signingSecret = encryptSubscriptionSecret(stored, 'secret', movedSigningSecret, sealing.key)
  return { url: encryptSubscriptionSecret(stored, 'url', url, sealing.key), signingSecret, replaced: null, hasMoved }
}

const replaceSecrets = (
  stored: StoredSubscription,
  { url, signingSecret }: SubscriptionSecrets,
  { key, nowMs }: { key: RotatingKey; nowMs: number },
): ChangedSecrets => ({
  ...(url !== undefined && { url: encryptSubscriptionSecret(stored, 'url', url, key) }),
  ...(signingSecret !== undefined && {
    signingSecret: encryptSubscriptionSecret(stored, 'secret', signingSecret, key),
    replaced: { signingSecret: stored.signingSecret, untilMs: nowMs + replacedSecretTtlMs },
  }),
})

/** Decrypts a subscription; undefined if the current key cannot decrypt it. */
export const decryptSubscription = (
  stored: StoredSubscription,
  key: RotatingKey | undefined,
): DecryptedSubscription | undefined => {
  if (!key) return undefined
  const { id, name, enabled, minSeverity, matchRule, matchHost, replaced } = stored
  const url = unseal(stored.url, buildAssociatedData(stored, 'url'), key)
  const signingSecret = unseal(stored.signingSecret, buildAssociatedData(stored, 'secret'), key)
  if (url === undefined || signingSecret === undefined) return undefined
  const before = replaced && unseal(replaced.signingSecret, buildAssociatedData(stored, 'secret'), key)
  return {
    id,
    name,
    enabled,
    minSeverity,
    matchRule,
    matchHost,
    url,
    signingSecret,
    replaced: before && replaced ? { signingSecret: before, untilMs: replaced.untilMs } : null,
  }
}
