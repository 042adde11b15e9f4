import { z } from 'zod'
import type { EventSeverity } from '#proto/inbound-event.ts'
import type { EventAdapter } from './adapter.ts'
import { createDraft } from './draft.ts'
import { firstNonBlank, timestampField, optionalTextField, parseFields, textField } from './fields.ts'
import { parseSeverity } from './severity-status.ts'

/** Severities by Zabbix number: not classified, information, warning, average, high, disaster. */
const severities: readonly EventSeverity[] = ['info', 'info', 'warning', 'warning', 'critical', 'critical']
const parseZabbixSeverity = (number: string | null, word: string | null): EventSeverity | null =>
  (number !== null && /^[0-5]$/.test(number) ? severities[Number(number)] : undefined) ??
  (/^high$/i.test(word ?? '') ? 'critical' : /^not classified$/i.test(word ?? '') ? 'info' : parseSeverity(word))

const Webhook = z.looseObject({
  event_id: textField,
  event_value: z.enum(['0', '1'], 'must be 1 for a problem or 0 for a recovery'),
  event_update_status: optionalTextField,
  event_update_action: optionalTextField,
  event_name: optionalTextField,
  alert_subject: optionalTextField,
  alert_message: optionalTextField,
  event_opdata: optionalTextField,
  event_nseverity: optionalTextField,
  event_severity: optionalTextField,
  host_name: optionalTextField,
  host_ip: optionalTextField,
  trigger_id: optionalTextField,
  trigger_description: optionalTextField,
  event_url: optionalTextField,
  zabbix_url: optionalTextField,
})

/** The webhook media type of Zabbix, with parameters named after macros. A recovery has the event id of its problem. */
export const zabbix: EventAdapter = {
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
      createDraft('zabbix', sent, {
        externalId: event.event_id,
        dedupKey: event.event_id,
        status: event.event_value === '0' ? 'resolved' : isAcknowledged ? 'acknowledged' : 'firing',
        severity: parseZabbixSeverity(event.event_nseverity, event.event_severity),
        resource: firstNonBlank(event.host_name, event.host_ip),
        title: firstNonBlank(event.event_name, event.alert_subject),
        body: firstNonBlank(event.alert_message, event.event_opdata, event.trigger_description),
        labels: { trigger: event.trigger_id },
        url: firstNonBlank(event.event_url, page) || null,
      }),
    ]
  },
}

const StreamedEvent = z.looseObject({
  eventid: textField,
  p_eventid: optionalTextField,
  value: z.literal([0, 1]),
  clock: timestampField,
  name: optionalTextField,
  severity: optionalTextField,
  hosts: z.array(z.looseObject({ host: optionalTextField, name: optionalTextField })).nullish(),
  tags: z.array(z.looseObject({ tag: optionalTextField, value: optionalTextField })).nullish(),
})

/** An event as a Zabbix connector streams it; a recovery names its problem by `p_eventid`. */
export const zabbixConnectorAdapter: EventAdapter = {
  id: 'zabbix',
  recognizes: ({ eventid, value, clock }) => eventid !== undefined && value !== undefined && clock !== undefined,
  read: (sent) => {
    const event = parseFields(StreamedEvent, sent)
    return [
      createDraft('zabbix', sent, {
        externalId: event.eventid,
        identity: ['zabbix', event.eventid],
        dedupKey: event.p_eventid ?? event.eventid,
        status: event.value === 0 ? 'resolved' : 'firing',
        severity: parseZabbixSeverity(event.severity, null),
        resource: (event.hosts ?? []).map(({ name, host }) => firstNonBlank(name, host)).join(', '),
        title: firstNonBlank(event.name),
        labels: Object.fromEntries((event.tags ?? []).map(({ tag, value }) => [firstNonBlank(tag), value])),
        occurredAt: event.clock,
      }),
    ]
  },
}
