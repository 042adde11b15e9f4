import type { alerts } from '#proto/alerts.ts'
import type { Silence } from '#proto/alert-history.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { InboundCondition, inboundConditionMethods } from '#proto/inbound-conditions.ts'
import type { GoodRequest } from './auth-requests.ts'

const condition: InboundCondition = {
  ruleId: 'event:DiskFull',
  episode: 'inbound-1',
  source: 'prometheus',
  title: 'Disk full',
  unit: 'none',
  phase: 'firing',
  severity: 'warning',
  value: null,
  threshold: null,
  offenders: [],
  sinceMs: 1_000,
  judgedAtMs: 2_000,
  toldAtMs: 1_000,
  held: null,
  acknowledged: null,
  dismissed: null,
}

const said = (episode: string, kind: Silence['kind']): Silence => {
  if (episode !== condition.episode) {
    const details = { parameter: 'episode' }
    throw new ServiceError('not-found', 'no such condition of an inbound event, or it is over', { details })
  }
  return { kind, episode, hostKey: null, ruleId: condition.ruleId, by: 'ada', note: '', atMs: 2_000, untilMs: null }
}

/** One condition that an inbound event began. */
export const fakeInboundConditions: Pick<Handlers<typeof alerts>, keyof typeof inboundConditionMethods> = {
  inboundConditions: async ({ limit }) => ({ conditions: [condition].slice(0, limit), open: 1 }),
  silenceInbound: async ({ episode, kind, minutes, note }) => ({
    ...said(episode, kind),
    note,
    untilMs: minutes === null ? null : 2_000 + minutes * 60_000,
  }),
  unsilenceInbound: async ({ episode, kind }) => said(episode, kind),
}

const path = '/api/v1/health/inbound'
const one = `${path}/${condition.episode}`

/** A good request of every route about conditions of inbound events. */
export const inboundConditionRequests: Readonly<Record<string, GoodRequest>> = {
  [`POST ${path}/{episode}/ack`]: { url: `${one}/ack`, body: { duration: '4h' } },
  [`DELETE ${path}/{episode}/ack`]: { url: `${one}/ack` },
  [`POST ${path}/{episode}/dismiss`]: { url: `${one}/dismiss`, body: {} },
  [`DELETE ${path}/{episode}/dismiss`]: { url: `${one}/dismiss` },
}
