import { z } from 'zod'
import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'
import type { EventAdapter } from './adapter.ts'
import { firstNonBlank, timestampField, optionalTextField, parseFields } from './fields.ts'
import { parseSeverity } from './severity-status.ts'

/** The webhook of Datadog: fields of the default template, and variables that users commonly add. */
const Webhook = z.looseObject({
  id: optionalTextField,
  title: optionalTextField,
  body: optionalTextField,
  event_type: optionalTextField,
  alert_id: optionalTextField,
  alert_type: optionalTextField,
  alert_transition: optionalTextField,
  aggreg_key: optionalTextField,
  alert_cycle_key: optionalTextField,
  priority: optionalTextField,
  hostname: optionalTextField,
  link: optionalTextField,
  tags: optionalTextField,
  date: timestampField,
  last_updated: timestampField,
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
/** A monitor above its alert threshold has the type `error`. */
const types: Readonly<Record<string, EventSeverity>> = {
  error: 'critical',
  warning: 'warning',
  info: 'info',
  success: 'info',
}

/** The default template contains the state only in its title: `[Triggered on {host:db-1}] Disk is full`. */
const titlePattern =
  /^(?:\[(?<priority>P\d)\] )?\[(?<transition>(?:Re-)?(?:Triggered|Warn|No data)|Renotify|Recovered)(?: (?<group>[^\]]*))?\] ?(?<name>.*)$/is

/** Splits a title into state, priority and the rest, which is the same when the monitor fires and recovers. */
const readTitle = (text: string | null) => {
  const { priority = null, transition = null, group = '', name } = titlePattern.exec(text ?? '')?.groups ?? {}
  return { title: name === undefined ? firstNonBlank(text) : `${name} ${group}`.trim(), transition, priority }
}

const parseTransition = (transition: string | null, type: string | null): EventStatus => {
  const known = transitions[(transition ?? '').toLowerCase()]
  if (known) return known
  if (type === 'success') return 'resolved'
  return type === 'error' || type === 'warning' ? 'firing' : 'info'
}

/** The webhook of Datadog, with the default template or additional variables. */
export const datadog: EventAdapter = {
  id: 'datadog',
  recognizes: ({ event_type: type, org, alert_transition: transition, alert_id: alert, alert_type: kind }) =>
    transition !== undefined ||
    (type !== undefined && org !== undefined) ||
    (alert !== undefined && kind !== undefined),
  read: (sent) => {
    const fields = parseFields(Webhook, sent)
    const { alert_type: type } = fields
    const { title, transition: inTitle, priority } = readTitle(fields.title)
    const transition = fields.alert_transition ?? inTitle
    const source = 'datadog'
    const isWarning = /warn/i.test(transition ?? '')
    return [
      {
        source,
        externalId: fields.id,
        identity: fields.id === null ? null : [source, fields.id, transition ?? ''],
        // The default template contains the names of the monitor and its group only in the title.
        dedupKey:
          firstNonBlank(fields.aggreg_key, fields.alert_cycle_key, fields.alert_id, inTitle && `title:${title}`) ||
          null,
        status: parseTransition(transition, type),
        severity: isWarning ? 'warning' : (types[type ?? ''] ?? parseSeverity(fields.priority ?? priority)),
        resource: firstNonBlank(fields.hostname),
        title,
        body: firstNonBlank(fields.body),
        labels: Object.fromEntries(
          Object.entries({ type: fields.event_type, tags: fields.tags }).flatMap(([name, value]) =>
            value === null ? [] : [[name, value]],
          ),
        ),
        occurredAt: fields.date ?? fields.last_updated,
        endsAt: null,
        url: fields.link,
        raw: sent,
      },
    ]
  },
}
