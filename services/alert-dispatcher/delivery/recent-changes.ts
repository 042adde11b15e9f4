import { maxChanges, type ObjectChange, objectKinds } from '#proto/changes.ts'
import type { ServiceClient } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { nameObjectChange } from '#shared/changes/timeline.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { Environment } from '#shared/config/environment.ts'
import { shortenWithEllipsis } from '#shared/text/strings.ts'
import type { Clock } from '#shared/time/clock.ts'
import { createServiceCall } from '../dispatcher-deps.ts'
import { makeLenient } from '../lenient-settings.ts'
import { messageSettings } from '../messages/message-settings.ts'
import type { Notification } from '../notification.ts'

const hourMs = 3_600_000
const timeoutMs = 2_000
/** No changes are read for this time after a failure, so that an outage delays one message instead of each. */
const pauseMs = 30_000
const maxLineLength = 120
const lenientSettings = makeLenient(messageSettings)

interface RecentChangesDeps {
  env: Environment
  query: Pick<ServiceClient<typeof query>, 'objectChanges'>
  clock: Clock
}

/** Returns what changed on the host of an alert in the hour before, one line each. */
export type RecentChangesReader = (notification: Notification) => Promise<readonly string[]>

/** Creates a reader of recent changes. A history that fails or is slow must not delay alerts, so that it returns none. */
export const createRecentChangesReader = ({ env, query, clock }: RecentChangesDeps): RecentChangesReader => {
  let pausedUntilMs = 0
  return async ({ kind, hostKey, sinceMs }) => {
    const { HEALTH_ALERT_CHANGES: max } = parseSettings(lenientSettings, env)
    if (max === 0 || hostKey === null || (kind !== 'fire' && kind !== 'escalate')) return []
    if (clock.elapsedMs() < pausedUntilMs) return []
    const call = createServiceCall({ clock }, timeoutMs, AbortSignal.timeout(timeoutMs))
    const request = { hostKeys: [hostKey], fromMs: Math.max(0, sinceMs - hourMs), toMs: sinceMs + 1, limit: maxChanges }
    try {
      const { changes } = await query.objectChanges({ ...request, kinds: [...objectKinds] }, call)
      return selectChanges(changes, max).map(formatChange)
    } catch {
      pausedUntilMs = clock.elapsedMs() + pauseMs
      return []
    }
  }
}

/** Returns the latest changes. Those of the workload come last, because they are rather effects than causes. */
const selectChanges = (changes: readonly ObjectChange[], max: number): ObjectChange[] => {
  const isEffect = ({ kind }: ObjectChange): boolean => kind === 'query-pattern' || kind === 'workload'
  const newestFirst = changes.toSorted((one, other) => other.atMs - one.atMs)
  return [...newestFirst.filter((change) => !isEffect(change)), ...newestFirst.filter(isEffect)].slice(0, max)
}

const formatChange = (change: ObjectChange): string => {
  const time = new Date(change.atMs).toISOString().slice(11, 16)
  const summary = change.kind === 'restart' || change.summary === '' ? '' : ` (${change.summary})`
  return shortenWithEllipsis(`${time} UTC ${nameObjectChange(change)}${summary}`, maxLineLength)
}
