import { expect, it } from 'vitest'
import type { ObjectChange } from '#proto/changes.ts'
import { ServiceError } from '#proto/errors.ts'
import { systemClock } from '#shared/time/clock.ts'
import type { Notification } from '../notification.ts'
import { createRecentChangesReader } from './recent-changes.ts'

const sinceMs = Date.UTC(2026, 2, 1, 12)
const change = (minute: number, kind: string, name: string, summary = ''): ObjectChange => ({
  hostKey: 'one',
  kind,
  name,
  change: 'changed',
  atMs: sinceMs - minute * 60_000,
  sinceMs: 0,
  summary,
  diff: '',
})
const changes = [
  change(5, 'workload', 'queries a minute', '10 to 300'),
  change(10, 'setting', 'max_threads', '8 to 3'),
  change(20, 'table', 'shop.orders'),
  change(30, 'restart', 'server', 'a to b'),
]
const alert = { kind: 'fire', hostKey: 'one', sinceMs } as Notification

const read = async (
  notification: Partial<Notification> = {},
  env: Record<string, string> = {},
  objectChanges: () => Promise<unknown> = async () => ({ changes, isEnabled: true, problem: null }),
) => {
  const requests: unknown[] = []
  const query = { objectChanges: (request: object) => (requests.push(request), objectChanges()) }
  const deps = { env, clock: systemClock, query: query as Parameters<typeof createRecentChangesReader>[0]['query'] }
  return { lines: await createRecentChangesReader(deps)({ ...alert, ...notification }), requests }
}

it('lists the latest changes of the hour before, those of the workload last', async () => {
  const { lines, requests } = await read()
  expect(lines).toEqual([
    '11:50 UTC setting max_threads changed (8 to 3)',
    '11:40 UTC table shop.orders changed',
    '11:30 UTC server restarted',
  ])
  expect(requests).toMatchObject([{ hostKeys: ['one'], fromMs: sinceMs - 3_600_000, toMs: sinceMs + 1 }])
})

it.each([
  [{ HEALTH_ALERT_CHANGES: '1' }, 1],
  [{ HEALTH_ALERT_CHANGES: '0' }, 0],
  [{ HEALTH_ALERT_CHANGES: '4' }, 3],
  [{ HEALTH_ALERT_CHANGES: 'many' }, 3],
])('lists as many as %j allows', async (env, count) => {
  expect((await read({}, env)).lines).toHaveLength(count)
})

it('lists none for other notifications, and none if the history fails', async () => {
  for (const other of [{ kind: 'recover' }, { kind: 'remind' }, { hostKey: null }] as const)
    expect(await read(other)).toEqual({ lines: [], requests: [] })
  const failing = () => Promise.reject(new ServiceError('unavailable', 'no answer'))
  expect((await read({}, {}, failing)).lines).toEqual([])
})

it('does not read again for a while after a failure', async () => {
  let requests = 0
  const objectChanges = async () => {
    requests += 1
    throw new ServiceError('unavailable', 'no answer')
  }
  const reader = createRecentChangesReader({ env: {}, clock: systemClock, query: { objectChanges } })
  for (const _ of [1, 2, 3]) expect(await reader(alert)).toEqual([])
  expect(requests).toBe(1)
})
