import { expect, it } from 'vitest'
import { type Identity, type ServiceName, serviceNames } from '#proto/call.ts'
import type { Service } from '#proto/contract.ts'
import { importContracts } from '../../generate/chart/services.ts'
import { encodeJson } from './body.ts'
import { createProbeCall } from './conformance/probe.suite.ts'
import { type SignedRequest, type RequestSigner, deriveKey, openSignatureCheck, createSignature } from './signatures.ts'
import { formatCallSubject, listKeyHolders } from './subject.ts'
import {
  actingContract,
  testUser,
  createServiceIdentity,
  forgeMacs,
  createSecret,
  publishRaw,
  createTestSigner,
  createSignedHeaders,
  createGatewaySigner,
  startCluster,
  createUnsignedHeaders,
} from './testing/cluster.ts'
import { listCallees, deriveCallKey, createProcessKeys } from './testing/keys.ts'

const reply = '_INBOX.report.r1.1'

it('lets a service act for itself, and for no invented user', async () => {
  await using cluster = await startCluster()
  const dispatcher = await cluster.open('alert-dispatcher')
  const { rows } = dispatcher.client(actingContract)
  expect(await rows({}, createProbeCall({ identity: createServiceIdentity('alert-dispatcher') }))).toEqual({
    subject: 'alert-dispatcher',
  })
  for (const identity of [testUser, createServiceIdentity('gateway'), createServiceIdentity('report')])
    await expect(rows({}, createProbeCall({ identity }))).rejects.toThrow(
      'it has no delegation by gateway for its identity',
    )
})

it('lets a service act for itself while it serves a caller whose signature it has received', async () => {
  await using cluster = await startCluster()
  const dispatcher = await cluster.open('alert-dispatcher')
  const call = createProbeCall({
    identity: createServiceIdentity('alert-dispatcher'),
    signature: 'of the request that it answers',
  })
  expect(await dispatcher.client(actingContract).rows({}, call)).toEqual({ subject: 'alert-dispatcher' })
})

it('executes a request of a service for itself once, only with its own subject, reply and body', async () => {
  await using cluster = await startCluster()
  const wire = await cluster.hub.connect({ caller: 'ingest', instance: 'x' })
  const subject = 'svc.query.report.keep'
  const request = {
    subject,
    reply,
    headers: createUnsignedHeaders(createServiceIdentity('report')),
    body: encodeJson({}),
  }
  const headers = createSignedHeaders(cluster.signaturesOf('report').sign, request)
  const send = async (changed: Partial<Parameters<typeof publishRaw>[1]>): Promise<string> => {
    const answer = await publishRaw(wire, { subject, headers, reply, ...changed })
    return Buffer.from(answer.body).toString()
  }
  expect(await send({ headers: createUnsignedHeaders(createServiceIdentity('report')) })).toContain('is not signed')
  expect(await send({ subject: 'svc.query.report.rows' })).toContain(
    'subject or reply inbox differs from the signed one',
  )
  expect(await send({ reply: '_INBOX.report.r1.2' })).toContain('subject or reply inbox differs from the signed one')
  expect(await send({ body: { more: 1 } })).toContain('content differs from the signed one')
  expect(cluster.changed).toEqual([])
  expect(await send({})).toBe('{}')
  expect(await send({})).toContain('already received')
  expect(cluster.changed).toHaveLength(1)
  const old = createSignedHeaders(cluster.signaturesOf('report').sign, request, () => [0, 0])
  expect(await send({ headers: old })).toContain('compare the clocks')
})

it('trusts unsigned requests of a service for itself only while they are accepted', async () => {
  await using cluster = await startCluster('accepted')
  const wire = await cluster.hub.connect({ caller: 'report', instance: 'r1' })
  const request = {
    subject: 'svc.query.report.keep',
    reply,
    headers: createUnsignedHeaders(createServiceIdentity('report')),
    body: encodeJson({}),
  }
  expect((await publishRaw(wire, { ...request, body: {} })).headers.frame).toBe('answer')
  const headers = createSignedHeaders(cluster.signaturesOf('mcp').sign, request)
  expect(headers.signature).not.toBe('')
  expect(Buffer.from((await publishRaw(wire, { ...request, headers, body: {} })).body).toString()).toContain(
    'not that of report',
  )
})

const holders = serviceNames.flatMap(listKeyHolders)

/** Returns functions that sign with a process's keys: correctly, for another service, and with each key directly. */
const forgeries = (holder: string, secret: string): RequestSigner['sign'][] => {
  const callees = listCallees(holder)
  const keys = [deriveKey(holder, secret), ...callees.map((callee) => deriveCallKey(holder, callee, secret))]
  const { sign } = createTestSigner(createProcessKeys([holder], secret))
  const derived = (key: string): RequestSigner['sign'] => {
    return (statement) => forgeMacs(deriveKey(statement.signer, key))(statement, [])
  }
  return [
    ...callees.map(
      (callee): RequestSigner['sign'] =>
        (statement) =>
          sign(statement, [callee]),
    ),
    ...keys.flatMap((key) => [createGatewaySigner(key).sign, forgeMacs(key), derived(key)]),
  ]
}

interface ServiceCall {
  callee: ServiceName
  caller: ServiceName
  method: string
}

/** Returns all methods that each service may call. */
const serviceCallsOf = (contracts: readonly Service[]): ServiceCall[] =>
  contracts.flatMap(({ name, methods }) =>
    Object.entries(methods).flatMap(([method, { callers }]) =>
      callers.filter((caller) => caller !== 'gateway').map((caller) => ({ callee: name, caller, method })),
    ),
  )

/** Returns a request that a service sends for itself, or for a user with a delegation from the gateway. */
const requestOf = ({ callee, caller, method }: ServiceCall, identity: Identity, gateway: RequestSigner) => {
  const request = {
    subject: `svc.${caller}.gateway.start`,
    reply,
    headers: createUnsignedHeaders(identity),
    body: encodeJson({}),
  }
  const delegation = identity.kind === 'service' ? undefined : createSignature(gateway, request)
  return {
    subject: formatCallSubject(callee, caller, method),
    reply: `_INBOX.${caller}.x.1`,
    headers: { ...createUnsignedHeaders(identity), ...(delegation !== undefined && { delegation }) },
    body: encodeJson({}),
  }
}

it.each([
  ['for itself', createServiceIdentity],
  ['for a person, with what the gateway signed for that one', () => testUser],
])(
  'rejects requests of one service in the name of another %s, for each method and with all its keys',
  async (_for, identityOf) => {
    const { contracts } = await importContracts()
    const calls = serviceCallsOf(contracts)
    expect(calls.length).toBeGreaterThan(250)
    const secret = createSecret()
    const checks = new Map(
      serviceNames.map((name) => [name, openSignatureCheck(createTestSigner(createProcessKeys([name], secret)))]),
    )
    /** Returns why the called service rejects a request; undefined if it accepts it. */
    const refusal = (call: ServiceCall, message: SignedRequest): string | undefined => {
      const checking = { service: call.callee, called: call, isSafe: false, identity: identityOf(call.caller) }
      try {
        checks.get(call.callee)?.({ ...checking, message: { ...message, unheard: false } })
        return undefined
      } catch (error) {
        return String(error)
      }
    }
    const attackers = holders.filter((name) => name !== 'gateway')
    const forged = new Map(attackers.map((holder) => [holder, forgeries(holder, secret)]))
    const wrong: string[] = []
    for (const call of calls) {
      const request = requestOf(call, identityOf(call.caller), createGatewaySigner(secret))
      if (!refusal(call, request)?.includes('it is not signed')) wrong.push(`${request.subject} unsigned`)
      // The called service can only forge requests to itself.
      for (const holder of attackers.filter((name) => name !== call.caller && name !== call.callee))
        for (const sign of forged.get(holder) ?? []) {
          const reason = refusal(call, { ...request, headers: createSignedHeaders(sign, request) })
          if (!/not that of|cannot be read/.test(reason ?? '')) wrong.push(`${request.subject} by ${holder}: ${reason}`)
        }
      const { sign } = createTestSigner(createProcessKeys([call.caller], secret))
      const reason = refusal(call, { ...request, headers: createSignedHeaders(sign, request) })
      if (reason !== undefined) wrong.push(`${request.subject}: ${reason}`)
    }
    expect(wrong).toEqual([])
  },
)

it('rejects requests of a service for a user for whom the gateway has not called it', async () => {
  await using cluster = await startCluster()
  const request = { subject: 'svc.query.report.keep', reply, headers: createUnsignedHeaders(), body: encodeJson({}) }
  const wire = await cluster.hub.connect({ caller: 'report', instance: 'r1' })
  const send = async (delegation: string | undefined): Promise<string> => {
    const headers = { ...request.headers, ...(delegation !== undefined && { delegation }) }
    const signed = createSignedHeaders(cluster.signaturesOf('report').sign, { ...request, headers })
    return Buffer.from((await publishRaw(wire, { ...request, headers: signed, body: {} })).body).toString()
  }
  const gateway = cluster.signaturesOf('gateway')
  const delegationOf = (subject: string, identity = testUser) =>
    createSignature(gateway, { ...request, subject, headers: createUnsignedHeaders(identity) })
  expect(await send(undefined)).toContain('it has no delegation by gateway for its identity')
  expect(await send('a b')).toContain('its delegation cannot be read')
  expect(await send(delegationOf('svc.ingest.gateway.take'))).toContain('was signed for a request to')
  expect(await send(delegationOf('svc.report.gateway.weekly', { ...testUser, subject: 'grace' }))).toContain(
    'not that of gateway',
  )
  expect(cluster.changed).toEqual([])
  expect(await send(delegationOf('svc.report.gateway.weekly'))).toBe('{}')
  expect(cluster.changed).toHaveLength(1)
})

it('also signs requests to guests, which contain user-supplied connections', async () => {
  await using cluster = await startCluster()
  await cluster.serveQuery('guest', 'guest', 'query-guest')
  const agent = await cluster.open('agent')
  expect(
    await agent.client(actingContract).dial({}, createProbeCall({ identity: createServiceIdentity('agent') })),
  ).toEqual({
    subject: 'agent',
  })
})

it('gives no service a call key for a service that it does not call', () => {
  const secret = createSecret()
  const proofsFor = (caller: ServiceName, callee: string): number =>
    createTestSigner(createProcessKeys([caller], secret)).sign({ signer: caller, text: 'text' }, [callee]).length
  for (const caller of serviceNames.filter((name) => name !== 'gateway'))
    for (const callee of serviceNames.flatMap(listKeyHolders))
      expect(proofsFor(caller, callee), `${caller} ${callee}`).toBe(listCallees(caller).includes(callee) ? 1 : 0)
})
