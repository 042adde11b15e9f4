import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { openBus, openMemoryHub } from './open.ts'
import { createProbeCall, probe, createProbeHandlers } from './conformance/probe.suite.ts'
import { createSeverableHub } from './conformance/severable-hub.suite.ts'

const limits = { cutOffMs: 60_000 }

it('delays a request during a short disconnection, then sends it', async () => {
  const hub = createSeverableHub(openMemoryHub())
  await using server = await openBus({ hub, caller: 'query', instance: 'q1', version: 'test' })
  await using caller = await openBus({ hub, caller: 'gateway', instance: 'g1', version: 'test', limits })
  const { handlers } = createProbeHandlers('q1')
  await server.serve(probe, handlers)
  hub.cut()
  const answer = caller.client(probe).call({}, createProbeCall())
  let answered = false
  void answer.then(() => (answered = true))
  // In memory, an exchange takes one event-loop iteration, so without the disconnection the call would have ended.
  await turn()
  expect(answered).toBe(false)
  hub.mend()
  expect(await answer).toMatchObject({ caller: 'gateway' })
})

it('sends nothing for a caller that aborted during the disconnection', async () => {
  const hub = createSeverableHub(openMemoryHub())
  await using server = await openBus({ hub, caller: 'query', instance: 'q1', version: 'test' })
  await using caller = await openBus({ hub, caller: 'gateway', instance: 'g1', version: 'test', limits })
  const { handlers, seen } = createProbeHandlers('q1')
  await server.serve(probe, handlers)
  hub.cut()
  const leaving = new AbortController()
  const client = caller.client(probe)
  const answer = client.hold({}, createProbeCall({ signal: leaving.signal }))
  leaving.abort(new Error('I left'))
  await expect(answer).rejects.toThrow('I left')
  hub.mend()
  expect(await client.call({}, createProbeCall())).toMatchObject({ caller: 'gateway' })
  expect(seen.held).toBe(0)
})

it('delays a request again after an earlier disconnection that lasted too long', async () => {
  const hub = createSeverableHub(openMemoryHub())
  await using server = await openBus({ hub, caller: 'query', instance: 'q1', version: 'test' })
  await using caller = await openBus({
    hub,
    caller: 'gateway',
    instance: 'g1',
    version: 'test',
    limits: { cutOffMs: 50 },
  })
  await server.serve(probe, createProbeHandlers('q1').handlers)
  const client = caller.client(probe)
  hub.cut()
  await expect(client.call({}, createProbeCall())).rejects.toMatchObject({ code: 'unavailable' })
  hub.mend()
  hub.cut()
  const answer = client.call({}, createProbeCall())
  hub.mend()
  expect(await answer).toMatchObject({ caller: 'gateway' })
})
