import { z } from 'zod'
import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'
import type { Adapter, Sent } from './adapter.ts'
import { draftOfFields } from './draft.ts'
import { firstOf, instant, maybeWords, understood } from './fields.ts'

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
  OMD_SITE: maybeWords,
  HOSTSTATE: maybeWords,
  HOSTOUTPUT: maybeWords,
  SERVICEDESC: maybeWords,
  SERVICESTATE: maybeWords,
  SERVICEOUTPUT: maybeWords,
  LONGSERVICEOUTPUT: maybeWords,
  MICROTIME: instant,
  NOTIFICATIONCOMMENT: maybeWords,
})

/** A script sees the names of the context with this prefix. */
const prefix = 'NOTIFY_'
const withoutPrefix = (sent: Sent): Sent =>
  Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name.startsWith(prefix) ? name.slice(prefix.length) : name, value]),
  )

/** The context of a Checkmk notification, sent as a JSON object of its variables. */
export const checkmk: Adapter = {
  id: 'checkmk',
  recognises: (sent) => {
    const { NOTIFICATIONTYPE, HOSTNAME } = withoutPrefix(sent)
    return NOTIFICATIONTYPE !== undefined && HOSTNAME !== undefined
  },
  read: (sent) => {
    const context = understood(Context, withoutPrefix(sent))
    const service = firstOf(context.SERVICEDESC)
    const site = firstOf(context.OMD_SITE)
    return [
      draftOfFields('checkmk', sent, {
        dedupKey: [site, context.HOSTNAME, service].filter(Boolean).join(':'),
        // Flapping, downtimes and alert handlers neither begin nor end a problem.
        status: statuses[context.NOTIFICATIONTYPE] ?? 'info',
        severity: severities[firstOf(service && context.SERVICESTATE, context.HOSTSTATE)] ?? null,
        resource: context.HOSTNAME,
        title:
          service === ''
            ? `${context.HOSTNAME} ${firstOf(context.HOSTSTATE)}`.trim()
            : `${service} on ${context.HOSTNAME}`,
        body: firstOf(
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
