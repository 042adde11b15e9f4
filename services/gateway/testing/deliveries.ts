import type { Silence } from '#proto/alert-history.ts'
import type { alerts } from '#proto/alerts.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import type { DeadLetterNotification, CompletedDelivery } from '#proto/delivery.ts'
import { ServiceError } from '#proto/errors.ts'
import type { InboundCondition } from '#proto/inbound-conditions.ts'
import { type Subscription, SubscriptionSecrets } from '#proto/subscriptions.ts'
import type { ValidRequest } from './valid-requests.ts'
import { decryptTransitSecret } from './transit-key.ts'

const delivered: CompletedDelivery = {
  id: 'e1:0:webhook:default',
  atMs: 1_790_000_000_000,
  episode: 'e1',
  sequence: 0,
  kind: 'fire',
  ruleId: 'disk-usage',
  hostKey: 'logs',
  severity: 'critical',
  channel: 'webhook',
  target: 'default',
  result: 'dead',
  reason: 'HTTP 404',
  attempts: 1,
}

const dead: DeadLetterNotification = {
  id: '7',
  atMs: 1_790_000_000_000,
  reason: 'HTTP 404',
  channel: 'webhook',
  target: 'default',
  kind: 'fire',
  title: 'Disk full',
  hostKey: 'logs',
  severity: 'critical',
  episode: 'e1',
}

/** One failing webhook, and the notification that it rejected. */
export const fakeDeliveries = {
  deliveries: async ({ result = 'dead' }) => (result === 'dead' ? [delivered] : []),
  alertTargets: async () => [
    {
      channel: 'webhook',
      id: 'default',
      name: 'webhook',
      minSeverity: null,
      failures: 1,
      broken: { reason: 'HTTP 404', sinceMs: 1_790_000_000_000 },
      last: { atMs: 1_790_000_000_000, result: 'config', reason: 'HTTP 404' },
    },
  ],
  deadLetters: async ({ before }) => ({ letters: before === undefined ? [dead] : [], next: null }),
  replayDeadLetter: async ({ id }) => {
    if (id !== dead.id) throw new ServiceError('not-found', 'dead letter not found; it may have been resent already')
    return dead
  },
} satisfies Partial<ServiceHandlers<typeof alerts>>

const base = '/api/v1/health'

/** A valid request for every route of deliveries. */
export const deliveryRequests: Readonly<Record<string, ValidRequest>> = {
  [`GET ${base}/deliveries`]: { url: `${base}/deliveries?channel=webhook&result=dead` },
  [`GET ${base}/targets`]: { url: `${base}/targets` },
  [`GET ${base}/dead-letters`]: { url: `${base}/dead-letters?limit=5` },
  [`POST ${base}/dead-letters/{id}/replay`]: { url: `${base}/dead-letters/7/replay`, body: {} },
}

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
  evaluatedAtMs: 2_000,
  lastNotifiedAtMs: 1_000,
  held: null,
  acknowledged: null,
  dismissed: null,
}

const silenceOf = (episode: string, kind: Silence['kind']): Silence => {
  if (episode !== condition.episode) {
    const details = { parameter: 'episode' }
    throw new ServiceError('not-found', 'inbound condition not found: it never existed or has been resolved', {
      details,
    })
  }
  return { kind, episode, hostKey: null, ruleId: condition.ruleId, by: 'ada', note: '', atMs: 2_000, untilMs: null }
}

/** One condition from an inbound event. */
export const fakeInboundConditions = {
  inboundConditions: async ({ limit }) => ({ conditions: [condition].slice(0, limit), open: 1 }),
  silenceInbound: async ({ episode, kind, minutes, note }) => ({
    ...silenceOf(episode, kind),
    note,
    untilMs: minutes === null ? null : 2_000 + minutes * 60_000,
  }),
  unsilenceInbound: async ({ episode, kind }) => silenceOf(episode, kind),
} satisfies Partial<ServiceHandlers<typeof alerts>>

const inboundPath = '/api/v1/health/inbound'
const oneInbound = `${inboundPath}/${condition.episode}`

/** A valid request for every route of inbound conditions. */
export const inboundConditionRequests: Readonly<Record<string, ValidRequest>> = {
  [`POST ${inboundPath}/{episode}/ack`]: { url: `${oneInbound}/ack`, body: { duration: '4h' } },
  [`DELETE ${inboundPath}/{episode}/ack`]: { url: `${oneInbound}/ack` },
  [`POST ${inboundPath}/{episode}/dismiss`]: { url: `${oneInbound}/dismiss`, body: {} },
  [`DELETE ${inboundPath}/{episode}/dismiss`]: { url: `${oneInbound}/dismiss` },
}

const kept: Subscription = {
  id: `whs_${'a'.repeat(24)}`,
  name: 'mine',
  enabled: true,
  minSeverity: 'warning',
  matchRule: '*',
  matchHost: '*',
  url: '••••hook',
  createdAtMs: 1_790_000_000_000,
  updatedAtMs: 1_790_000_000_000,
  failures: 0,
  broken: null,
  last: null,
}

const found = (id: string): Subscription => {
  if (id === kept.id) return kept
  throw new ServiceError('not-found', 'subscription not found', { details: { parameter: 'id' } })
}

const server = 'https://hooks.example/'

/** One subscription, visible to all callers. */
export const fakeSubscriptions = {
  subscriptionsOffered: async () => ({ isOffered: true }),
  subscriptions: async () => [kept],
  addSubscription: async ({ id, fields, encrypted }) => {
    const { url, signingSecret } = SubscriptionSecrets.parse(await decryptTransitSecret(encrypted))
    if (url === undefined || signingSecret === undefined) throw new ServiceError('invalid', 'url is required')
    return { ...kept, ...fields, id }
  },
  changeSubscription: async ({ id, fields, encrypted }) => {
    const { url = server, movedSigningSecret } =
      encrypted === undefined ? {} : SubscriptionSecrets.parse(await decryptTransitSecret(encrypted))
    const hasMoved = !url.startsWith(server)
    if (hasMoved && movedSigningSecret === undefined)
      throw new ServiceError('invalid', 'url has a different host; set a new signingSecret too')
    return { ...found(id), ...fields, hasMoved }
  },
  removeSubscription: async ({ id }) => found(id),
  testSubscription: async ({ id }) => ({ name: found(id).name, result: 'ok', reason: null }),
  subscriptionDeliveries: async ({ id }) => {
    found(id)
    return []
  },
} satisfies Partial<ServiceHandlers<typeof alerts>>

const path = '/api/v1/webhook-subscriptions'
const one = `${path}/${kept.id}`

/** A valid request for every route of webhook subscriptions. */
export const subscriptionRequests: Readonly<Record<string, ValidRequest>> = {
  [`GET ${path}`]: { url: path },
  [`POST ${path}`]: { url: path, body: { name: 'mine', url: 'https://hooks.example/x' } },
  [`PUT ${path}/{id}`]: { url: one, body: { name: 'renamed' } },
  [`POST ${path}/{id}/rotate-secret`]: { url: `${one}/rotate-secret`, body: {} },
  [`POST ${path}/{id}/test`]: { url: `${one}/test`, body: {} },
  [`GET ${path}/{id}/deliveries`]: { url: `${one}/deliveries` },
  [`DELETE ${path}/{id}`]: { url: one },
}
