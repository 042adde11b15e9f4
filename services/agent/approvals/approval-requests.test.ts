import { afterEach, describe, expect, it } from 'vitest'
import type { Identity } from '#proto/call.ts'
import { runLimits, Run } from '../runs/run.ts'
import { createTestCall } from '../testing/start-agent.ts'
import { mayRequestChanges } from './control-tools.ts'
import { openApprovalRequests } from './approval-requests.ts'

const ada: Identity = { kind: 'user', subject: 'ada', features: 'all' }
const grace: Identity = { ...ada, subject: 'grace' }
const request = { tool: 'kill_query' as const, hostKey: 'one', input: { queryId: 'q' } }
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

describe('an approval request', () => {
  it('is taken once, by the user who started the run, and resolved by the same user', async () => {
    const requests = openApprovalRequests(limits)
    const { id, outcome } = requests.create(runOf(ada), request)
    expect(() => requests.take(id, grace)).toThrow('has expired or does not exist')
    expect(requests.take(id, { ...ada, kind: 'key' })).toEqual(request)
    expect(() => requests.take(id, ada)).toThrow('already decided')
    expect(() => requests.resolve(id, ada, { state: 'denied' })).toThrow('already decided')
    requests.resolve(id, ada, { state: 'done', result: { state: 'done' } })
    expect(await outcome).toEqual({ state: 'done', result: { state: 'done' } })
    expect(() => requests.take(id, ada)).toThrow('has expired or does not exist')
  })

  it('cannot be reported as done before it is taken', () => {
    const requests = openApprovalRequests(limits)
    const { id } = requests.create(runOf(ada), request)
    expect(() => requests.resolve(id, ada, { state: 'done', result: {} })).toThrow('already decided')
    requests.resolve(id, ada, { state: 'denied' })
  })

  it('expires without a decision', async () => {
    const { outcome } = openApprovalRequests({ ...limits, openMs: 10 }).create(runOf(ada), request)
    expect(await outcome).toEqual({ state: 'expired' })
  })

  it('has an unknown outcome when no result is reported in time', async () => {
    const requests = openApprovalRequests({ ...limits, takenMs: 10 })
    const { id, outcome } = requests.create(runOf(ada), request)
    requests.take(id, ada)
    expect(await outcome).toEqual({ state: 'unknown' })
  })

  it('ends with its run', async () => {
    const run = runOf(ada)
    const { outcome } = openApprovalRequests(limits).create(run, request)
    run.stop('requested')
    expect(await outcome).toEqual({ state: 'expired' })
    expect(await openApprovalRequests(limits).create(run, request).outcome).toEqual({ state: 'expired' })
  })
})

describe('permission of the agent to request changes', () => {
  const anonymous: Identity = { kind: 'anonymous', subject: 'anonymous', features: 'all' }
  const guest: Identity = { ...anonymous, kind: 'guest' }
  const key = (...scopes: string[]): Identity => ({ ...ada, kind: 'key', scopes })
  const cloud = { SVC_CLOUD_MODE: 'true' }
  const on = { AGENT_ENABLE_CONTROL_TOOLS: 'true' }
  const off = { AGENT_ENABLE_CONTROL_TOOLS: 'false' }

  it.each([
    ['for everyone without authentication', anonymous, {}, true],
    ['for signed-in users', ada, {}, true],
    ['not in cloud mode', ada, cloud, false],
    ['in cloud mode when it is enabled', ada, { ...cloud, ...on }, true],
    ['never for guests', guest, { ...cloud, ...on }, false],
    ['never for anonymous callers in cloud mode', anonymous, { ...cloud, ...on }, false],
    ['for no one when it is disabled', ada, off, false],
    ['for API keys with the write scope', key('agent', 'write'), {}, true],
    ['not for API keys with only the agent scope', key('agent'), {}, false],
    ['not for users without the actions feature', { ...ada, features: ['AGENT'] }, on, false],
  ])('%s', (_what, identity, env, expected) => {
    expect(mayRequestChanges(createTestCall(identity), env)).toBe(expected)
  })
})
