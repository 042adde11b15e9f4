import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openBus } from '#shared/bus/open.ts'
import { agent as contract } from '#proto/agent.ts'
import type { Identity } from '#proto/call.ts'
import {
  createTestCall,
  filterChunksByType,
  startAgent,
  type TestAgent,
  joinChunkText,
} from '../testing/start-agent.ts'
import { EventBuffer } from './run.ts'

const slowScript = [{ say: [{ text: 'one two three four five six seven eight' }], tokensPerSecond: 20 }]
const ada: Identity = { kind: 'user', subject: 'ada', features: 'all' }

/** Waits for the first text of the model. */
const waitForText = async (runId: string): Promise<void> => {
  let last = 0
  while (last < 4) ({ last } = await agent.client.read({ runId, after: last }, createTestCall()))
}

let agent: TestAgent
beforeEach(async () => {
  agent = await startAgent({ script: slowScript, limits: { abandonedAfterMs: 200, retainedMs: 500 } })
})
afterEach(async () => agent[Symbol.asyncDispose]())

describe('a run', () => {
  it('can be read again from the beginning and from any event', async () => {
    const { runId, chunks } = await agent.run('Count')
    expect((await agent.read(runId)).chunks).toEqual(chunks)
    expect((await agent.read(runId, 5)).chunks).toEqual(chunks.slice(5))
    expect(joinChunkText(chunks)).toBe('one two three four five six seven eight')
  })

  it('stops after a timeout when its last reader has disconnected', async () => {
    const runId = await agent.begin('Count')
    const first = await agent.client.read({ runId, after: 0 }, createTestCall())
    await expect.poll(() => agent.logged.join()).toContain('"outcome":"stopped"')
    const { chunks } = await agent.read(runId, first.last)
    expect(filterChunksByType(chunks, 'abort')).toEqual([{ type: 'abort', reason: 'no reader connected' }])
    await expect.poll(() => agent.gateway.abandoned).toBe(1)
  })

  it('stops on request of its owner and aborts its model request', async () => {
    const runId = await agent.begin('Count')
    await waitForText(runId)
    expect(await agent.client.stop({ runId }, createTestCall())).toEqual({ stopped: true })
    const { chunks } = await agent.read(runId)
    expect(filterChunksByType(chunks, 'abort')).toEqual([{ type: 'abort', reason: 'stopped by the user' }])
    expect(chunks.at(-1)?.type).toBe('abort')
    expect(await agent.client.stop({ runId }, createTestCall())).toEqual({ stopped: false })
    await expect.poll(() => agent.gateway.abandoned).toBe(1)
  })

  it('can be read and stopped only by its owner', async () => {
    const runId = await agent.begin('Count', ada)
    const other = createTestCall({ ...ada, subject: 'grace' })
    await expect(agent.client.read({ runId, after: 0 }, other)).rejects.toMatchObject({ code: 'gone' })
    await expect(agent.client.stop({ runId }, other)).rejects.toMatchObject({ code: 'gone' })
    const byKey = createTestCall({ ...ada, kind: 'key' })
    expect((await agent.client.read({ runId, after: 0 }, byKey)).last).toBeGreaterThan(0)
    expect(joinChunkText((await agent.read(runId, 0, ada)).chunks)).toBe('one two three four five six seven eight')
  })

  it('is no longer available after the retention time', async () => {
    const { runId } = await agent.run('Count')
    const failure = () => agent.client.read({ runId, after: 0 }, createTestCall()).catch((error: unknown) => error)
    await expect.poll(failure).toMatchObject({ code: 'gone' })
  })

  it('is not available after its process ended, or for an unknown id', async () => {
    const made = { runId: `agent-9.${'x'.repeat(22)}`, after: 0 }
    await expect(agent.client.read(made, createTestCall())).rejects.toMatchObject({ code: 'gone' })
    const own = { runId: `agent-1.${'x'.repeat(22)}`, after: 0 }
    await expect(agent.client.read(own, createTestCall())).rejects.toMatchObject({ code: 'gone' })
  })

  it('ends with a retryable error if its process stops', async () => {
    await agent[Symbol.asyncDispose]()
    agent = await startAgent({ script: [{ silent: true }], env: { SHUTDOWN_GRACE_MS: '200' } })
    const runId = await agent.begin('Count')
    const reading = agent.read(runId)
    await agent.client.read({ runId, after: 1 }, createTestCall())
    const [{ chunks }] = await Promise.all([reading, agent[Symbol.asyncDispose]()])
    expect(filterChunksByType(chunks, 'data-error')).toMatchObject([
      { data: { code: 'worker-stopping', retryable: true } },
    ])
    agent = await startAgent({ script: slowScript })
  })
})

describe('an agent process at its run limit', () => {
  const full = { SVC_AGENT_MAX_RUNS: '1' }

  it('rejects a run as busy, with a retry delay', async () => {
    Object.assign(agent.env, full)
    await agent.begin('Count')
    await expect(agent.begin('Count')).rejects.toMatchObject({ code: 'busy', retryAfterMs: 2_000 })
  })

  it('is avoided: a request goes to the least loaded process', async () => {
    // The model never responds, so that no run ends during the test.
    const script = [{ silent: true } as const]
    const env = { ...full, SHUTDOWN_GRACE_MS: '200' }
    await using one = await startAgent({ script, env })
    await using _other = await startAgent({ script, env, beside: { hub: one.hub, instance: 'agent-2' } })
    const runs = [await one.begin('Count')]
    // Callers discover a new process through its announcement.
    const second = () => one.begin('Count').catch(() => '')
    await expect
      .poll(async () => {
        runs.push(await second())
        return runs.at(-1)
      })
      .not.toBe('')
    expect(runs.flatMap((id) => (id === '' ? [] : [id.split('.')[0]])).toSorted()).toEqual(['agent-1', 'agent-2'])
    const bus = await openBus({ hub: one.hub, caller: 'gateway', instance: 'other', version: '1' })
    const third = bus
      .client(contract)
      .start(
        { hostKey: 'logs', hostId: 1, messages: [{ role: 'user', parts: [{ type: 'text', text: 'Count' }] }] },
        createTestCall(),
      )
    await expect(third).rejects.toMatchObject({ code: 'busy' })
    await bus[Symbol.asyncDispose]()
  })
})

describe('the event buffer of a run', () => {
  it('drops the oldest events when it is full, and reports that they are missing', () => {
    const buffer = new EventBuffer(60)
    for (const data of ['one', 'two', 'three', 'four']) buffer.append(data)
    expect(buffer.last).toBe(4)
    expect(buffer.after(0, 1_000)).toBeUndefined()
    expect(buffer.after(2, 1_000)).toEqual({ events: 'id: 3\ndata: three\n\nid: 4\ndata: four\n\n', last: 4 })
    expect(buffer.after(4, 1_000)).toEqual({ events: '', last: 4 })
    expect(buffer.after(5, 1_000)).toBeUndefined()
  })

  it('stays bounded over many events', () => {
    const buffer = new EventBuffer(4 * 1024 * 1024)
    const delta = 'x'.repeat(70)
    for (let count = 0; count < 100_000; count += 1) buffer.append(delta)
    expect(buffer.last).toBe(100_000)
    expect(buffer.after(99_999, 1_000)).toEqual({ events: `id: 100000\ndata: ${delta}\n\n`, last: 100_000 })
    expect(buffer.after(40_000, 1_000)).toBeUndefined()
  })

  it('returns at least one event per read', () => {
    const buffer = new EventBuffer(1_000)
    for (const data of ['x'.repeat(100), 'y']) buffer.append(data)
    expect(buffer.after(0, 10)?.last).toBe(1)
    expect(buffer.after(1, 10)?.last).toBe(2)
  })
})
