import type { InboundEvent } from '#proto/inbound-event.ts'
import { shortenText } from '#shared/text/strings.ts'
import type { RuleEvaluation } from '../conditions/evaluate.ts'
import { applyEvaluation, closeUnmonitoredCondition } from '../conditions/transition.ts'
import type { MonitoredRule } from '../conditions/monitored-rules.ts'
import type { EventEntry } from './event-entry.ts'

interface ApplyContext {
  nowMs: number
  newEpisode: () => string
}

/** The fields of an event that determine its condition. */
export type EventFacts = Pick<
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

/** Returns the entry after an event, unchanged by outdated events. One event is enough to fire or to resolve. */
export const applyEvent = (before: EventEntry | undefined, event: EventFacts, now: ApplyContext): EventEntry => {
  if (before && isOutdatedEvent(before, event)) return before
  const known = before?.condition ?? undefined
  const next = applyEvaluation(known, toEvaluation(event), now)
  // A new condition starts at the time that its source reports, but never in the future.
  const condition = next && known === undefined ? { ...next, sinceMs: Math.min(event.occurredAt, now.nowMs) } : next
  return {
    source: event.source,
    condition: condition ?? null,
    occurredAtMs: event.occurredAt,
    endsAtMs: event.endsAt,
    seenAtMs: now.nowMs,
  }
}

/** Returns whether an event is outdated. Only a firing event newer than the last one reopens a closed condition. */
const isOutdatedEvent = ({ condition, occurredAtMs }: EventEntry, { status, occurredAt }: EventFacts): boolean =>
  condition === null && status === 'firing' ? occurredAt <= occurredAtMs : occurredAt < occurredAtMs

const toEvaluation = (event: EventFacts): RuleEvaluation => ({
  rule: toRule(event),
  status: event.status === 'resolved' ? 'ok' : event.severity === 'critical' ? 'critical' : 'warning',
  value: null,
  threshold: null,
  offenders: [],
  reason: null,
})

const maxLengths = { id: 160, title: 300, runbook: 4_000 }

/** Returns the event as a rule. Its id contains the alert name of Alertmanager, if any, so that routes can match it. */
const toRule = ({ sourceType, labels, title, resource, body, url }: EventFacts): MonitoredRule => {
  const subject = resource === '' || title.includes(resource) ? title : `${title} (${resource})`
  const never = { at: null, isConfigured: false }
  return {
    id: shortenText(`event:${labels.alertname ?? sourceType}`, maxLengths.id),
    title: shortenText(subject, maxLengths.title),
    runbook: buildRunbook({ body, url, labels }),
    unit: 'none',
    measure: 'gauge',
    metric: null,
    sql: null,
    scope: null,
    hostThresholds: [],
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

/** Returns the text of the event, its runbook link and its URL. The text is truncated so that the links fit. */
const buildRunbook = ({ body, url, labels }: Pick<EventFacts, 'body' | 'url' | 'labels'>): string => {
  const runbook = labels.runbook_url
  const links = [...(runbook ? [`Runbook: ${runbook}`] : []), ...(url ? [url] : [])].join('\n\n')
  const room = maxLengths.runbook - links.length - 2
  if (room < 0) return shortenText(links, maxLengths.runbook)
  return [shortenText(body, room), links].filter((text) => text !== '').join('\n\n')
}

/**
 * Returns the entry at the given time. Closes its condition if `endsAtMs` has passed, or if the event was not repeated
 * within `lifetimeMs`.
 */
export const applyExpiry = (
  entry: EventEntry,
  { nowMs, lifetimeMs }: { nowMs: number; lifetimeMs: number },
): EventEntry => {
  const { condition, endsAtMs, seenAtMs } = entry
  if (condition === null || condition.phase === 'cleared') return entry
  const isOver = (endsAtMs !== null && endsAtMs <= nowMs) || nowMs - seenAtMs >= lifetimeMs
  return isOver ? { ...entry, condition: closeUnmonitoredCondition(condition) ?? null } : entry
}
