import { expect, it } from 'vitest'
import type { ServiceName } from '#proto/call.ts'
import { actionAudited } from '#proto/audit.ts'
import { instanceAnnounced, instancesRequested } from '#proto/instance.ts'
import { query } from '#proto/query.ts'
import { describeWith, startNats } from '../../testing/describe-with.ts'
import { waitUntil } from './conformance/implementations.suite.ts'
import { createProbeCall, probe, createProbeHandlers, probeEvent } from './conformance/probe.suite.ts'
import { buildNatsAccounts, formatServerAccounts } from './accounts.ts'
import { openBus, openNatsHub } from './open.ts'
import { buildGuestPermissions, type NatsPermissions, buildServicePermissions } from './permissions.ts'
import type { Wire } from './wire.ts'

const events = [instanceAnnounced, instancesRequested, probeEvent]

it('allows a service the methods that the contracts allow, under its own name only', () => {
  const { gateway, query: own, report } = buildServicePermissions([query], events)
  const requests = (allowed: readonly string[]) => allowed.filter((subject) => subject.startsWith('svc.'))
  expect(gateway.publish.allow).toEqual(
    expect.arrayContaining(['svc.query.gateway.killQuery', 'svc.query.gateway.killQuery.>']),
  )
  for (const [name, { callers }] of Object.entries(query.methods)) {
    const subject = `svc.query.report.${name}`
    const allowed = requests(report.publish.allow).filter((each) => each === subject || each === `${subject}.>`)
    expect(allowed, name).toEqual(callers.includes('report') ? [subject, `${subject}.>`] : [])
  }
  expect(requests(report.publish.allow).every((subject) => subject.startsWith('svc.query.report.'))).toBe(true)
  const announcing = ['event.query.instance.announced', 'event.query.instance.sought']
  expect(own.publish.allow).toEqual(announcing)
})

it('lets a service subscribe to its requests, its inbox, and the events that it may receive', () => {
  const { gateway, query: own, ingest } = buildServicePermissions([query], [...events, actionAudited])
  const met = ['event.*.instance.announced', 'event.*.instance.sought']
  expect(ingest.subscribe.allow).toEqual(['_INBOX.ingest.>', ...met])
  expect(own.subscribe.allow).toEqual(['svc.query.>', '_INBOX.query.>', ...met, 'event.*.something.happened'])
  expect(gateway.subscribe.allow).toEqual([
    '_INBOX.gateway.>',
    ...met,
    'event.*.something.happened',
    'event.*.action.audited',
  ])
})

it('lets a guest subscribe to guest requests and to announcements only', () => {
  const guests = ['svc.query.*.*._guest', 'svc.query.*.*._guest.*', '_INBOX.query-guest.>']
  const present = ['event.*.instance.announced', 'event.*.instance.sought']
  const published = ['event.query-guest.instance.announced', 'event.query-guest.instance.sought']
  expect(buildGuestPermissions([query], events)).toMatchObject({
    'query-guest': { publish: { allow: published }, subscribe: { allow: [...guests, ...present] } },
  })
})

describeWith(['nats'], 'a NATS server with these permissions', () => {
  const start = async (changed: Partial<NatsPermissions> = {}) => {
    const { accounts, users } = buildNatsAccounts([probe], events)
    const altered = Object.entries(users).map(([user, { account, permissions: allowed }]) => [
      user,
      { account, permissions: { ...allowed, ...changed } },
    ])
    const stated = formatServerAccounts({ accounts, users: Object.fromEntries(altered) }, (user) => `of ${user}`)
    const server = await startNats({ config: `accounts ${JSON.stringify(stated)}` })
    const hubOf = (user: ServiceName | 'query-guest') => openNatsHub({ url: server.url, user, password: `of ${user}` })
    return { url: server.url, hubOf, [Symbol.asyncDispose]: () => server.stop() }
  }

  it('allows everything that the product does', async () => {
    await using server = await start()
    const { hubOf } = server
    const limits = { workingEveryMs: 50 }
    await using responder = await openBus({
      hub: hubOf('query'),
      caller: 'query',
      instance: 'q1',
      version: 'test',
      limits,
    })
    const { handlers, seen } = createProbeHandlers('q1')
    await responder.serve(probe, handlers)
    await using caller = await openBus({ hub: hubOf('gateway'), caller: 'gateway', instance: 'g1', version: 'test' })
    const client = caller.client(probe)
    expect(await client.echo({ text: 'a' }, createProbeCall())).toEqual({ text: 'a' })
    expect(await client.ofRun({ runId: 'q1.1' }, createProbeCall())).toEqual({ instance: 'q1' })
    expect((await client.large({ length: 2_000_000 }, createProbeCall())).text).toHaveLength(2_000_000)
    // Stops early, so that the cancellation must reach the inbox of the producer.
    for await (const { number } of (await client.count({ to: 1_000 }, createProbeCall())).frames)
      if (number === 500) break
    await waitUntil(() => seen.returned === 1)
    const received: number[] = []
    await responder.on(probeEvent, ({ number }) => received.push(number))
    caller.emit(probeEvent, { number: 1 })
    await waitUntil(() => received.length === 1)
  })

  it('rejects a forged caller, a forged response, a foreign inbox and foreign requests', async () => {
    await using server = await start()
    const { hubOf } = server
    const received: string[] = []
    await using gateway = await hubOf('gateway').connect({ caller: 'gateway', instance: 'g1' })
    await using service = await hubOf('query').connect({ caller: 'query', instance: 'q1' })
    service.subscribe('svc.query.*.*', ({ subject }) => received.push(subject), 'query')
    gateway.subscribe('_INBOX.gateway.>', ({ subject }) => received.push(subject))
    await Promise.all([service.flush(), gateway.flush()])

    await using report = await hubOf('report').connect({ caller: 'report', instance: 'r1' })
    const body = new Uint8Array(0)
    for (const subject of ['svc.query.gateway.echo', '_INBOX.gateway.g1.x.1', 'svc.query.report.echo']) {
      report.publish(subject, body)
    }
    await waitUntil(() => received.length > 0)
    expect(received).toEqual(['svc.query.report.echo'])
    await refuses(await hubOf('report').connect({ caller: 'report', instance: 'r2' }), '_INBOX.gateway.>')
    await refuses(await hubOf('report').connect({ caller: 'report', instance: 'r3' }), 'svc.query.>')
    await refuses(await hubOf('report').connect({ caller: 'report', instance: 'r4' }), '>')
  })

  it('lets a guest respond to guest requests, and denies it the inbox, requests and events of others', async () => {
    await using server = await start()
    const { hubOf } = server
    const facts = { hub: hubOf('query-guest'), caller: 'query', instance: 'q1', version: 'test' } as const
    await using responder = await openBus(facts)
    await responder.serve(probe, createProbeHandlers('q1').handlers, { part: 'guest' })
    await using caller = await openBus({ hub: hubOf('gateway'), caller: 'gateway', instance: 'g1', version: 'test' })
    expect(await caller.client(probe).dial({}, createProbeCall())).toEqual({ instance: 'q1' })
    for (const subject of ['_INBOX.query.>', 'svc.query.*.*', 'event.>', 'event.*.something.happened']) {
      await refuses(await facts.hub.connect(facts), subject)
    }
  })

  it('keeps a long response allowed, because both sides renew the permission that expires', async () => {
    await using server = await start({ allow_responses: { max: -1, expires: '500ms' } })
    const limits = { workingEveryMs: 100 }
    await using responder = await openBus({
      hub: server.hubOf('query'),
      caller: 'query',
      instance: 'q1',
      version: 'test',
      limits,
    })
    const { handlers, seen } = createProbeHandlers('q1')
    await responder.serve(probe, handlers)
    await using caller = await openBus({
      hub: server.hubOf('gateway'),
      caller: 'gateway',
      instance: 'g1',
      version: 'test',
    })
    const client = caller.client(probe)
    const startedAtMs = performance.now()
    const answer = client.hold({}, createProbeCall())
    const stream = await client.count({ to: 20 }, createProbeCall())
    await waitUntil(() => performance.now() - startedAtMs > 1_500)
    seen.release()
    expect(await answer).toEqual({ instance: 'q1' })
    let read = 0
    for await (const _frame of stream.frames) read += 1
    expect(read).toBe(20)
  })

  it('rejects a service with a wrong password', async () => {
    await using server = await start()
    const hub = openNatsHub({ url: server.url.replace('//', '//gateway:guess@') })
    await expect(hub.connect({ caller: 'gateway', instance: 'g1' })).rejects.toThrow(
      /the server rejects the user or the password/,
    )
  })

  it('reads user and password from the URL too', async () => {
    await using server = await start()
    const hub = openNatsHub({ url: server.url.replace('//', '//gateway:of%20gateway@') })
    await using wire = await hub.connect({ caller: 'gateway', instance: 'g1' })
    expect(wire.connected).toBe(true)
  })

  const refuses = async (wire: Wire, pattern: string): Promise<void> => {
    await using _wire = wire
    wire.subscribe(pattern, () => {})
    await expect(wire.flush()).rejects.toThrow('rejected a subscription')
  }
})
