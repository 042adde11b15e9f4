import { createClock } from '#shared/time/clock.ts'
import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { createEmptyLayer } from './layers/layer.ts'
import { openPolicy } from './open-policy.ts'
import { createMemoryStores } from '../stores/collection-stores.ts'
import type { PolicyStore } from '../stores/stores.ts'

let nowMs = 0
let logged: string[] = []
beforeEach(() => {
  nowMs = 1_000_000
  logged = []
})

const open = (store: PolicyStore, env: Record<string, string> = {}) =>
  openPolicy({
    env,
    store,
    file: { ...createEmptyLayer('file'), general: { clears: 9 } },
    minSeveritiesOf: () => [null],
    clock: createClock(() => nowMs),
    log: pino({}, { write: (line) => logged.push(line) }),
  })

/** Returns a state database that a test can make unavailable. */
const breakable = () => {
  const { policy } = createMemoryStores()
  const state = { isThere: true, reads: 0 }
  const store: PolicyStore = {
    ...policy,
    async all() {
      state.reads += 1
      if (!state.isThere) throw new ServiceError('unavailable', 'the state database does not answer')
      return policy.all()
    },
  }
  return { store, state }
}

describe('the policy', () => {
  it('applies own changes at once and those of other processes within two seconds', async () => {
    const { store, state } = breakable()
    const policy = open(store)
    expect((await policy.current()).cooldownMs).toBe(3_600_000)
    await store.put('general', 'all', { cooldownMinutes: 5 }, nowMs)
    expect((await policy.current()).cooldownMs).toBe(3_600_000)
    nowMs += 2_000
    expect((await policy.current()).cooldownMs).toBe(300_000)
    await store.put('general', 'all', { cooldownMinutes: 6 }, nowMs)
    policy.changed()
    expect((await policy.current()).cooldownMs).toBe(360_000)
    expect(state.reads).toBe(3)
  })

  it('is read once for concurrent calls', async () => {
    const { store, state } = breakable()
    const policy = open(store)
    await Promise.all([policy.current(), policy.current(), policy.layers()])
    expect(state.reads).toBe(1)
  })

  it('is read again if it changed during a read', async () => {
    const { store, state } = breakable()
    const policy = open(store)
    const reading = policy.current()
    policy.changed()
    await reading
    expect(state.reads).toBe(2)
  })

  it('keeps its last known state while the database is unavailable', async () => {
    const { store, state } = breakable()
    await store.put('general', 'all', { cooldownMinutes: 5 }, nowMs)
    const policy = open(store)
    await policy.current()
    state.isThere = false
    nowMs += 60_000
    expect(await policy.current()).toMatchObject({ cooldownMs: 300_000, clears: 9 })
    expect(logged.join('')).toContain('using the last known ones')
  })

  it('logs one failure and one recovery of the database', async () => {
    const { store, state } = breakable()
    const policy = open(store)
    for (const isThere of [false, false, false, true, true]) {
      state.isThere = isThere
      nowMs += 2_000
      await policy.current()
    }
    expect(state.reads).toBe(5)
    expect(logged.map((line) => JSON.parse(line).msg)).toEqual([
      'reading alert settings failed; using the last known ones',
      'reading alert settings recovered',
    ])
  })

  it('logs each invalid variable and entry once', async () => {
    const { store } = breakable()
    await store.put('rule', 'r', { warning: 'many' }, nowMs)
    const policy = open(store, { HEALTH_ALERT_COOLDOWN_MINUTES: 'hunter2' })
    await policy.current()
    policy.changed()
    await policy.current()
    expect(logged.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ variable: 'HEALTH_ALERT_COOLDOWN_MINUTES', level: 40 }),
      expect.objectContaining({ entry: 'rule r', level: 40 }),
    ])
    expect(logged.join('')).not.toContain('hunter2')
  })
})
