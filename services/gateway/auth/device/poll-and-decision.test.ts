import { describe, expect, it } from 'vitest'
import { applyDecision, type DeviceLoginRecord, applyPoll } from './codes.ts'

const startMs = Date.UTC(2026, 5, 1)
const pending: DeviceLoginRecord = {
  clientId: 'cli',
  scopes: ['read'],
  state: 'pending',
  subject: null,
  issuedAtMs: startMs,
  expiresAtMs: startMs + 900_000,
  polledAtMs: null,
  intervalMs: 10_000,
}
const approved: DeviceLoginRecord = { ...pending, state: 'approved', subject: 'ada' }
const denied: DeviceLoginRecord = { ...pending, state: 'denied', subject: 'ada' }
const used: DeviceLoginRecord = { ...approved, state: 'used' }
const granted = { granted: { clientId: 'cli', subject: 'ada', scopes: ['read'] } }
const lastMs = startMs + 899_999
const overMs = startMs + 900_000

describe('a poll', () => {
  it.each<[is: string, login: DeviceLoginRecord, atMs: number, polled: object, change: Partial<DeviceLoginRecord>]>([
    ['waits', pending, startMs, { error: 'authorization_pending' }, { polledAtMs: startMs }],
    ['waits to the last moment', pending, lastMs, { error: 'authorization_pending' }, { polledAtMs: lastMs }],
    ['is too late', pending, overMs, { error: 'expired_token' }, {}],
    ['has its key', approved, startMs, granted, { state: 'used' }],
    ['has its key at the last moment', approved, lastMs, granted, { state: 'used' }],
    ['is too late for an approval', approved, overMs, { error: 'expired_token' }, {}],
    ['is denied', denied, startMs, { error: 'access_denied' }, {}],
    ['comes a second time', used, startMs, { error: 'invalid_grant' }, {}],
    ['comes a second time, late', used, overMs, { error: 'invalid_grant' }, {}],
  ])('%s', (_is, login, atMs, polled, change) => {
    expect(applyPoll(login, atMs)).toEqual({ login: { ...login, ...change }, polled })
  })

  it.each([
    ['right on time', 10_000, 'authorization_pending', 10_000],
    ['a little early, as networks are', 9_000, 'authorization_pending', 10_000],
    ['too early', 8_999, 'slow_down', 15_000],
    ['at once', 0, 'slow_down', 15_000],
  ])('that arrives %s gets the matching error', (_when, afterMs, error, intervalMs) => {
    const polledAtMs = startMs + 20_000
    const after = applyPoll({ ...pending, polledAtMs }, polledAtMs + afterMs)
    expect(after.polled).toEqual({ error })
    expect(after.login).toMatchObject({ polledAtMs: polledAtMs + afterMs, intervalMs })
  })

  it('has to wait five seconds longer each time it is too fast, up to a minute', () => {
    let login = pending
    const intervals: number[] = []
    for (let time = 0; time < 14; time += 1) {
      login = applyPoll(login, startMs).login
      intervals.push(login.intervalMs / 1000)
    }
    expect(intervals).toEqual([10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 60, 60, 60])
  })

  it('gets an approved key even if it arrives too early', () => {
    expect(applyPoll({ ...approved, polledAtMs: startMs }, startMs).polled).toEqual(granted)
  })
})

describe('a decision', () => {
  it.each(['approved', 'denied'] as const)('%s belongs to the user who decided it', (state) => {
    expect(applyDecision(pending, { state, subject: 'bob' }, lastMs)).toEqual({ ...pending, state, subject: 'bob' })
  })

  it.each<[of: string, login: DeviceLoginRecord, atMs: number, code: string]>([
    ['an expired code', pending, overMs, 'gone'],
    ['an approved one', approved, startMs, 'conflict'],
    ['a denied one', denied, startMs, 'conflict'],
    ['a used one', used, startMs, 'conflict'],
  ])('about %s is rejected', (_of, login, atMs, code) => {
    expect(() => applyDecision(login, { state: 'approved', subject: 'eve' }, atMs)).toThrow(
      expect.objectContaining({ code }),
    )
  })
})
