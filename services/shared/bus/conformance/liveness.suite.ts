import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { ServiceClient } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { decodeJson, encodeJson } from '../body.ts'
import { encodeFailure } from '../failure.ts'
import { createFrameHeaders, createStateRequestHeaders } from '../frame.ts'
import { maxFrameBytes } from '../limits.ts'
import { createRequestHeaders } from '../request-headers.ts'
import type { Bus } from '../bus.ts'
import { type BusTestContext, neverStarvedLimits, waitUntil } from './implementations.suite.ts'
import { createProbeCall, probe, type ProbeRecord } from './probe.suite.ts'
import { pickByHash } from '../rendezvous.ts'
import type { Wire } from '../wire.ts'

/** Declares tests of how a bus behaves when processes and connections fail. */
export const testLiveness = (place: () => BusTestContext): void => {
  /** Returns a host key whose requests are routed to this instance while it lives. */
  const keyOf = (instance: string, instances: readonly string[]): string => {
    const keys = Array.from({ length: 100 }, (_, index) => `host-${index}`)
    const key = keys.find((one) => pickByHash(one, instances) === instance)
    if (key === undefined) throw new Error(`none of 100 keys is routed to instance "${instance}"`)
    return key
  }

  it('fails immediately when no process serves the contract', async () => {
    const client = (await place().open('gateway')).client(probe)
    const startedAtMs = performance.now()
    await expect(client.echo({ text: 'a' }, createProbeCall())).rejects.toMatchObject({
      code: 'unavailable',
      message: 'no process of service "query" is running; start it and try again',
    })
    await expect(client.hold({}, createProbeCall())).rejects.toMatchObject({ code: 'unavailable' })
    await expect(client.count({ to: 1 }, createProbeCall())).rejects.toMatchObject({ code: 'unavailable' })
    // The call fails long before the timeout of the caller.
    expect(performance.now() - startedAtMs).toBeLessThan(1_000)
  })

  it('waits for a process of a service whose only process has just left', async () => {
    const left = await place().serve('q1')
    const client = (await place().open('gateway')).client(probe)
    await waitUntil(() => client.echo({ text: 'a' }, createProbeCall()).then(Boolean, () => false))
    await left.bus[Symbol.asyncDispose]()
    const waiting = client.instance({}, createProbeCall())
    await place().serve('q2')
    expect(await waiting).toMatchObject({ instance: 'q2' })
  })

  it('fails when no process of that service starts within a few seconds', async () => {
    const left = await place().serve('q1')
    const client = (await place().open('gateway', { limits: { unheardMs: 300 } })).client(probe)
    await waitUntil(() => client.echo({ text: 'a' }, createProbeCall()).then(Boolean, () => false))
    await left.bus[Symbol.asyncDispose]()
    await expect(client.echo({ text: 'b' }, createProbeCall())).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('waits for a slow handler that sends working frames, longer than the silence timeout', async () => {
    // The handler runs longer than the starvation timeout.
    const { seen } = await place().serve('q1', { limits: { workingEveryMs: 50, starvedMs: 300 } })
    const client = (await place().open('gateway', { limits: { silenceMs: 250 } })).client(probe)
    const startedAtMs = performance.now()
    const answer = client.hold({}, createProbeCall())
    await waitUntil(() => performance.now() - startedAtMs > 600)
    seen.release()
    expect(await answer).toEqual({ instance: 'q1' })
  })

  it('waits for a handler that sends no frames while its process confirms that it is running', async () => {
    const client = (await place().open('gateway', { limits: { stateEveryMs: 50, silenceMs: 500 } })).client(probe)
    const { seen } = await place().serve('q1', { limits: { workingEveryMs: 60_000 } })
    await meet(client)
    const startedAtMs = performance.now()
    const answer = client.hold({}, createProbeCall())
    await waitUntil(() => performance.now() - startedAtMs > 1_200)
    seen.release()
    expect(await answer).toEqual({ instance: 'q1' })
  })

  it('fails when the process sends nothing', async () => {
    await serveRaw(() => {})
    const client = (await place().open('gateway', { limits: { silenceMs: 100 } })).client(probe)
    await expect(client.hold({}, createProbeCall())).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the responding process stopped responding; try again',
    })
  })

  it('receives a response that arrived while this process was blocked', async () => {
    await place().startKillable('q1')
    const client = (await place().open('gateway', { limits: { silenceMs: 400 } })).client(probe)
    const requests = (run: number) => client.ofRun({ runId: `q1.${run}` }, createProbeCall())
    await waitUntil(() =>
      requests(1).then(
        () => true,
        () => false,
      ),
    )
    const answer = requests(2)
    // The response arrives while this process is blocked.
    await nextTurn()
    await nextTurn()
    const held = performance.now() + 2_000
    while (performance.now() < held);
    expect(await answer).toEqual({ instance: 'q1' })
  })

  it('receives a working frame that arrived while this process was blocked', async () => {
    await place().startKillable('q1')
    const client = (await place().open('gateway', { limits: { silenceMs: 1_500 } })).client(probe)
    await waitUntil(() => client.instance({}, createProbeCall()).then(Boolean, () => false))
    const leaving = new AbortController()
    const answer = client.hold({}, createProbeCall({ signal: leaving.signal }))
    answer.catch(() => {})
    await nextTurn()
    await nextTurn()
    const held = performance.now() + 2_500
    while (performance.now() < held);
    // By the next event-loop iteration, the received frames have been read.
    await nextTurn()
    await nextTurn()
    leaving.abort(new Error('I left'))
    await expect(answer).rejects.toThrow('I left')
  })

  it('retries a safe request once when its process dies, and another one responds', async () => {
    const doomed = await place().startKillable('doomed')
    const { bus } = await place().serve('alive')
    // The death is reported by the state requests and not by the timeout.
    const limits = { stateEveryMs: 100, silenceMs: 600_000 }
    const client = (await place().open('gateway', { limits })).client(probe)
    const hostKey = keyOf('doomed', ['alive', 'doomed'])
    await waitUntil(async () => (await client.ofHost({ hostKey }, createProbeCall())).instance === 'doomed')
    const answer = client.stall({ hostKey, on: 'doomed' }, createProbeCall())
    const refused = codeOf(client.stallOnce({ hostKey, on: 'doomed' }, createProbeCall()))
    // Requests arrive in order, so after this response the instance has also received the two requests above.
    expect(await client.ofHost({ hostKey }, createProbeCall())).toEqual({ instance: 'doomed' })
    await doomed.kill()
    expect(await answer).toEqual({ instance: bus.instance })
    expect(await refused).toBe('unavailable')
  })

  /**
   * Waits until a client knows the instance that was started after it. The instance announces itself before it sends its
   * first response.
   */
  const meet = async (client: ServiceClient<typeof probe>): Promise<void> => {
    await client.instance({}, createProbeCall())
  }

  /** Releases the held request of an instance while it is disconnected, so that its response is lost. */
  const loseResponse = async ({ bus, seen }: { bus: Bus; seen: ProbeRecord }): Promise<void> => {
    await waitUntil(() => seen.held === 1)
    await place().network.cut()
    await waitUntil(() => !bus.connected)
    seen.release()
    await nextTurn()
    await nextTurn()
    await place().network.mend()
  }

  it('repeats a safe request whose response was lost in a disconnection', async () => {
    const client = (await place().open('gateway', { limits: { silenceMs: 600_000, cutOffMs: 600_000 } })).client(probe)
    const server = await place().serve('q1', { limits: { cutOffMs: 1 } })
    await meet(client)
    const answer = client.holdHost({ hostKey: 'host', statement: 1 }, createProbeCall())
    await loseResponse(server)
    expect(await answer).toEqual({ instance: 'q1' })
    expect(server.seen.held).toBe(2)
  })

  it('receives the kept response to a request that is not safe, which is not executed again', async () => {
    const limits = { silenceMs: 600_000, cutOffMs: 600_000, missingMs: 600_000 }
    const client = (await place().open('gateway', { limits })).client(probe)
    const server = await place().serve('q1', { limits: { cutOffMs: 1 } })
    await meet(client)
    const answer = client.hold({}, createProbeCall())
    await loseResponse(server)
    expect(await answer).toEqual({ instance: 'q1' })
    expect(server.seen.held).toBe(1)
  })

  it('ignores frames that were sent again to an earlier request with the same address', async () => {
    await serveRaw((wire, reply) => {
      for (const [request, text] of [
        ['earlier', 'of another'],
        [undefined, 'own'],
      ] as const) {
        const headers = { ...createFrameHeaders('answer', 0), ...(request !== undefined && { request }) }
        wire.publish(reply, encodeJson({ text }), { headers })
      }
    })
    const client = (await place().open('gateway')).client(probe)
    expect(await client.echo({ text: 'a' }, createProbeCall())).toEqual({ text: 'own' })
  })

  it('sends the kept frames of a finished request with its id', async () => {
    await place().serve('q1')
    const wire = await place().network.hub.connect({ caller: 'gateway', instance: 'raw' })
    place().release(wire)
    const reply = '_INBOX.gateway.raw.1'
    const frames: string[] = []
    wire.subscribe(reply, ({ headers }) => frames.push(`${headers.frame} ${headers.request} ${headers.state}`))
    const headers = { ...createRequestHeaders(createProbeCall(), 10_000), request: '7' }
    wire.publish('svc.query.gateway.call.q1', encodeJson({}), { headers, reply })
    await waitUntil(() => frames.length === 1)
    const state = createStateRequestHeaders({ reply, id: '7', expected: 0 })
    wire.publish('svc.query.gateway._state.q1', new Uint8Array(0), { headers: state, reply })
    await waitUntil(() => frames.length === 3)
    expect(frames).toEqual(['answer undefined undefined', 'answer 7 undefined', 'state undefined finished'])
  })

  it('executes a request once that arrives twice', async () => {
    const { seen } = await place().serve('q1')
    const wire = await place().network.hub.connect({ caller: 'gateway', instance: 'raw' })
    place().release(wire)
    const reply = '_INBOX.gateway.raw.1'
    const frames: (string | undefined)[] = []
    wire.subscribe(reply, ({ headers }) => frames.push(headers.frame))
    const headers = { ...createRequestHeaders(createProbeCall(), 10_000), request: '7' }
    const send = () => wire.publish('svc.query.gateway.hold.q1', encodeJson({}), { headers, reply })
    send()
    send()
    await waitUntil(() => seen.held === 1)
    seen.release()
    await waitUntil(() => frames.includes('answer'))
    send()
    // Requests arrive in order, so after the second response the instance has also received the last repetition.
    const next = { headers: { ...headers, request: '8' }, reply }
    wire.publish('svc.query.gateway.echo.q1', encodeJson({ text: 'a' }), next)
    await waitUntil(() => frames.filter((frame) => frame === 'answer').length === 2)
    expect(seen.held).toBe(1)
  })

  it('skips an instance that died a moment ago, without waiting', async () => {
    const doomed = await place().startKillable('doomed')
    await place().serve('alive')
    const client = (await place().open('gateway')).client(probe)
    const hostKey = keyOf('doomed', ['alive', 'doomed'])
    await waitUntil(async () => (await client.ofHost({ hostKey }, createProbeCall())).instance === 'doomed')
    await doomed.kill()
    // A server may notice the death of an instance later and lose messages until then; another test covers this case.
    const witness = (await place().open('gateway')).client(probe)
    const isGone = (error: unknown) => error instanceof ServiceError && error.code === 'gone'
    await waitUntil(async () => witness.ofRun({ runId: 'doomed.7' }, createProbeCall()).then(() => false, isGone))
    const startedAtMs = performance.now()
    expect(await client.ofHost({ hostKey }, createProbeCall())).toEqual({ instance: 'alive' })
    expect(performance.now() - startedAtMs).toBeLessThan(1_000)
    await expect(client.ofRun({ runId: 'doomed.7' }, createProbeCall())).rejects.toMatchObject({ code: 'gone' })
  })

  it('fails a stream whose producer dies, after the received frames', async () => {
    const doomed = await place().startKillable('doomed')
    const client = (await place().open('gateway', { limits: { silenceMs: 1_500 } })).client(probe)
    const stream = await client.count({ to: 10, pauseAt: 3 }, createProbeCall())
    const read: number[] = []
    const reading = async () => {
      for await (const { number } of stream.frames) {
        read.push(number)
        if (number === 2) await doomed.kill()
      }
    }
    await expect(reading()).rejects.toMatchObject({ code: 'unavailable' })
    expect(read).toEqual([0, 1, 2])
  })

  it('fails waiting calls after a long disconnection, rejects new ones immediately, and recovers', async () => {
    const { seen } = await place().serve('q1')
    const bus = await place().open('gateway', { limits: { cutOffMs: 500 } })
    const client = bus.client(probe)
    expect(bus.connected).toBe(true)
    const waiting = codeOf(client.hold({}, createProbeCall()))
    await waitUntil(() => seen.held === 1)
    const cut = performance.now()
    await place().network.cut()
    expect(await waiting).toBe('unavailable')
    // The calls fail before the silence timeout fires.
    expect(performance.now() - cut).toBeLessThan(4_000)
    expect(bus.connected).toBe(false)
    const startedAtMs = performance.now()
    await expect(client.echo({ text: 'a' }, createProbeCall())).rejects.toMatchObject({ code: 'unavailable' })
    expect(performance.now() - startedAtMs).toBeLessThan(500)
    await place().network.mend()
    await waitUntil(() => bus.connected)
    seen.release()
    const answers = () => client.echo({ text: 'a' }, createProbeCall()).then(Boolean, () => false)
    await waitUntil(answers)
  })

  it.each(['has died', 'fell silent'])('stops a handler whose caller %s, long before the deadline', async (how) => {
    const starvedMs = how === 'has died' ? 60_000 : 200
    const { seen } = await place().serve('q1', { limits: { workingEveryMs: 20, starvedMs } })
    const wire = await place().network.hub.connect({ caller: 'gateway', instance: 'raw' })
    place().release(wire)
    const reply = '_INBOX.gateway.raw.1'
    let frames = 0
    if (how === 'fell silent') wire.subscribe(reply, () => (frames += 1))
    wire.publish('svc.query.gateway.hold', encodeJson({}), {
      headers: createRequestHeaders(createProbeCall(), 10_000),
      reply,
    })
    await waitUntil(() => seen.held === 1)
    const held = performance.now()
    await waitUntil(() => seen.aborted === 1)
    expect(performance.now() - held).toBeLessThan(5_000)
    expect(frames > 1).toBe(how === 'fell silent')
  })

  it('stops a handler at the deadline even if its caller sends nothing', async () => {
    const { seen } = await place().serve('q1', { limits: neverStarvedLimits })
    const wire = await place().network.hub.connect({ caller: 'gateway', instance: 'raw' })
    place().release(wire)
    const reply = '_INBOX.gateway.raw.1'
    const last: unknown[] = []
    wire.subscribe(reply, ({ headers, body }) => headers.frame === 'error' && last.push(decodeJson(body)))
    wire.publish('svc.query.gateway.hold', encodeJson({}), {
      headers: createRequestHeaders(createProbeCall(), 100),
      reply,
    })
    await waitUntil(() => seen.aborted === 1)
    await waitUntil(() => last.length === 1)
    expect(last).toEqual([expect.objectContaining({ code: 'timeout' })])
  })

  it('fails at the deadline even if the handler continues', async () => {
    await serveRaw((wire, reply) => {
      const timer = setInterval(
        () => wire.publish(reply, encodeJson({}), { headers: createFrameHeaders('working', 0) }),
        20,
      )
      place().release({ [Symbol.asyncDispose]: async () => clearInterval(timer) })
    })
    const client = (await place().open('gateway', { limits: { silenceMs: 60_000 } })).client(probe)
    const startedAtMs = performance.now()
    await expect(client.hold({}, createProbeCall({ deadline: performance.now() + 300 }))).rejects.toMatchObject({
      code: 'timeout',
    })
    expect(performance.now() - startedAtMs).toBeLessThan(10_000)
  })

  it('does not retry a safe request whose handler reports unavailable', async () => {
    let requests = 0
    const failure = encodeFailure(new ServiceError('unavailable', 'host unreachable'), maxFrameBytes)
    await serveRaw((wire, reply) => {
      requests += 1
      wire.publish(reply, failure, { headers: createFrameHeaders('error', 0) })
    })
    const client = (await place().open('gateway')).client(probe)
    await expect(client.echo({ text: 'a' }, createProbeCall())).rejects.toMatchObject({ message: 'host unreachable' })
    expect(requests).toBe(1)
  })

  it('does not receive responses to an earlier process with the same name', async () => {
    const requests: ((answer: string) => void)[] = []
    await serveRaw((wire, reply) => {
      const headers = createFrameHeaders('answer', 0)
      requests.push((instance) => wire.publish(reply, encodeJson({ instance }), { headers }))
    })
    const request = async () => {
      const bus = await place().open('gateway', { instance: 'again' })
      return { bus, answer: bus.client(probe).hold({}, createProbeCall()) }
    }
    const before = await request()
    before.answer.catch(() => {})
    await waitUntil(() => requests.length === 1)
    await before.bus[Symbol.asyncDispose]()
    const { answer } = await request()
    await waitUntil(() => requests.length === 2)
    for (const [index, send] of requests.entries()) send(`${index}`)
    expect(await answer).toEqual({ instance: '1' })
  })

  /** Passes each request to `answer`, which sends frames directly over the wire. */
  const serveRaw = async (answer: (wire: Wire, reply: string) => void): Promise<void> => {
    const wire = await place().network.hub.connect({ caller: 'query', instance: 'raw' })
    place().release(wire)
    wire.subscribe('svc.query.*.*', ({ reply }) => void (reply && answer(wire, reply)))
    await wire.flush()
  }

  it('fails pending calls when it stops', async () => {
    const { seen } = await place().serve('q1')
    const bus = await place().open('gateway')
    const client = bus.client(probe)
    const waiting = client.hold({}, createProbeCall())
    waiting.catch(() => {})
    await waitUntil(() => seen.held === 1)
    await bus[Symbol.asyncDispose]()
    const stopping = { code: 'unavailable', message: 'this process is stopping' }
    await expect(waiting).rejects.toMatchObject(stopping)
    await expect(client.echo({ text: 'a' }, createProbeCall())).rejects.toMatchObject(stopping)
    seen.release()
  })
}

/** Returns the error code of a pending call. */
const codeOf = (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => 'answered',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  )
