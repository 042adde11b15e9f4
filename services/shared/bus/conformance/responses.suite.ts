import { expect, it } from 'vitest'
import { z } from 'zod'
import { declareByteFrames, rpc, service, stream } from '#proto/contract.ts'
import { type BusTestContext, neverStarvedLimits, waitUntil } from './implementations.suite.ts'
import { createProbeCall, probe, secretText } from './probe.suite.ts'
import { recordTelemetry } from './telemetry-recorder.suite.ts'

/** Declares the tests of requests and responses of a bus. */
export const testResponses = (place: () => BusTestContext): void => {
  const pair = async () => {
    const { bus: server, seen } = await place().serve('q1')
    const caller = await place().open('gateway')
    return { server, seen, caller, client: caller.client(probe) }
  }

  it('returns the result of the handler', async () => {
    const { client } = await pair()
    expect(await client.echo({ text: 'a', times: 3 }, createProbeCall())).toEqual({ text: 'aaa' })
  })

  it('applies defaults at the service and drops fields that the contract does not declare', async () => {
    const { client } = await pair()
    const input = { text: 'a', unknown: true }
    expect(await client.echo(input, createProbeCall())).toEqual({ text: 'a' })
  })

  it('does not mix up a hundred concurrent responses', async () => {
    const { client } = await pair()
    const texts = Array.from({ length: 100 }, (_, index) => `text ${index}`)
    const answers = await Promise.all(texts.map((text) => client.echo({ text }, createProbeCall())))
    expect(answers.map(({ text }) => text)).toEqual(texts)
  })

  it('passes the caller, the priority and the forwarding service to the handler', async () => {
    const { client } = await pair()
    const identity = { kind: 'user' as const, subject: 'Zoë "the boss"\n', features: ['METRICS'] }
    const answer = await client.call({}, createProbeCall({ identity, priority: 'report' }))
    expect(answer).toMatchObject({ identity, priority: 'report', caller: 'gateway' })
  })

  it('propagates the trace context', async () => {
    const { client } = await pair()
    const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=1,b=2' }
    expect(await client.call({}, createProbeCall({ trace }))).toMatchObject(trace)
    expect(await client.call({}, createProbeCall())).toMatchObject({ traceparent: null, tracestate: null })
  })

  it('nests the span of the service in that of its caller, and measures the call', async () => {
    const calling = recordTelemetry()
    const answering = recordTelemetry()
    await place().serve('q1', { telemetry: answering.telemetry })
    const caller = await place().open('gateway', { telemetry: calling.telemetry })
    await caller.client(probe).echo({ text: 'a' }, createProbeCall({ trace: { traceparent: 'root' } }))
    await expect(
      caller.client(probe).fail({ how: 'known' }, createProbeCall({ trace: { traceparent: 'root' } })),
    ).rejects.toThrow()
    expect(calling.spans[0]).toMatchObject({ name: 'query.echo', kind: 'client', parent: 'root', ended: 'ok' })
    expect(answering.spans[0]).toMatchObject({
      name: 'query.echo',
      kind: 'server',
      parent: calling.spans[0]?.id,
      ended: 'ok',
    })
    expect(calling.spans[1]).toMatchObject({ name: 'query.fail', ended: 'failed' })
    // The span of the service is the parent of the calls that the handler makes.
    const { traceparent } = await caller.client(probe).call({}, createProbeCall({ trace: { traceparent: 'root' } }))
    expect(traceparent).toBe(answering.spans[2]?.id)
    // A call without a trace, such as a poll, gets no span.
    await caller.client(probe).echo({ text: 'a' }, createProbeCall())
    expect(calling.spans).toHaveLength(3)
    const measured = await calling.telemetry.metrics.metrics()
    expect(measured).toMatch(/duration_seconds_count\{service="query",method="echo",caller="gateway",outcome="ok"\} 2/)
    expect(measured).toMatch(/duration_seconds_count\{.*method="fail",caller="gateway",outcome="conflict"\} 1/)
    await waitUntil(() => answering.spans.every(({ ended }) => ended !== undefined))
    expect(await answering.telemetry.metrics.metrics()).toMatch(/bus_in_flight\{service="query"\} 0/)
  })

  it('passes the deadline to the handler, stops it then, and reports the timeout to the caller', async () => {
    const { client, seen } = await pair()
    const deadline = performance.now() + 5_000
    const { deadline: deadlineSeen } = await client.call({}, createProbeCall({ deadline }))
    expect(Math.abs(deadlineSeen - deadline)).toBeLessThan(500)
    await expect(client.hold({}, createProbeCall({ deadline: performance.now() + 50 }))).rejects.toMatchObject({
      code: 'timeout',
    })
    await waitUntil(() => seen.aborted === 1)
  })

  it('sends no request after the deadline', async () => {
    const { client, seen } = await pair()
    await expect(client.hold({}, createProbeCall({ deadline: performance.now() - 1 }))).rejects.toMatchObject({
      code: 'timeout',
    })
    expect(seen.held).toBe(0)
  })

  it('rejects an aborted call with the reason of its signal, and stops the handler', async () => {
    const { seen } = await place().serve('q1', { limits: { ...neverStarvedLimits, workingEveryMs: 20 } })
    const client = (await place().open('gateway')).client(probe)
    const leaving = new AbortController()
    const answer = client.hold({}, createProbeCall({ signal: leaving.signal }))
    await waitUntil(() => seen.held === 1)
    leaving.abort(new Error('I left'))
    await expect(answer).rejects.toThrow('I left')
    await waitUntil(() => seen.aborted === 1)
  })

  it('returns a service error with its code, message, details and retry delay', async () => {
    const { client } = await pair()
    const error = {
      code: 'conflict',
      message: 'the value was changed concurrently',
      details: { by: 'them' },
      retryAfterMs: 1_500,
    }
    await expect(client.fail({ how: 'known' }, createProbeCall())).rejects.toMatchObject(error)
  })

  it('hides an unexpected error from the caller and logs it at the service, with a reference', async () => {
    const { telemetry, logged } = recordTelemetry()
    await place().serve('q1', { telemetry })
    const client = (await place().open('gateway')).client(probe)
    const error: unknown = await client.fail({ how: 'defect' }, createProbeCall()).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'internal', details: { reference: expect.stringMatching(/^[0-9a-f-]{36}$/) } })
    expect(String(error)).not.toContain(secretText)
    const line = logged.find(({ msg }) => msg === 'handler failed')
    expect(String(error)).toContain(String(line?.reference))
    expect(JSON.stringify(line)).toContain('TypeError')
  })

  it('treats a response that does not match the contract as an internal error', async () => {
    const { client } = await pair()
    await expect(client.fail({ how: 'misfit' }, createProbeCall())).rejects.toMatchObject({ code: 'internal' })
  })

  it('reports the invalid fields of a request', async () => {
    const { client } = await pair()
    const input: { text: string } = JSON.parse('{"text":1}')
    const error = { code: 'invalid', message: expect.stringMatching(/^text: /) }
    await expect(client.echo(input, createProbeCall())).rejects.toMatchObject(error)
  })

  it('returns not-implemented for a method that the service does not have yet', async () => {
    const { caller } = await pair()
    const empty = z.object({})
    const newer = service('query', { soon: rpc({ doc: 'Later.', callers: ['gateway'], input: empty, output: empty }) })
    await expect(caller.client(newer).soon({}, createProbeCall())).rejects.toMatchObject({ code: 'not-implemented' })
  })

  it('rejects a caller that the contract does not allow', async () => {
    await place().serve('q1')
    const client = (await place().open('mcp')).client(probe)
    await expect(client.echo({ text: 'a' }, createProbeCall())).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('rejects an identity without the feature of the method', async () => {
    const { client } = await pair()
    const allowed = { kind: 'user' as const, subject: 'a', features: ['SECURITY'] }
    expect(await client.secret({}, createProbeCall({ identity: allowed }))).toEqual({})
    const identity = { ...allowed, features: ['METRICS'] }
    await expect(client.secret({}, createProbeCall({ identity }))).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('accepts requests of 768 KiB and rejects larger ones', async () => {
    const { client } = await pair()
    const text = 'x'.repeat(768 * 1024 - '{"text":""}'.length)
    expect((await client.echo({ text }, createProbeCall())).text).toBe(text)
    await expect(client.echo({ text: `${text}x` }, createProbeCall())).rejects.toMatchObject({ code: 'too-large' })
  })

  it.each([100, 131_000, 131_072, 1_000_000, 5_000_000])(
    'carries an answer of %i letters of two bytes',
    async (length) => {
      const { client } = await pair()
      expect((await client.large({ length }, createProbeCall())).text === 'é'.repeat(length)).toBe(true)
    },
  )

  it('rejects a response above the size limit', async () => {
    await place().serve('q1')
    const client = (await place().open('gateway', { limits: { answerBytes: 1_000_000 } })).client(probe)
    await expect(client.large({ length: 600_000 }, createProbeCall())).rejects.toMatchObject({ code: 'too-large' })
  })

  it('returns busy with a retry delay above the maximum number of calls in flight', async () => {
    const { seen } = await place().serve('q1', { maxInFlight: 2 })
    const client = (await place().open('gateway')).client(probe)
    const held = [client.hold({}, createProbeCall()), client.hold({}, createProbeCall())]
    await waitUntil(() => seen.held === 2)
    await expect(client.hold({}, createProbeCall())).rejects.toMatchObject({ code: 'busy', retryAfterMs: 1_000 })
    seen.release()
    expect(await Promise.all(held)).toHaveLength(2)
    expect(await client.hold({}, createProbeCall())).toEqual({ instance: 'q1' })
  })

  it('serves only the contract of its own service', async () => {
    const bus = await place().open('report')
    const contract = service('query', {
      all: stream({
        doc: 'All.',
        callers: [],
        input: z.object({}),
        head: z.object({}),
        frames: declareByteFrames(),
        tail: z.object({}),
      }),
    })
    const frames = async function* () {
      yield new Uint8Array(0)
      return {}
    }
    const all = async () => ({ head: {}, frames: frames() })
    await expect(bus.serve(contract, { all })).rejects.toThrow(
      'the bus of service "report" cannot serve the contract "query"',
    )
  })
}
