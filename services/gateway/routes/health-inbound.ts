import type { Silence } from '#proto/alert-history.ts'
import type { Call } from '#proto/call.ts'
import { InboundAckRequest, InboundDismissRequest, SilenceAnswer } from '#proto/http/alerts.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { Gateway } from '../gateway.ts'
import { deleteRoute, postRoute, type Route } from '../http-route.ts'
import { silenceActions } from '../audit/open-audit.ts'
import { success } from '../response/envelope.ts'

const path = '/api/v1/health/inbound/{episode}'
const writing = {
  feature: 'HEALTH',
  limit: 'data',
  access: 'write',
  query: noQuery,
  answer: SilenceAnswer,
} as const

const acknowledge = postRoute({
  ...writing,
  path: `${path}/ack`,
  doc: 'Acknowledges what an inbound event began: its reminders stop for a while or until its end',
  body: InboundAckRequest,
  handle: async ({ path: { episode }, body: { duration, note }, call, requestId }, gateway) =>
    silence(gateway, { call, requestId }, { episode, note, kind: 'ack', minutes: duration }),
})

const dismiss = postRoute({
  ...writing,
  path: `${path}/dismiss`,
  doc: 'Dismisses what an inbound event began: nobody is told of it for a while or until its end',
  body: InboundDismissRequest,
  handle: async ({ path: { episode }, body, call, requestId }, gateway) =>
    silence(gateway, { call, requestId }, { ...body, episode, kind: 'dismissal' }),
})

const silence = async (
  { alerts, audit }: Gateway,
  asker: { call: Call; requestId: string },
  wanted: Parameters<Gateway['alerts']['silenceInbound']>[0],
) => {
  const target = { episode: wanted.episode, minutes: String(wanted.minutes ?? 'until recovery') }
  const deed = { action: silenceActions[wanted.kind].done, host: null, target }
  return shown(await audit.of(deed, asker, () => alerts.silenceInbound(wanted, asker.call)))
}

const takingBack = (kind: Silence['kind'], path: `/${string}/{episode}/${string}`, doc: string) =>
  deleteRoute({
    ...writing,
    path,
    doc,
    handle: async ({ path: { episode }, call, requestId }, { alerts, audit }) => {
      const deed = { action: silenceActions[kind].undone, host: null, target: { episode } }
      return shown(await audit.of(deed, { call, requestId }, () => alerts.unsilenceInbound({ episode, kind }, call)))
    },
  })

const shown = ({ hostKey: _, ...said }: Silence) => success({ ...said, hostId: null, host: null }, {})

/** What operators say to conditions that inbound events began. */
export const healthInboundRoutes: readonly Route[] = [
  acknowledge,
  takingBack('ack', `${path}/ack`, 'Takes an acknowledgement of what an inbound event began back'),
  dismiss,
  takingBack('dismissal', `${path}/dismiss`, 'Takes a dismissal of what an inbound event began back'),
]
