import { expect, it } from 'vitest'
import { type BusTestContext, waitUntil } from './implementations.suite.ts'
import { pickByHash } from '../rendezvous.ts'
import { createProbeCall, probe, probeEvent } from './probe.suite.ts'
import { recordTelemetry } from './telemetry-recorder.suite.ts'

/** Declares the tests of routing and events of a bus. */
export const testRouting = (place: () => BusTestContext): void => {
  const keys = Array.from({ length: 30 }, (_, index) => `host-${index}`)

  it('distributes requests over the instances of a service, each executed once', async () => {
    await place().serve('q1')
    await place().serve('q2')
    const client = (await place().open('gateway')).client(probe)
    const answers = await Promise.all(Array.from({ length: 200 }, () => client.instance({}, createProbeCall())))
    for (const name of ['q1', 'q2']) {
      const share = answers.filter(({ instance }) => instance === name).length
      expect(share).toBeGreaterThan(50)
    }
    expect(answers).toHaveLength(200)
  })

  it('calls the same instance for a host from every caller, even from one that has just started', async () => {
    for (const instance of ['q1', 'q2', 'q3']) await place().serve(instance)
    const answersOf = async (caller: 'gateway' | 'report') => {
      const client = (await place().open(caller)).client(probe)
      const all = async () => {
        const found: string[] = []
        // One at a time, because some of many concurrent requests go to another instance.
        for (const hostKey of keys) found.push((await client.ofHost({ hostKey }, createProbeCall())).instance)
        return found
      }
      let stable: string[] = []
      // Instances announce themselves one after the other. Until all are known, any instance may respond.
      await waitUntil(async () => {
        const [first, second] = [await all(), await all()]
        stable = first
        return new Set(first).size === 3 && first.join() === second.join()
      })
      return stable
    }
    const started = performance.now()
    expect(await answersOf('gateway')).toEqual(await answersOf('report'))
    // The instance is known long before the first periodic announcement.
    expect(performance.now() - started).toBeLessThan(1_500)
  })

  it('calls another instance for a host when the preferred one has left, and moves no other host', async () => {
    const { bus } = await place().serve('q1')
    await place().serve('q2')
    await place().serve('q3')
    const client = (await place().open('gateway')).client(probe)
    // With this many hosts, a match by chance is practically impossible.
    const many = Array.from({ length: 200 }, (_, index) => `host-${index}`)
    const goTo = async (names: readonly string[]): Promise<boolean> => {
      for (const hostKey of many) {
        const { instance } = await client.ofHost({ hostKey }, createProbeCall())
        if (instance !== pickByHash(hostKey, names)) return false
      }
      return true
    }
    await waitUntil(() => goTo(['q1', 'q2', 'q3']))
    await bus[Symbol.asyncDispose]()
    const left = performance.now()
    await waitUntil(() => goTo(['q2', 'q3']))
    // The hosts move because the instance announced its end, not because of the timeout of six seconds.
    expect(performance.now() - left).toBeLessThan(4_000)
  })

  it('gives the excess of one host to the other instances, and equal requests to the same one', async () => {
    const servers = await Promise.all(['q1', 'q2', 'q3'].map((instance) => place().serve(instance)))
    const client = (await place().open('gateway')).client(probe)
    // Until all instances have announced themselves, fewer share the requests.
    await waitUntil(async () => {
      for (const hostKey of keys) {
        const { instance } = await client.ofHost({ hostKey }, createProbeCall())
        if (instance !== pickByHash(hostKey, ['q1', 'q2', 'q3'])) return false
      }
      return true
    })
    const request = (statement: number) => client.holdHost({ hostKey: 'host', statement }, createProbeCall())
    const distinct = Array.from({ length: 30 }, (_, statement) => request(statement))
    const equal = Array.from({ length: 30 }, (_, statement) => request(statement))
    await waitUntil(() => servers.reduce((sum, { seen }) => sum + seen.held, 0) === 60)
    for (const { seen } of servers) seen.release()
    const first = (await Promise.all(distinct)).map(({ instance }) => instance)
    expect((await Promise.all(equal)).map(({ instance }) => instance)).toEqual(first)
    const counts = ['q1', 'q2', 'q3'].map((name) => first.filter((instance) => instance === name).length)
    expect(Math.max(...counts)).toBeLessThanOrEqual(Math.ceil((1.25 * 30) / 3))
    expect(Math.min(...counts)).toBeGreaterThan(0)
  })

  it('calls guests for user connections, and the other instances for everything else', async () => {
    await place().serve('own', { part: 'own' })
    const { bus: guest } = await place().serve('guest', { part: 'guest' })
    const client = (await place().open('gateway')).client(probe)
    const connections = new Map([['user:me:1', { key: 'user:me:1', name: 'mine', sealed: 'v'.repeat(40) }]])
    const answers = async () => {
      const all = [
        client.dial({}, createProbeCall()),
        client.ofHost({ hostKey: 'user:me:1' }, createProbeCall({ connections })),
        client.ofHost({ hostKey: 'host-1' }, createProbeCall({ connections })),
        client.instance({}, createProbeCall()),
      ]
      return (await Promise.all(all)).map(({ instance }) => instance)
    }
    for (const _ of [1, 2, 3]) expect(await answers()).toEqual(['guest', 'guest', 'own', 'own'])
    const { bus: other } = await place().serve('other', { part: 'guest' })
    // Requests for one database all go to the same instance, which has its connection pool.
    const many = async () => {
      const found: string[][] = []
      for (let count = 0; count < 20; count += 1) found.push(await answers())
      return found
    }
    await waitUntil(async () => (await many()).some(([any, preferred]) => any !== preferred))
    await waitUntil(async () => new Set((await many()).map(([, preferred]) => preferred)).size === 1)
    await other[Symbol.asyncDispose]()
    await guest[Symbol.asyncDispose]()
    expect(await answers()).toEqual(['own', 'own', 'own', 'own'])
  })

  it('calls any instance where no process is a guest', async () => {
    await place().serve('both')
    const client = (await place().open('gateway')).client(probe)
    expect(await client.dial({}, createProbeCall())).toEqual({ instance: 'both' })
  })

  it('calls the one instance that holds the requested state, and reports when it is gone', async () => {
    await place().serve('q1')
    await place().serve('q2')
    const client = (await place().open('gateway')).client(probe)
    for (const instance of ['q1', 'q2', 'q1']) {
      expect(await client.ofRun({ runId: `${instance}.42` }, createProbeCall())).toEqual({ instance })
    }
    for (const runId of ['q3.42', 'q1', '', '*.42', '>.1', 'Q 1.42']) {
      await expect(client.ofRun({ runId }, createProbeCall())).rejects.toMatchObject({ code: 'gone' })
    }
  })

  it('calls the least loaded instance when one is busy, if the contract allows it', async () => {
    await place().serve('full-1', { load: () => 9 })
    await place().serve('full-2', { load: () => 7 })
    await place().serve('roomy', { load: () => 3 })
    const client = (await place().open('gateway')).client(probe)
    const many = () => Promise.allSettled(Array.from({ length: 50 }, () => client.spread({}, createProbeCall())))
    // Loads are announced one after the other, so the first calls may still choose a busy instance.
    await waitUntil(async () => (await many()).every((each) => each.status === 'fulfilled'))
    expect(await many()).toEqual(
      Array.from({ length: 50 }, () => ({ status: 'fulfilled', value: { instance: 'roomy' } })),
    )
  })

  it('is busy when the least loaded instance is busy as well', async () => {
    await place().serve('full')
    const client = (await place().open('gateway')).client(probe)
    await expect(client.spread({}, createProbeCall())).rejects.toMatchObject({ code: 'busy', retryAfterMs: 1_000 })
  })

  it('loses no request when an instance shuts down gracefully', async () => {
    const { bus: stopping, seen } = await place().serve('stopping')
    const { seen: other } = await place().serve('staying')
    // A stopping instance has left its subjects, but still reports the states of its requests.
    const client = (await place().open('gateway', { limits: { stateEveryMs: 20, missingMs: 40 } })).client(probe)
    const held = Array.from({ length: 20 }, () => client.hold({}, createProbeCall()))
    await waitUntil(() => seen.held + other.held === 20)
    expect(seen.held).toBeGreaterThan(0)

    let stopped = false
    const stop = stopping[Symbol.asyncDispose]().then(() => (stopped = true))
    const calls: Promise<{ instance: string }>[] = []
    await waitUntil(async () => {
      const now = keys.flatMap((hostKey) => [
        client.ofHost({ hostKey }, createProbeCall()),
        client.instance({}, createProbeCall()),
      ])
      calls.push(...now)
      return (await Promise.all(now)).every(({ instance }) => instance === 'staying')
    })
    expect(stopped).toBe(false)
    seen.release()
    other.release()
    await stop
    expect(await Promise.all(held)).toHaveLength(20)
    expect(await Promise.all(calls)).toHaveLength(calls.length)
    expect(await client.instance({}, createProbeCall())).toEqual({ instance: 'staying' })
  })

  it('delivers events to every listener, in order', async () => {
    const received: Record<string, number[]> = { a: [], b: [] }
    const publisher = await place().open('gateway')
    for (const name of ['a', 'b']) {
      const listener = await place().open('report', { instance: name })
      await listener.on(probeEvent, ({ number }) => received[name]?.push(number))
    }
    for (let number = 0; number < 100; number += 1) publisher.emit(probeEvent, { number })
    const all = Array.from({ length: 100 }, (_, number) => number)
    await waitUntil(() => received.a?.length === 100 && received.b?.length === 100)
    expect(received).toEqual({ a: all, b: all })
  })

  it('delivers no events to a disposed listener', async () => {
    const received: number[] = []
    const bus = await place().open('gateway')
    const first = await bus.on(probeEvent, ({ number }) => received.push(number))
    bus.emit(probeEvent, { number: 1 })
    await first[Symbol.asyncDispose]()
    bus.emit(probeEvent, { number: 2 })
    const second = await bus.on(probeEvent, ({ number }) => received.push(number))
    bus.emit(probeEvent, { number: 3 })
    await second[Symbol.asyncDispose]()
    expect(received).toEqual([1, 3])
  })

  it('logs and drops an invalid event, and one of a service that may not publish it', async () => {
    const { telemetry, logged } = recordTelemetry()
    const bus = await place().open('gateway', { telemetry })
    const received: number[] = []
    await bus.on(probeEvent, ({ number }) => received.push(number))
    const misfit: { number: number } = JSON.parse('{"number":"one"}')
    bus.emit(probeEvent, misfit)
    const other = await place().open('report', { telemetry })
    other.emit(probeEvent, { number: 1 })
    const wire = await place().network.hub.connect({ caller: 'gateway', instance: 'raw' })
    place().release(wire)
    wire.publish('event.gateway.something.happened', new Uint8Array([1, 2, 3]))
    for (const sender of ['report', 'query-guest', 'unknown'])
      wire.publish(`event.${sender}.something.happened`, Buffer.from('{"number":3}'))
    bus.emit(probeEvent, { number: 2 })
    await waitUntil(() => received.length > 0 && logged.length >= 6)
    expect(received).toEqual([2])
    const dropped = ['event dropped', 'event dropped', 'event dropped', 'event dropped']
    expect(logged.map(({ msg }) => msg)).toEqual(['event not published', 'event not published', ...dropped])
  })

  it('rejects a listener of a service that the event does not allow', async () => {
    const bus = await place().open('ingest')
    await expect(bus.on(probeEvent, () => {})).rejects.toThrow(
      'service "ingest" is not allowed to listen to "something.happened"',
    )
  })

  it('survives a listener that throws', async () => {
    const { telemetry, logged } = recordTelemetry()
    const bus = await place().open('gateway', { telemetry })
    const received: number[] = []
    await bus.on(probeEvent, ({ number }) => {
      received.push(number)
      throw new Error('no')
    })
    bus.emit(probeEvent, { number: 1 })
    bus.emit(probeEvent, { number: 2 })
    await waitUntil(() => logged.length === 2)
    expect(received).toEqual([1, 2])
  })
}
