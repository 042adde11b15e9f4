import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { type CallContext, guestServices, serviceDependencies, serviceNames } from '#proto/call.ts'
import { importContracts } from '../../generate/chart/services.ts'
import { encodeJson } from './body.ts'
import { createProbeCall } from './conformance/probe.suite.ts'
import { type ClockReadings, deriveKey, openSignatureCheck, createSignature } from './signatures.ts'
import {
  actingContract,
  testUser,
  forgeMacs,
  createSecret,
  delegatingContract,
  publishRaw,
  createSignedHeaders,
  createGatewaySigner,
  startCluster,
  createUnsignedHeaders,
} from './testing/cluster.ts'
import type { WireMessage } from './wire.ts'

const reply = '_INBOX.gateway.forged.1'

const isRefused = ({ headers, body }: WireMessage, reason: string): void => {
  expect(headers.frame).toBe('error')
  expect(JSON.parse(Buffer.from(body).toString())).toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining(reason),
  })
}

it('lets the gateway call for a user, and a called service call others for that user', async () => {
  await using cluster = await startCluster()
  const gateway = await cluster.open('gateway')
  const agent = await cluster.open('agent')
  await agent.serve(delegatingContract, {
    start: (_input, call) => agent.client(actingContract).rows({}, { ...call, priority: 'report' }),
  })
  await gateway.client(actingContract).kill({}, createProbeCall({ identity: testUser }))
  expect(cluster.changed[0]?.identity).toEqual(testUser)
  expect(await gateway.client(delegatingContract).start({}, createProbeCall({ identity: testUser }))).toEqual({
    subject: 'ada',
  })
})

it('rejects requests that another service signed for the gateway, and unsigned requests', async () => {
  await using cluster = await startCluster()
  const gateway = await cluster.open('gateway', createGatewaySigner(createSecret()))
  await expect(gateway.client(actingContract).kill({}, createProbeCall({ identity: testUser }))).rejects.toThrow(
    'not that of gateway',
  )
  const wire = await cluster.hub.connect({ caller: 'ingest', instance: 'x' })
  const subject = 'svc.query.gateway.kill'
  isRefused(await publishRaw(wire, { subject, headers: createUnsignedHeaders(), reply }), 'is not signed')
  isRefused(
    await publishRaw(wire, { subject, headers: { ...createUnsignedHeaders(), signature: 'a b' }, reply }),
    'cannot be read',
  )
  expect(cluster.changed).toEqual([])
})

it('executes a signed request once, only with its own subject, reply, body and connections', async () => {
  await using cluster = await startCluster()
  const wire = await cluster.hub.connect({ caller: 'ingest', instance: 'x' })
  const request = { subject: 'svc.query.gateway.kill', reply, headers: createUnsignedHeaders(), body: encodeJson({}) }
  const headers = createSignedHeaders(cluster.signaturesOf('gateway').sign, request)
  const send = (changed: Partial<Parameters<typeof publishRaw>[1]>) =>
    publishRaw(wire, { subject: request.subject, headers, reply, ...changed })
  isRefused(await send({ subject: 'svc.query.gateway.rows' }), 'subject or reply inbox differs from the signed one')
  isRefused(await send({ reply: '_INBOX.gateway.forged.2' }), 'subject or reply inbox differs from the signed one')
  isRefused(await send({ body: { more: 1 } }), 'content differs from the signed one')
  isRefused(await send({ headers: { ...headers, connections: '[]' } }), 'content differs from the signed one')
  const admin = JSON.stringify({ ...testUser, subject: 'root' })
  isRefused(await send({ headers: { ...headers, identity: admin } }), 'not that of gateway')
  expect(cluster.changed).toEqual([])
  expect((await send({})).headers.frame).toBe('answer')
  isRefused(await send({}), 'already received')
  expect(cluster.changed).toHaveLength(1)
})

it('accepts a delegation only from the service it was signed for and from those that it calls', async () => {
  await using cluster = await startCluster()
  const dispatcher = await cluster.open('alert-dispatcher')
  const agent = await cluster.open('agent')
  const gateway = await cluster.open('gateway')
  let signed: CallContext | undefined
  await agent.serve(delegatingContract, {
    start: async (_input, call) => {
      signed = call
      return { subject: '' }
    },
  })
  await gateway.client(delegatingContract).start({}, createProbeCall({ identity: testUser }))
  const call = createProbeCall({ identity: testUser, signature: signed?.signature })
  expect(await agent.client(actingContract).rows({}, call)).toEqual({ subject: 'ada' })
  await expect(dispatcher.client(actingContract).rows({}, call)).rejects.toThrow('was signed for a request to "agent"')
  const altered = { ...testUser, subject: 'grace' }
  await expect(agent.client(actingContract).rows({}, { ...call, identity: altered })).rejects.toThrow(
    'not that of gateway',
  )
})

it('drops a request whose reply subject is outside the inbox of its caller', async () => {
  await using cluster = await startCluster('accepted')
  const wire = await cluster.hub.connect({ caller: 'ingest', instance: 'x' })
  const received: WireMessage[] = []
  wire.subscribe('>', (message) => received.push(message))
  const send = (subject: string, to: string) =>
    wire.publish(subject, encodeJson({}), { headers: createUnsignedHeaders(), reply: to })
  send('svc.query.agent.rows', 'svc.alert-dispatcher.gateway.updateAlertConfig')
  send('svc.query.agent.rows', '_INBOX.gateway.g1.1')
  send('svc.query.agent.rows', 'event.action.audited')
  send('svc.query.agent.rows', '_INBOX.agent.a1.1')
  await expect
    .poll(() => received.filter(({ headers }) => headers.frame).map(({ subject }) => subject))
    .toEqual(['_INBOX.agent.a1.1'])
})

it('trusts an unsigned request only while it is accepted, and a wrong signature never', async () => {
  await using cluster = await startCluster('accepted')
  const wire = await cluster.hub.connect({ caller: 'gateway', instance: 'old' })
  const subject = 'svc.query.gateway.kill'
  expect((await publishRaw(wire, { subject, headers: createUnsignedHeaders(), reply })).headers.frame).toBe('answer')
  isRefused(
    await publishRaw(wire, { subject, headers: { ...createUnsignedHeaders(), signature: '1/1 1 a b c d e' }, reply }),
    'signed',
  )
})

it('declares the calls between services as the contracts do', async () => {
  const { contracts } = await importContracts()
  for (const name of serviceNames) {
    const called = contracts.filter(({ methods }) =>
      Object.values(methods).some(({ callers: by }) => by.includes(name)),
    )
    expect([...serviceDependencies[name]].toSorted(), name).toEqual(
      [...new Set(called.map((one) => one.name))].toSorted(),
    )
  }
})

it('declares the services with guest methods as the contracts do', async () => {
  const { contracts } = await importContracts()
  const parted = contracts.filter(({ methods }) => Object.values(methods).some(({ guest }) => guest))
  expect(guestServices).toEqual(parted.map(({ name }) => name))
})

const hourMs = 3_600_000

it.each<[string, ClockReadings, ClockReadings, boolean]>([
  ['whose process saw the clock set back', [-hourMs, 0], [-hourMs, 0], true],
  ['signed before the clock was set back', [0, 0], [-hourMs, 0], true],
  ['of a gateway that started before the clock was set', [-hourMs, 0], [-hourMs, -hourMs], true],
  ['to a service that started before the clock was set', [hourMs, hourMs], [hourMs, 0], true],
  ['of another hour', [-hourMs, -hourMs], [0, 0], false],
  ['of the next hour', [hourMs, hourMs], [0, 0], false],
])('accepts or rejects a request %s by either reading of the clock', (_which, signedAt, checkedAt, isTaken) => {
  const signatures = createGatewaySigner(createSecret())
  const headers = { ...createUnsignedHeaders(), identity: JSON.stringify(testUser) }
  const request = { subject: 'svc.query.gateway.rows', reply, headers, body: encodeJson({}) }
  const check = openSignatureCheck(signatures, () => checkedAt)
  const called = { caller: 'gateway', method: 'rows' } as const
  const message = { ...request, unheard: false, headers: createSignedHeaders(signatures.sign, request, () => signedAt) }
  const checking = () => check({ service: 'query', called, isSafe: true, identity: testUser, message })
  if (isTaken) expect(checking).not.toThrow()
  else expect(checking).toThrow('compare the clocks')
})

it.each([
  ['svc.agent.gateway.start', 2 * hourMs, true],
  ['svc.agent.gateway.start', 2 * hourMs + 1_000, false],
  ['svc.mcp.gateway.call', 130_000, true],
  ['svc.mcp.gateway.call', 131_000, false],
])('lets a service act on %s for a limited time: after %d ms %s', (subject, ageMs, isTaken) => {
  const signatures = createGatewaySigner(createSecret())
  const caller = subject.startsWith('svc.agent') ? 'agent' : 'mcp'
  const given = { subject, reply, headers: createUnsignedHeaders(), body: encodeJson({}) }
  const delegation = createSignature(signatures, given, () => [0, 0]) ?? ''
  const request = { ...given, subject: `svc.query.${caller}.rows`, headers: { ...createUnsignedHeaders(), delegation } }
  const headers = createSignedHeaders(signatures.sign, request, () => [ageMs, ageMs])
  const check = openSignatureCheck(signatures, () => [ageMs, ageMs])
  const message = { ...request, headers, unheard: false }
  const checking = () =>
    check({ service: 'query', called: { caller, method: 'rows' }, isSafe: true, identity: testUser, message })
  if (isTaken) expect(checking).not.toThrow()
  else expect(checking).toThrow('compare the clocks')
})

it('creates a MAC for each service that may act on a request, and for no other', () => {
  const proofsOf = (subject: string): number => {
    const request = { subject, reply, headers: createUnsignedHeaders(), body: encodeJson({}) }
    return createSignature(createGatewaySigner(createSecret()), request)?.split(',').length ?? 0
  }
  expect(proofsOf('svc.query.gateway.rows')).toBe(1)
  expect(proofsOf('svc.query.gateway.rows.q1')).toBe(1)
  expect(proofsOf('svc.query.gateway.dial._guest')).toBe(2)
  expect(proofsOf('svc.ingest.gateway.take')).toBe(1)
  // There is one MAC each for alert-dispatcher, query and the guest process of query.
  expect(proofsOf('svc.alert-dispatcher.gateway.sweep')).toBe(3)
  expect(proofsOf('svc.agent.gateway.start')).toBe(7)
})

it('lets a guest verify guest requests with its own key', async () => {
  await using cluster = await startCluster()
  await cluster.serveQuery('guest', 'guest', 'query-guest')
  const gateway = await cluster.open('gateway')
  expect(await gateway.client(actingContract).dial({}, createProbeCall({ identity: testUser }))).toEqual({
    subject: 'ada',
  })
})

it('lets no service forge a request to another one with its own key', async () => {
  await using cluster = await startCluster()
  for (const name of ['agent', 'mcp', 'report', 'query-guest']) {
    const wire = await cluster.hub.connect({ caller: 'agent', instance: 'x' })
    const stolen = deriveKey(name, cluster.secret)
    const subject = 'svc.query.gateway.kill'
    for (const holder of ['query', name]) {
      // The stolen key is used in all possible ways: as the secret, and as the key of the called service.
      const request = { subject, reply, headers: createUnsignedHeaders(), body: encodeJson({}) }
      for (const sign of [createGatewaySigner(stolen).sign, forgeMacs(stolen)]) {
        const headers = createSignedHeaders((statement) => sign(statement, [holder]), request)
        isRefused(await publishRaw(wire, { ...request, body: {}, headers }), 'not that of')
      }
    }
  }
  expect(cluster.changed).toEqual([])
})

it('sends an unsafe request to a named process, so that a second process rejects a captured one', async () => {
  await using cluster = await startCluster()
  await cluster.serveQuery('second')
  const wire = await cluster.hub.connect({ caller: 'ingest', instance: 'x' })
  const captured: WireMessage[] = []
  wire.subscribe('svc.query.>', (message) => captured.push(message))
  const gateway = await cluster.open('gateway')
  const { kill } = gateway.client(actingContract)
  await expect
    .poll(async () => {
      captured.length = 0
      await kill({}, createProbeCall({ identity: testUser }))
      return captured[0]?.subject
    })
    .toMatch(/^svc\.query\.gateway\.kill\.(query|second)$/)
  const [message] = captured
  if (!message) throw new Error('nothing was captured')
  const done = cluster.changed.length
  const { subject, reply: inbox = '' } = message
  // Repetitions with the same id are ignored without a response. The id is not signed.
  const createHeaders = () => ({ ...message.headers, request: randomUUID() })
  for (const to of [subject, 'svc.query.gateway.kill', 'svc.query.gateway.kill.query', 'svc.query.gateway.kill.second'])
    isRefused(
      await publishRaw(wire, { subject: to, headers: createHeaders(), reply: inbox }),
      to === subject ? 'already received' : 'subject',
    )
  expect(cluster.changed).toHaveLength(done)
})
