import type { Silence } from '#proto/alert-history.ts'
import type { CallContext } from '#proto/call.ts'
import { InboundAckRequest, InboundDismissRequest, SilenceResponse } from '#proto/http/alerts.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { Gateway } from '../gateway.ts'
import { defineDeleteRoute, definePostRoute, type Route } from '../http-route.ts'
import { silenceActions } from '../audit/open-audit.ts'
import { createSuccessBody } from '../response/envelope.ts'

const path = '/api/v1/health/inbound/{episode}'
const writing = {
  feature: 'HEALTH',
  limit: 'data',
  access: 'write',
  query: noQuery,
  answer: SilenceResponse,
} as const

const acknowledge = definePostRoute({
  ...writing,
  path: `${path}/ack`,
  doc: 'Acknowledges an inbound condition: its reminders stop for a time or until it resolves',
  body: InboundAckRequest,
  handle: async ({ path: { episode }, body: { duration, note }, call, requestId }, gateway) =>
    silence(gateway, { call, requestId }, { episode, note, kind: 'ack', minutes: duration }),
})

const dismiss = definePostRoute({
  ...writing,
  path: `${path}/dismiss`,
  doc: 'Dismisses an inbound condition: notifications stop for a time or until it resolves',
  body: InboundDismissRequest,
  handle: async ({ path: { episode }, body, call, requestId }, gateway) =>
    silence(gateway, { call, requestId }, { ...body, episode, kind: 'dismissal' }),
})

const silence = async (
  { alerts, audit }: Gateway,
  context: { call: CallContext; requestId: string },
  request: Parameters<Gateway['alerts']['silenceInbound']>[0],
) => {
  const target = { episode: request.episode, minutes: String(request.minutes ?? 'until recovery') }
  const action = { action: silenceActions[request.kind].done, host: null, target }
  return shown(await audit.of(action, context, () => alerts.silenceInbound(request, context.call)))
}

const undoRoute = (kind: Silence['kind'], path: `/${string}/{episode}/${string}`, doc: string) =>
  defineDeleteRoute({
    ...writing,
    path,
    doc,
    handle: async ({ path: { episode }, call, requestId }, { alerts, audit }) => {
      const action = { action: silenceActions[kind].undone, host: null, target: { episode } }
      return shown(await audit.of(action, { call, requestId }, () => alerts.unsilenceInbound({ episode, kind }, call)))
    },
  })

const shown = ({ hostKey: _, ...silence }: Silence) => createSuccessBody({ ...silence, hostId: null, host: null }, {})

/** Routes that acknowledge and dismiss inbound conditions. */
export const healthInboundRoutes: readonly Route[] = [
  acknowledge,
  undoRoute('ack', `${path}/ack`, 'Removes the acknowledgement of an inbound condition'),
  dismiss,
  undoRoute('dismissal', `${path}/dismiss`, 'Removes the dismissal of an inbound condition'),
]
