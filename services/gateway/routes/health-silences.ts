import type { Silence } from '#proto/alert-history.ts'
import { formatAuditHostName } from '#proto/audit.ts'
import type { CallContext } from '#proto/call.ts'
import { AckRequest, DismissRequest, SilenceResponse, SilenceQuery, SilencesResponse } from '#proto/http/alerts.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { Gateway } from '../gateway.ts'
import { defineDeleteRoute, defineGetRoute, definePostRoute, type Route } from '../http-route.ts'
import { silenceActions } from '../audit/open-audit.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { findMonitoredHost, type HostNameLookup, loadHostNames } from '../hosts/host-list.ts'

const common = { feature: 'HEALTH', limit: 'data' } as const
const writing = { ...common, access: 'write', answer: SilenceResponse } as const

const silences = defineGetRoute({
  ...common,
  path: '/api/v1/health/ack',
  doc: 'Lists active acknowledgements and dismissals',
  access: 'read',
  query: noQuery,
  answer: SilencesResponse,
  handle: async ({ call }, { hosts, alerts }) => {
    const [nameOf, all] = [await loadHostNames(hosts), await alerts.silences({}, call)]
    const shown = all.flatMap((silence) => present(silence, nameOf) ?? [])
    return createSuccessBody(shown, { count: shown.length })
  },
})

const present = ({ hostKey, ...silence }: Silence, nameOf: HostNameLookup) => {
  const named = hostKey === null ? { hostId: null, host: null } : nameOf(hostKey)
  return named && { ...silence, ...named }
}

const acknowledge = definePostRoute({
  ...writing,
  path: '/api/v1/health/ack',
  doc: 'Acknowledges a condition: its reminders stop for a time or until it recovers; escalation and recovery are still sent',
  query: noQuery,
  body: AckRequest,
  handle: async ({ body: { duration, ...body }, call, requestId }, gateway) =>
    silence(gateway, { call, requestId }, { ...body, kind: 'ack', minutes: duration }),
})

const dismiss = definePostRoute({
  ...writing,
  path: '/api/v1/health/dismiss',
  doc: 'Dismisses a condition: notifications stop for a time or until it recovers',
  query: noQuery,
  body: DismissRequest,
  handle: async ({ body, call, requestId }, gateway) =>
    silence(gateway, { call, requestId }, { ...body, kind: 'dismissal' }),
})

interface SilenceRequest {
  kind: Silence['kind']
  hostId: number
  ruleId: string
  episode?: string | undefined
  minutes: number | null
  note: string
}

const silence = async (
  { hosts, alerts, audit }: Gateway,
  context: { call: CallContext; requestId: string },
  { hostId, ...request }: SilenceRequest,
) => {
  const host = await findMonitoredHost(hosts, hostId)
  const target = { rule: request.ruleId, minutes: String(request.minutes ?? 'until recovery') }
  const action = { action: silenceActions[request.kind].done, host: formatAuditHostName(host), target }
  const { hostKey: _, ...silenced } = await audit.of(action, context, () =>
    alerts.silence({ ...request, hostKey: host.key }, context.call),
  )
  return createSuccessBody({ ...silenced, hostId, host: host.name }, {})
}

const undoRoute = (kind: Silence['kind'], path: string, doc: string) =>
  defineDeleteRoute({
    ...writing,
    path,
    doc,
    query: SilenceQuery,
    handle: async ({ query: { hostId, ruleId }, call, requestId }, { hosts, alerts, audit }) => {
      const host = await findMonitoredHost(hosts, hostId)
      const action = { action: silenceActions[kind].undone, host: formatAuditHostName(host), target: { rule: ruleId } }
      const { hostKey: _, ...silenced } = await audit.of(action, { call, requestId }, () =>
        alerts.unsilence({ kind, hostKey: host.key, ruleId }, call),
      )
      return createSuccessBody({ ...silenced, hostId, host: host.name }, {})
    },
  })

/** Routes that list silences, and that acknowledge and dismiss conditions. */
export const healthSilenceRoutes: readonly Route[] = [
  silences,
  acknowledge,
  undoRoute('ack', '/api/v1/health/ack', 'Removes an acknowledgement'),
  dismiss,
  undoRoute('dismissal', '/api/v1/health/dismiss', 'Removes a dismissal'),
]
