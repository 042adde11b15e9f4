import type { alerts } from '#proto/alerts.ts'
import type { Handlers } from '#proto/contract.ts'
import type { DeadNotice, Delivered, deliveryMethods } from '#proto/delivery.ts'
import { ServiceError } from '#proto/errors.ts'
import type { GoodRequest } from './auth-requests.ts'

const delivered: Delivered = {
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
  reason: 'answered 404',
  attempts: 1,
}

const dead: DeadNotice = {
  id: '7',
  atMs: 1_790_000_000_000,
  reason: 'answered 404',
  channel: 'webhook',
  target: 'default',
  kind: 'fire',
  title: 'Disk full',
  hostKey: 'logs',
  severity: 'critical',
  episode: 'e1',
}

/** One webhook that is broken, and the notice that it did not take. */
export const fakeDeliveries: Pick<Handlers<typeof alerts>, keyof typeof deliveryMethods> = {
  deliveries: async ({ result = 'dead' }) => (result === 'dead' ? [delivered] : []),
  alertTargets: async () => [
    {
      channel: 'webhook',
      id: 'default',
      name: 'webhook',
      minSeverity: null,
      failures: 1,
      broken: { reason: 'answered 404', sinceMs: 1_790_000_000_000 },
      last: { atMs: 1_790_000_000_000, result: 'config', reason: 'answered 404' },
    },
  ],
  deadLetters: async ({ before }) => ({ letters: before === undefined ? [dead] : [], next: null }),
  replayDeadLetter: async ({ id }) => {
    if (id !== dead.id) throw new ServiceError('not-found', 'no such dead letter; it may have been sent again already')
    return dead
  },
}

const base = '/api/v1/health'

/** A good request of every route about how people were told. */
export const deliveryRequests: Readonly<Record<string, GoodRequest>> = {
  [`GET ${base}/deliveries`]: { url: `${base}/deliveries?channel=webhook&result=dead` },
  [`GET ${base}/targets`]: { url: `${base}/targets` },
  [`GET ${base}/dead-letters`]: { url: `${base}/dead-letters?limit=5` },
  [`POST ${base}/dead-letters/{id}/replay`]: { url: `${base}/dead-letters/7/replay`, body: {} },
}
