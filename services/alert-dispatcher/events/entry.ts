import type { InboundEvent } from '#proto/inbound-event.ts'
import { beginningOf } from '#shared/text/cut.ts'
import type { Verdict } from '../conditions/judge.ts'
import { afterVerdict, withdrawn } from '../conditions/transition.ts'
import type { Watched } from '../conditions/watched.ts'
import type { EventEntry } from './record.ts'

interface Now {
  nowMs: number
  newEpisode: () => string
}

/** The facts of an event that decide. */
export type Told = Pick<
  InboundEvent,
  | 'source'
  | 'sourceType'
  | 'status'
  | 'severity'
  | 'title'
  | 'resource'
  | 'body'
  | 'url'
  | 'labels'
  | 'occurredAt'
  | 'endsAt'
>

/** The entry after one more event about it: the newest wins, one breach fires and one clear ends. */
export const afterEvent = (before: EventEntry | undefined, event: Told, now: Now): EventEntry => {
  if (before && isOld(before, event)) return before
  const known = before?.condition ?? undefined
  const next = afterVerdict(known, verdictOf(event), now)
  // Its source knows since when it is so.
  const condition = next && known === undefined ? { ...next, sinceMs: Math.min(event.occurredAt, now.nowMs) } : next
  return {
    source: event.source,
    condition: condition ?? null,
    occurredAtMs: event.occurredAt,
    endsAtMs: event.endsAt,
    seenAtMs: now.nowMs,
  }
}

/** What is over is not begun again by what happened when it ended; what is open is repeated with its beginning. */
const isOld = ({ condition, occurredAtMs }: EventEntry, { status, occurredAt }: Told): boolean =>
  condition === null && status === 'firing' ? occurredAt <= occurredAtMs : occurredAt < occurredAtMs

const verdictOf = (event: Told): Verdict => ({
  rule: ruleOf(event),
  status: event.status === 'resolved' ? 'ok' : event.severity === 'critical' ? 'critical' : 'warning',
  value: null,
  threshold: null,
  offenders: [],
  reason: null,
})

const longest = { id: 160, title: 300, runbook: 4_000 }

/** The event as a rule: what Alertmanager calls it, where there is such a name, so that routes can name it. */
const ruleOf = ({ sourceType, labels, title, resource, body, url }: Told): Watched => {
  const subject = resource === '' || title.includes(resource) ? title : `${title} (${resource})`
  const never = { at: null, isSettled: false }
  return {
    id: beginningOf(`event:${labels.alertname ?? sourceType}`, longest.id),
    title: beginningOf(subject, longest.title),
    runbook: adviceOf({ body, url, labels }),
    unit: 'none',
    measure: 'gauge',
    metric: null,
    operator: '>=',
    warning: never,
    critical: never,
    clearRatio: 1,
    minimumSamples: null,
    allOf: [],
    breaches: 1,
    clears: 1,
    everySweeps: 1,
    once: false,
  }
}

/** What its source says of it, what to do where that is written down, and where to look; a long text gives way to the links. */
const adviceOf = ({ body, url, labels }: Pick<Told, 'body' | 'url' | 'labels'>): string => {
  const runbook = labels.runbook_url
  const links = [...(runbook ? [`Runbook: ${runbook}`] : []), ...(url ? [url] : [])].join('\n\n')
  const room = longest.runbook - links.length - 2
  if (room < 0) return beginningOf(links, longest.runbook)
  return [beginningOf(body, room), links].filter((text) => text !== '').join('\n\n')
}

/** The entry as time alone leaves it: over after its end, or when it was not repeated for so long. */
export const afterTime = (entry: EventEntry, { nowMs, lifeMs }: { nowMs: number; lifeMs: number }): EventEntry => {
  const { condition, endsAtMs, seenAtMs } = entry
  if (condition === null || condition.phase === 'cleared') return entry
  const isOver = (endsAtMs !== null && endsAtMs <= nowMs) || nowMs - seenAtMs >= lifeMs
  return isOver ? { ...entry, condition: withdrawn(condition) ?? null } : entry
}
