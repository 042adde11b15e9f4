import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { type NatsConnection, headers } from 'nats'
import { expect, it } from 'vitest'
import { type Identity, type ServiceName, serviceDependencies, serviceNames } from '#proto/call.ts'
import { createRequestHeaders } from '#shared/bus/request-headers.ts'
import { type SignedRequest, type RequestSigner, deriveKey, createSignature } from '#shared/bus/signatures.ts'
import { createServiceIdentity, createTestSigner, createSignedHeaders } from '#shared/bus/testing/cluster.ts'
import { formatCallSubject } from '#shared/bus/subject.ts'
import { formatStreamUserName } from '#shared/bus/accounts.ts'
import { createProcessKeys } from '#shared/bus/testing/keys.ts'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'
import { formatHostVariables } from '../../testing/product.ts'
import { startProcess } from '../../testing/product/product-process.ts'
import { describeWith, startRedis } from '../../testing/describe-with.ts'
import { isProbeStatement, createProbeResponse } from '../../testing/stub-fleet.ts'
import { reserveFreePort } from '../../testing/servers/port.ts'
import {
  unrestrictedPermissions,
  flushConnections,
  type ObservedNats,
  startObservedNats,
} from './nats-observed-server.ts'

const person: Identity = { kind: 'user', subject: 'forged-admin', features: 'all' }
const subject = 'svc.query.gateway.killQuery'
const body = Buffer.from(JSON.stringify({ hostKey: 'watched', queryId: 'victim' }))
const reply = '_INBOX.gateway.forged.1'

const claimed = (identity = person) =>
  createRequestHeaders({ identity, deadline: 0, signal: new AbortController().signal, priority: 'person' }, 15_000)

const signing = (keys: Record<string, string>): RequestSigner['sign'] => createTestSigner(keys).sign

/**
 * Starts these services on a NATS server, each with its own keys, and records the statements that the host receives.
 */
const startServices = async (services: readonly ServiceName[], change?: Parameters<typeof startObservedNats>[0]) => {
  await using opened = new AsyncDisposableStack()
  const ground = opened.use(await startObservedNats(change))
  const redis = opened.use(await startRedis({ private: true }))
  const statements: string[] = []
  const host = createServer((request, response) => {
    void text(request).then((sql) => {
      statements.push(`${request.url} ${sql}`)
      if (isProbeStatement(sql)) response.end(createProbeResponse())
      else response.writeHead(500).end('no')
    })
  })
  const { origin, stop } = await listenOnLoopback(host)
  opened.defer(stop)
  const secret = randomBytes(32).toString('hex')
  const urlOf = (user: string) => ground.server.url.replace('//', `//${user}:secret@`)
  for (const service of services) {
    const variables = {
      ...(service === 'query' && formatHostVariables([{ url: origin, name: 'watched' }])),
      ...((service === 'alert-dispatcher' || service === 'ingest') && {
        NATS_STREAMS_URL: urlOf(formatStreamUserName(service)),
      }),
      NATS_URL: urlOf(service),
      ...createProcessKeys([service], secret),
      REDIS_URL: redis.url,
    }
    opened.use(await startProcess({ services: [service], variables, operationsPort: await reserveFreePort() }))
  }
  const running = opened.move()
  return {
    ground,
    secret,
    /** Returns how many statements about the attacked query have reached the host. */
    reached: () => statements.filter((sql) => sql.includes('victim')).length,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const widened: NonNullable<Parameters<typeof startObservedNats>[0]> = (declared) => ({
  ...declared,
  users: Object.fromEntries(
    Object.entries(declared.users).map(([user, { account }]) => [
      user,
      { account, permissions: unrestrictedPermissions },
    ]),
  ),
})

/** Publishes a request with its headers unchanged and returns the body of the response. */
const publish = async (attacker: NatsConnection, { headers: stated, ...request }: SignedRequest): Promise<string> => {
  const sent = headers()
  for (const [name, value] of Object.entries(stated)) sent.set(name, value)
  const { subject: to, reply: inbox, body: content } = request
  const answer = await attacker.request(to, content, { headers: sent, reply: inbox, noMux: true, timeout: 15_000 })
  return answer.string()
}

describeWith(['nats', 'redis'], 'a forged request to a running query', () => {
  it(
    'ends no query though every permission lets the attacker through, and one of the gateway does',
    { tags: ['long'] },
    async () => {
      await using running = await startServices(['query'], widened)
      const attacker = await running.ground.as('ingest')
      const request = { subject, reply, body, headers: claimed() }
      expect(await publish(attacker, request)).toContain('not signed')
      // Neither a random secret nor the key of a compromised service can replace the secret of the gateway.
      for (const secret of [randomBytes(32).toString('hex'), deriveKey('ingest', running.secret)]) {
        const forged = createSignedHeaders(signing({ NATS_SIGNING_KEY: secret }), request)
        expect(await publish(attacker, { ...request, headers: forged })).toContain('not that of gateway')
      }
      expect(running.reached()).toBe(0)
      const genuine = {
        ...request,
        headers: createSignedHeaders(signing({ NATS_SIGNING_KEY: running.secret }), request),
      }
      await publish(attacker, genuine)
      await expect.poll(running.reached).toBeGreaterThan(0)
      const reached = running.reached()
      expect(await publish(attacker, genuine)).toContain('already received')
      expect(running.reached()).toBe(reached)
    },
  )

  it(
    'does not arrive by way of a stream: stored under the subject, delivered to the handler',
    { tags: ['long'] },
    async () => {
      await using running = await startServices(['query'])
      const requests = await running.ground.observe('REQUESTS')
      const received: string[] = []
      requests.subscribe('svc.>', { callback: (_error, message) => void received.push(message.subject) })
      const attacker = await running.ground.as(formatStreamUserName('ingest'))
      const sent = headers()
      for (const [name, value] of Object.entries(claimed())) sent.set(name, value)
      await attacker.request('inbound.x.gateway.killQuery', body, { headers: sent, timeout: 5_000 })
      const creation = '$JS.API.CONSUMER.DURABLE.CREATE.EVENTS.evil'
      await expect(attacker.request(creation, '{}', { timeout: 1_000 })).rejects.toThrow()
      for (const name of ['events-kept', 'evil'])
        attacker.publish(`$JS.API.CONSUMER.MSG.NEXT.EVENTS.${name}`, '1', { reply: subject })
      await flushConnections(attacker, requests)
      const gateway = await running.ground.as('gateway')
      gateway.publish('svc.query.gateway.hosts', '{}')
      await flushConnections(gateway, requests)
      await expect.poll(() => received).toEqual(['svc.query.gateway.hosts'])
      expect(running.reached()).toBe(0)
    },
  )
})

interface ServiceRequest extends SignedRequest {
  callee: ServiceName
  caller: ServiceName
  isSafe: boolean
}

/** Returns a request for each method that services may call on their own behalf, once per allowed caller. */
const serviceRequests = (
  { contracts }: Pick<ObservedNats, 'contracts'>,
  callees: readonly ServiceName[],
): ServiceRequest[] =>
  contracts
    .filter(({ name }) => callees.includes(name))
    .flatMap(({ name, methods }) =>
      Object.entries(methods).flatMap(([method, { callers, safe = false }]) =>
        callers
          .filter((caller) => caller !== 'gateway')
          .map((caller) => ({
            callee: name,
            caller,
            isSafe: safe,
            subject: formatCallSubject(name, caller, method),
            reply: `_INBOX.${caller}.forged.${method}`,
            headers: claimed(createServiceIdentity(caller)),
            body: Buffer.from('{}'),
          })),
      ),
    )

/** Returns the request on behalf of a user, with a delegation that the gateway signed for the calling service. */
const forPerson = (request: ServiceRequest, secret: string): ServiceRequest => {
  const forged = { ...request, subject: `svc.${request.caller}.gateway.start`, headers: claimed() }
  const delegation = createSignature(createTestSigner({ NATS_SIGNING_KEY: secret }), forged) ?? ''
  return { ...request, headers: { ...claimed(), delegation } }
}

/** Returns two signers of a service. The first uses its keys correctly, the second uses its own key for all callees. */
const signersOf = (user: ServiceName, secret: string): RequestSigner['sign'][] => {
  const keys = createProcessKeys([user], secret)
  const misused = serviceNames.map((callee) => `${callee}=${keys.NATS_VERIFICATION_KEY}`).join(',')
  return [signing(keys), signing({ ...keys, NATS_CALL_KEYS: misused })]
}

describeWith(['nats', 'redis'], 'a request on behalf of a service', () => {
  const isCalledByServices = (name: ServiceName): boolean =>
    serviceNames.some((caller) => caller !== 'gateway' && serviceDependencies[caller].includes(name))
  const callees = serviceNames.filter(isCalledByServices)

  // Each service sends every request of every other one.
  const everyRequestMs = 180_000

  it(
    'is rejected from every other service, even when all permissions allow it',
    { tags: ['long'], timeout: everyRequestMs },
    async () => {
      await using running = await startServices(callees, widened)
      const own = serviceRequests(running.ground, callees)
      const changing = own.filter(({ isSafe }) => !isSafe)
      expect(changing.length).toBeGreaterThan(10)
      const requests = [...own, ...changing.map((request) => forPerson(request, running.secret))]
      for (const user of serviceNames.filter((name) => name !== 'gateway')) {
        const attacker = await running.ground.as(user)
        const signers = signersOf(user, running.secret)
        for (const request of requests.filter(({ caller, callee }) => caller !== user && callee !== user)) {
          const attempts = [undefined, ...signers].map((sign, index) => {
            const attempt = { ...request, reply: `${request.reply}-${index}` }
            return publish(attacker, sign ? { ...attempt, headers: createSignedHeaders(sign, attempt) } : attempt)
          })
          const answers = await Promise.all(attempts)
          for (const answer of answers) expect(answer, `${request.subject} by ${user}`).toMatch(refusal)
        }
      }
      // A request with the signature of its caller is accepted. If the method is not safe, it is accepted only once.
      for (const request of requests.filter(({ isSafe }) => !isSafe)) {
        const attacker = await running.ground.as('ingest')
        const genuine = createSignedHeaders(signing(createProcessKeys([request.caller], running.secret)), request)
        expect(await publish(attacker, { ...request, headers: genuine }), request.subject).not.toMatch(refusal)
        expect(await publish(attacker, { ...request, headers: genuine }), request.subject).toContain('already received')
      }
    },
  )
})

const refusal = /"forbidden".*(is not signed|is not that of|cannot be read)/
