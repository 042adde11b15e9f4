import type { Silence } from '#proto/alert-history.ts'
import { hostOnRecord } from '#proto/audit.ts'
import type { Call } from '#proto/call.ts'
import { AckRequest, DismissRequest, SilenceAnswer, SilenceQuery, SilencesAnswer } from '#proto/http/alerts.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { Gateway } from '../gateway.ts'
import { deleteRoute, getRoute, postRoute, type Route } from '../http-route.ts'
import { silenceActions } from '../audit/open-audit.ts'
import { success } from '../response/envelope.ts'
import { findWatched, type NameHost, watchedHosts } from '../hosts/host-list.ts'

const common = { feature: 'HEALTH', limit: 'data' } as const
const writing = { ...common, access: 'write', answer: SilenceAnswer } as const

const silences = getRoute({
  ...common,
  path: '/api/v1/health/ack',
  doc: 'Acknowledgements and dismissals that hold',
  access: 'read',
  query: noQuery,
  answer: SilencesAnswer,
  handle: async ({ call }, { hosts, alerts }) => {
    const [nameOf, all] = [await watchedHosts(hosts), await alerts.silences({}, call)]
    const shown = all.flatMap((silence) => asShown(silence, nameOf) ?? [])
    return success(shown, { count: shown.length })
  },
})

const asShown = ({ hostKey, ...silence }: Silence, nameOf: NameHost) => {
  const named = hostKey === null ? { hostId: null, host: null } : nameOf(hostKey)
  return named && { ...silence, ...named }
}

const acknowledge = postRoute({
  ...writing,
  path: '/api/v1/health/ack',
  doc: 'Acknowledges a condition: its reminders stop for a while or until it recovers; escalation and recovery are told',
  query: noQuery,
  body: AckRequest,
  handle: async ({ body: { duration, ...body }, call, requestId }, gateway) =>
    silence(gateway, { call, requestId }, { ...body, kind: 'ack', minutes: duration }),
})

const dismiss = postRoute({
  ...writing,
  path: '/api/v1/health/dismiss',
  doc: 'Dismisses a condition: nobody is told of it for a while or until it recovers',
  query: noQuery,
  body: DismissRequest,
  handle: async ({ body, call, requestId }, gateway) =>
    silence(gateway, { call, requestId }, { ...body, kind: 'dismissal' }),
})

interface Wanted {
  kind: Silence['kind']
  hostId: number
  ruleId: string
  episode?: string | undefined
  minutes: number | null
  note: string
}

const silence = async (
  { hosts, alerts, audit }: Gateway,
  asker: { call: Call; requestId: string },
  { hostId, ...wanted }: Wanted,
) => {
  const host = await findWatched(hosts, hostId)
  const target = { rule: wanted.ruleId, minutes: String(wanted.minutes ?? 'until recovery') }
  const deed = { action: silenceActions[wanted.kind].done, host: hostOnRecord(host), target }
  const { hostKey: _, ...said } = await audit.of(deed, asker, () =>
    alerts.silence({ ...wanted, hostKey: host.key }, asker.call),
  )
  return success({ ...said, hostId, host: host.name }, {})
}

const takingBack = (kind: Silence['kind'], path: string, doc: string) =>
  deleteRoute({
    ...writing,
    path,
    doc,
    query: SilenceQuery,
    handle: async ({ query: { hostId, ruleId }, call, requestId }, { hosts, alerts, audit }) => {
      const host = await findWatched(hosts, hostId)
      const deed = { action: silenceActions[kind].undone, host: hostOnRecord(host), target: { rule: ruleId } }
      const { hostKey: _, ...said } = await audit.of(deed, { call, requestId }, () =>
        alerts.unsilence({ kind, hostKey: host.key, ruleId }, call),
      )
      return success({ ...said, hostId, host: host.name }, {})
    },
  })

/** What operators say to single conditions. */
export const healthSilenceRoutes: readonly Route[] = [
  silences,
  acknowledge,
  takingBack('ack', '/api/v1/health/ack', 'Takes an acknowledgement back'),
  dismiss,
  takingBack('dismissal', '/api/v1/health/dismiss', 'Takes a dismissal back'),
]
