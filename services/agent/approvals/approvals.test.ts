import { afterEach, describe, expect, it } from 'vitest'
import type { Identity } from '#proto/call.ts'
import { runLimits, Run } from '../runs/run.ts'
import { callOf } from '../testing/start-agent.ts'
import { mayWish } from './control-tools.ts'
import { openWishes } from './wishes.ts'

const ada: Identity = { kind: 'user', subject: 'ada', features: 'all' }
const grace: Identity = { ...ada, subject: 'grace' }
const wish = { tool: 'kill_query' as const, hostKey: 'one', input: { queryId: 'q' } }
const limits = { openMs: 60_000, takenMs: 60_000 }

const runs: Run[] = []
const runOf = (identity: Identity): Run => {
  const run = new Run(`agent-1.${'r'.repeat(22)}`, identity, runLimits)
  runs.push(run)
  return run
}
afterEach(() => {
  for (const run of runs.splice(0)) run.end()
})

describe('a wish', () => {
  it('is handed over once, to whoever asked the question, and settled by them', async () => {
    const wishes = openWishes(limits)
    const { id, outcome } = wishes.make(runOf(ada), wish)
    expect(() => wishes.take(id, grace)).toThrow('nothing waits')
    expect(wishes.take(id, { ...ada, kind: 'key' })).toEqual(wish)
    expect(() => wishes.take(id, ada)).toThrow('decided on this already')
    expect(() => wishes.settle(id, ada, { state: 'denied' })).toThrow('decided on this already')
    wishes.settle(id, ada, { state: 'done', result: { state: 'done' } })
    expect(await outcome).toEqual({ state: 'done', result: { state: 'done' } })
    expect(() => wishes.take(id, ada)).toThrow('nothing waits')
  })

  it('is done by nobody who did not take it', () => {
    const wishes = openWishes(limits)
    const { id } = wishes.make(runOf(ada), wish)
    expect(() => wishes.settle(id, ada, { state: 'done', result: {} })).toThrow('decided on this already')
    wishes.settle(id, ada, { state: 'denied' })
  })

  it('is refused when nobody decides in time', async () => {
    const { outcome } = openWishes({ ...limits, openMs: 10 }).make(runOf(ada), wish)
    expect(await outcome).toEqual({ state: 'expired' })
  })

  it('counts as unknown when whoever took it never says', async () => {
    const wishes = openWishes({ ...limits, takenMs: 10 })
    const { id, outcome } = wishes.make(runOf(ada), wish)
    wishes.take(id, ada)
    expect(await outcome).toEqual({ state: 'unknown' })
  })

  it('ends with its run', async () => {
    const run = runOf(ada)
    const { outcome } = openWishes(limits).make(run, wish)
    run.stop('asked')
    expect(await outcome).toEqual({ state: 'expired' })
    expect(await openWishes(limits).make(run, wish).outcome).toEqual({ state: 'expired' })
  })
})

describe('changes may be wished for', () => {
  const anonymous: Identity = { kind: 'anonymous', subject: 'anonymous', features: 'all' }
  const guest: Identity = { ...anonymous, kind: 'guest' }
  const key = (...scopes: string[]): Identity => ({ ...ada, kind: 'key', scopes })
  const cloud = { SVC_CLOUD_MODE: 'true' }
  const on = { AGENT_ENABLE_CONTROL_TOOLS: 'true' }
  const off = { AGENT_ENABLE_CONTROL_TOOLS: 'false' }

  it.each([
    ['by anybody where nobody signs in', anonymous, {}, true],
    ['by people who are signed in', ada, {}, true],
    ['not in cloud mode', ada, cloud, false],
    ['in cloud mode where it is switched on', ada, { ...cloud, ...on }, true],
    ['never by guests', guest, { ...cloud, ...on }, false],
    ['never by anonymous callers of cloud mode', anonymous, { ...cloud, ...on }, false],
    ['by nobody where it is switched off', ada, off, false],
    ['by keys that may write', key('agent', 'write'), {}, true],
    ['not by keys that may only ask', key('agent'), {}, false],
    ['not by whoever may not use actions', { ...ada, features: ['AGENT'] }, on, false],
  ])('%s', (_what, identity, env, expected) => {
    expect(mayWish(callOf(identity), env)).toBe(expected)
  })
})
