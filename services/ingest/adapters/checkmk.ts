import { z } from 'zod'
import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'
import type { EventAdapter, JsonObject } from './adapter.ts'
import { createDraft } from './draft.ts'
import { firstNonBlank, timestampField, optionalTextField, parseFields } from './fields.ts'

const severities: Readonly<Record<string, EventSeverity>> = {
  CRITICAL: 'critical',
  DOWN: 'critical',
  WARNING: 'warning',
  UNKNOWN: 'warning',
  UNREACHABLE: 'warning',
  OK: 'info',
  UP: 'info',
}
const statuses: Readonly<Record<string, EventStatus>> = {
  PROBLEM: 'firing',
  RECOVERY: 'resolved',
  ACKNOWLEDGEMENT: 'acknowledged',
}

const Context = z.looseObject({
  NOTIFICATIONTYPE: z.string().min(1),
  HOSTNAME: z.string().min(1),
  OMD_SITE: optionalTextField,
  HOSTSTATE: optionalTextField,
  HOSTOUTPUT: optionalTextField,
  SERVICEDESC: optionalTextField,
  SERVICESTATE: optionalTextField,
  SERVICEOUTPUT: optionalTextField,
  LONGSERVICEOUTPUT: optionalTextField,
  MICROTIME: timestampField,
  NOTIFICATIONCOMMENT: optionalTextField,
})

/** Prefix of the context variables in the environment of a notification script. */
const prefix = 'NOTIFY_'
const removePrefixes = (sent: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name.startsWith(prefix) ? name.slice(prefix.length) : name, value]),
  )

/** The context of a Checkmk notification: a JSON object of its variables. */
export const checkmk: EventAdapter = {
  id: 'checkmk',
  recognizes: (sent) => {
    const { NOTIFICATIONTYPE, HOSTNAME } = removePrefixes(sent)
    return NOTIFICATIONTYPE !== undefined && HOSTNAME !== undefined
  },
  read: (sent) => {
    const context = parseFields(Context, removePrefixes(sent))
    const service = firstNonBlank(context.SERVICEDESC)
    const site = firstNonBlank(context.OMD_SITE)
    return [
      createDraft('checkmk', sent, {
        dedupKey: [site, context.HOSTNAME, service].filter(Boolean).join(':'),
        // Flapping, downtimes and alert handlers neither begin nor end a problem.
        status: statuses[context.NOTIFICATIONTYPE] ?? 'info',
        severity: severities[firstNonBlank(service && context.SERVICESTATE, context.HOSTSTATE)] ?? null,
        resource: context.HOSTNAME,
        title:
          service === ''
            ? `${context.HOSTNAME} ${firstNonBlank(context.HOSTSTATE)}`.trim()
            : `${service} on ${context.HOSTNAME}`,
        body: firstNonBlank(
          context.NOTIFICATIONCOMMENT,
          context.SERVICEOUTPUT,
          context.LONGSERVICEOUTPUT,
          context.HOSTOUTPUT,
        ),
        labels: { site, type: context.NOTIFICATIONTYPE },
        occurredAt: context.MICROTIME,
      }),
    ]
  },
}
