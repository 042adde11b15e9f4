import { z } from 'zod'
import { type SubscriptionSecrets, subscriptionFields } from '#proto/subscriptions.ts'
import type { RotatingKey } from '#shared/config/setting.ts'
import { open, seal } from '#shared/seal/seal.ts'
import { isOtherOrigin, wrong } from '../policy/saved/refusals.ts'

const Sealed = z.string()

/** A subscription as the database has it: its address and its secrets encrypted. */
export const Kept = z.object({
  id: z.string(),
  owner: z.string(),
  ...subscriptionFields,
  url: Sealed,
  signingSecret: Sealed,
  /** The secret before, which signs too for a while, so that a receiver may change over. */
  replaced: z.object({ signingSecret: Sealed, untilMs: z.int() }).nullable(),
  createdAtMs: z.int(),
  updatedAtMs: z.int(),
})
export type Kept = z.infer<typeof Kept>

/** A subscription that can be sent to. */
export interface OpenSubscription extends Pick<
  Kept,
  'id' | 'name' | 'enabled' | 'minSeverity' | 'matchRule' | 'matchHost'
> {
  url: string
  signingSecret: string
  replaced: { signingSecret: string; untilMs: number } | null
}

const replacedForMs = 24 * 3_600_000

/** What a secret is bound to: it opens for no other subscription and no other owner. */
const aboutOf = ({ owner, id }: Pick<Kept, 'owner' | 'id'>, part: 'url' | 'secret'): string =>
  JSON.stringify(['webhook-subscription', owner, id, part])

/** A secret as it is kept, for this subscription and this owner only. */
export const sealed = (
  of: Pick<Kept, 'owner' | 'id'>,
  part: 'url' | 'secret',
  text: string,
  key: RotatingKey,
): string => seal(text, aboutOf(of, part), key)

type ChangedSecrets = Partial<Pick<Kept, 'url' | 'signingSecret' | 'replaced'>>

/**
 * What changes of a subscription with the secrets that are given. A signing secret that is replaced signs for another day, but
 * nothing that goes to another server: no secret of before signs that. Throws `invalid` when such an address brings no new secret.
 */
export const changedSecrets = (
  kept: Kept,
  given: SubscriptionSecrets,
  sealing: { key: RotatingKey; nowMs: number },
): ChangedSecrets & { hasMoved: boolean } => {
  const { url, movedSigningSecret } = given
  const hasMoved = url !== undefined && isOtherOrigin(openKept(kept, sealing.key)?.url, url)
  if (!hasMoved) return { ...replacedSecrets(kept, given, sealing), hasMoved }
  if (movedSigningSecret === undefined) throw wrong('url', 'leads to another server, which needs a new signing secret')
  const signingSecret = sealed(kept, 'secret', movedSigningSecret, sealing.key)
  return { url: sealed(kept, 'url', url, sealing.key), signingSecret, replaced: null, hasMoved }
}

const replacedSecrets = (
  kept: Kept,
  { url, signingSecret }: SubscriptionSecrets,
  { key, nowMs }: { key: RotatingKey; nowMs: number },
): ChangedSecrets => ({
  ...(url !== undefined && { url: sealed(kept, 'url', url, key) }),
  ...(signingSecret !== undefined && {
    signingSecret: sealed(kept, 'secret', signingSecret, key),
    replaced: { signingSecret: kept.signingSecret, untilMs: nowMs + replacedForMs },
  }),
})

/** The subscription, readable; undefined when the present key does not open it. */
export const openKept = (kept: Kept, key: RotatingKey | undefined): OpenSubscription | undefined => {
  if (!key) return undefined
  const { id, name, enabled, minSeverity, matchRule, matchHost, replaced } = kept
  const url = open(kept.url, aboutOf(kept, 'url'), key)
  const signingSecret = open(kept.signingSecret, aboutOf(kept, 'secret'), key)
  if (url === undefined || signingSecret === undefined) return undefined
  const before = replaced && open(replaced.signingSecret, aboutOf(kept, 'secret'), key)
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
