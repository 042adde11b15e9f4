import { z } from 'zod'
import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'
import type { Adapter } from './adapter.ts'
import { firstOf, instant, maybeWords, understood } from './fields.ts'
import { severityOf } from './words.ts'

/** The webhook of Datadog: names as of its template, and those that people add from its variables. */
const Webhook = z.looseObject({
  id: maybeWords,
  title: maybeWords,
  body: maybeWords,
  event_type: maybeWords,
  alert_id: maybeWords,
  alert_type: maybeWords,
  alert_transition: maybeWords,
  aggreg_key: maybeWords,
  alert_cycle_key: maybeWords,
  priority: maybeWords,
  hostname: maybeWords,
  link: maybeWords,
  tags: maybeWords,
  date: instant,
  last_updated: instant,
})

const transitions: Readonly<Record<string, EventStatus>> = {
  triggered: 'firing',
  're-triggered': 'firing',
  renotify: 'firing',
  warn: 'firing',
  're-warn': 'firing',
  'no data': 'firing',
  're-no data': 'firing',
  recovered: 'resolved',
}
/** A monitor that is past its alert threshold sends an error. */
const types: Readonly<Record<string, EventSeverity>> = {
  error: 'critical',
  warning: 'warning',
  info: 'info',
  success: 'info',
}

/** What the template that Datadog begins with says of a monitor it says here alone: `[Triggered on {host:db-1}] Disk is full`. */
const headed =
  /^(?:\[(?<priority>P\d)\] )?\[(?<transition>(?:Re-)?(?:Triggered|Warn|No data)|Renotify|Recovered)(?: (?<group>[^\]]*))?\] ?(?<name>.*)$/is

/** The title without the state, by which the end of something is told from its beginning. */
const readTitle = (text: string | null) => {
  const { priority = null, transition = null, group = '', name } = headed.exec(text ?? '')?.groups ?? {}
  return { title: name === undefined ? firstOf(text) : `${name} ${group}`.trim(), transition, priority }
}

const transitionOf = (transition: string | null, type: string | null): EventStatus => {
  const known = transitions[(transition ?? '').toLowerCase()]
  if (known) return known
  if (type === 'success') return 'resolved'
  return type === 'error' || type === 'warning' ? 'firing' : 'info'
}

export const datadog: Adapter = {
  id: 'datadog',
  recognises: ({ event_type: type, org, alert_transition: transition, alert_id: alert, alert_type: kind }) =>
    transition !== undefined ||
    (type !== undefined && org !== undefined) ||
    (alert !== undefined && kind !== undefined),
  read: (sent) => {
    const given = understood(Webhook, sent)
    const { alert_type: type } = given
    const { title, transition: inTitle, priority } = readTitle(given.title)
    const transition = given.alert_transition ?? inTitle
    const source = 'datadog'
    const isWarning = /warn/i.test(transition ?? '')
    return [
      {
        source,
        externalId: given.id,
        identity: given.id === null ? null : [source, given.id, transition ?? ''],
        // The default template names a monitor and its group in the title alone.
        dedupKey: firstOf(given.aggreg_key, given.alert_cycle_key, given.alert_id, inTitle && `title:${title}`) || null,
        status: transitionOf(transition, type),
        severity: isWarning ? 'warning' : (types[type ?? ''] ?? severityOf(given.priority ?? priority)),
        resource: firstOf(given.hostname),
        title,
        body: firstOf(given.body),
        labels: Object.fromEntries(
          Object.entries({ type: given.event_type, tags: given.tags }).flatMap(([name, value]) =>
            value === null ? [] : [[name, value]],
          ),
        ),
        occurredAt: given.date ?? given.last_updated,
        endsAt: null,
        url: given.link,
        raw: sent,
      },
    ]
  },
}
