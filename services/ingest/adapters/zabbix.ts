import { z } from 'zod'
import type { EventSeverity } from '#proto/inbound-event.ts'
import type { Adapter } from './adapter.ts'
import { draftOfFields } from './draft.ts'
import { firstNonBlank, instant, optionalText, parseFields, words } from './fields.ts'
import { parseSeverity } from './words.ts'

/** Severities by Zabbix number: not classified, information, warning, average, high, disaster. */
const severities: readonly EventSeverity[] = ['info', 'info', 'warning', 'warning', 'critical', 'critical']
const severityOfWord = (number: string | null, word: string | null): EventSeverity | null =>
  (number !== null && /^[0-5]$/.test(number) ? severities[Number(number)] : undefined) ??
  (/^high$/i.test(word ?? '') ? 'critical' : /^not classified$/i.test(word ?? '') ? 'info' : parseSeverity(word))

const Webhook = z.looseObject({
  event_id: words,
  event_value: z.enum(['0', '1'], 'must be 1 for a problem or 0 for a recovery'),
  event_update_status: optionalText,
  event_update_action: optionalText,
  event_name: optionalText,
  alert_subject: optionalText,
  alert_message: optionalText,
  event_opdata: optionalText,
  event_nseverity: optionalText,
  event_severity: optionalText,
  host_name: optionalText,
  host_ip: optionalText,
  trigger_id: optionalText,
  trigger_description: optionalText,
  event_url: optionalText,
  zabbix_url: optionalText,
})

/** A Zabbix webhook media type, with the parameter names of its macros. A recovery has the id of its problem. */
export const zabbix: Adapter = {
  id: 'zabbix',
  recognizes: ({ event_id: id, event_value: value }) => id !== undefined && value !== undefined,
  read: (sent) => {
    const event = parseFields(Webhook, { ...sent, event_value: String(sent.event_value) })
    const isAcknowledged = event.event_update_status === '1' && /acknowledged/i.test(event.event_update_action ?? '')
    const page =
      event.zabbix_url && event.trigger_id
        ? `${event.zabbix_url.replace(/\/$/, '')}/tr_events.php?triggerid=${event.trigger_id}&eventid=${event.event_id}`
        : null
    return [
      draftOfFields('zabbix', sent, {
        externalId: event.event_id,
        dedupKey: event.event_id,
        status: event.event_value === '0' ? 'resolved' : isAcknowledged ? 'acknowledged' : 'firing',
        severity: severityOfWord(event.event_nseverity, event.event_severity),
        resource: firstNonBlank(event.host_name, event.host_ip),
        title: firstNonBlank(event.event_name, event.alert_subject),
        body: firstNonBlank(event.alert_message, event.event_opdata, event.trigger_description),
        labels: { trigger: event.trigger_id },
        url: firstNonBlank(event.event_url, page) || null,
      }),
    ]
  },
}

const Streamed = z.looseObject({
  eventid: words,
  p_eventid: optionalText,
  value: z.literal([0, 1]),
  clock: instant,
  name: optionalText,
  severity: optionalText,
  hosts: z.array(z.looseObject({ host: optionalText, name: optionalText })).nullish(),
  tags: z.array(z.looseObject({ tag: optionalText, value: optionalText })).nullish(),
})

/** An event as a Zabbix connector streams it; a recovery names its problem by `p_eventid`. */
export const zabbixConnector: Adapter = {
  id: 'zabbix',
  recognizes: ({ eventid, value, clock }) => eventid !== undefined && value !== undefined && clock !== undefined,
  read: (sent) => {
    const event = parseFields(Streamed, sent)
    return [
      draftOfFields('zabbix', sent, {
        externalId: event.eventid,
        identity: ['zabbix', event.eventid],
        dedupKey: event.p_eventid ?? event.eventid,
        status: event.value === 0 ? 'resolved' : 'firing',
        severity: severityOfWord(event.severity, null),
        resource: (event.hosts ?? []).map(({ name, host }) => firstNonBlank(name, host)).join(', '),
        title: firstNonBlank(event.name),
        labels: Object.fromEntries((event.tags ?? []).map(({ tag, value }) => [firstNonBlank(tag), value])),
        occurredAt: event.clock,
      }),
    ]
  },
}
