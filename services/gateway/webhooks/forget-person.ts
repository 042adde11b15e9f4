import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { ownerOf } from '../connections/owner.ts'
import type { Gateway } from '../gateway.ts'

/** How much of somebody there was, by what it was. */
export type Forgotten = Record<'keys' | 'connections' | 'subscriptions' | 'conversations' | 'pageViews', number>

/** Lets a subject in no more, and removes all that is theirs. Done again it finds nothing left. */
export const forgetPerson = async (gateway: Gateway, call: Call, subject: string): Promise<Forgotten> => {
  const { denied, keys, connections } = gateway
  const identity = { kind: 'user', subject, features: 'all' } as const
  const theirs = { ...call, identity }
  // First of all, so that nothing of theirs comes back meanwhile.
  await denied.subject(subject)
  return {
    keys: await revokeKeys(keys, subject),
    connections: await connections.forget(identity),
    subscriptions: await ifKept(() => endSubscriptions(gateway, ownerOf(identity), theirs)),
    conversations: await ifKept(async () => (await gateway.agent.removeConversations({}, theirs)).removed),
    pageViews: await ifKept(() => gateway.pageViews.forget(subject, call)),
  }
}

const revokeKeys = async (keys: Gateway['keys'], subject: string): Promise<number> => {
  const held = (await keys.list(subject)).filter(({ revokedAtMs }) => revokedAtMs === null)
  for (const { claims } of held) await keys.revoke(claims.jti, subject)
  return held.length
}

const endSubscriptions = async ({ alerts }: Gateway, owner: string, call: Call): Promise<number> => {
  const held = await alerts.subscriptions({ owner }, call)
  for (const { id } of held) await alerts.removeSubscription({ owner, id }, call)
  return held.length
}

/** An installation that keeps nothing of the kind, or does not run who would, has nothing to remove. */
const ifKept = async (remove: () => Promise<number>): Promise<number> => {
  try {
    return await remove()
  } catch (error) {
    if (error instanceof ServiceError && (error.code === 'not-implemented' || error.details?.running === false))
      return 0
    throw error
  }
}
