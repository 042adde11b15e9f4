import { createHmac, hash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { CallContext, Identity, ServiceName } from '#proto/call.ts'
import { declareByteFrames, rpc, service, stream } from '#proto/contract.ts'
import { encodeJson } from '../body.ts'
import type { ServingRole } from '../bus.ts'
import { createRequestSigner } from '../config.ts'
import { createProbeCall } from '../conformance/probe.suite.ts'
import { openBus, openMemoryHub } from '../open.ts'
import { createRequestHeaders } from '../request-headers.ts'
import { type ClockReadings, type SignedRequest, type RequestSigner, createSignature } from '../signatures.ts'
import type { Wire, WireHeaders, WireMessage } from '../wire.ts'
import { createProcessKeys } from './keys.ts'

/** The identity of a test user, who has one feature. */
export const testUser: Identity = { kind: 'user', subject: 'ada', features: ['QUERIES'] }

/** Returns the identity of a service that calls for itself. */
export const createServiceIdentity = (subject: ServiceName): Identity => ({ kind: 'service', subject, features: 'all' })

const empty = z.object({})
const callers = ['gateway', 'agent', 'mcp', 'alert-dispatcher', 'report'] as const

/** A contract with methods that services call for users or for themselves. */
export const actingContract = service('query', {
  kill: rpc({ doc: 'Changes something.', callers: ['gateway'], input: empty, output: empty }),
  keep: rpc({ doc: 'Changes something for a service.', callers: ['report'], input: empty, output: empty }),
  rows: rpc({ doc: 'Reads.', callers, safe: true, input: empty, output: z.object({ subject: z.string() }) }),
  dial: rpc({ doc: 'For guests.', callers, guest: true, input: empty, output: z.object({ subject: z.string() }) }),
  pieces: stream({ doc: 'Reads.', callers, input: empty, head: empty, frames: declareByteFrames(), tail: empty }),
})

/** A contract whose method acts for a user. */
export const delegatingContract = service('agent', {
  start: rpc({
    doc: 'Acts for a person.',
    callers: ['gateway'],
    input: empty,
    output: z.object({ subject: z.string() }),
  }),
})

/** Returns a random secret for the gateway. */
export const createSecret = (): string => randomBytes(32).toString('hex')

/** Returns the request signer of a process that uses NATS and has these environment variables. */
export const createTestSigner = (variables: Record<string, string>): RequestSigner => {
  const signatures = createRequestSigner({ NATS_URL: 'nats://localhost', ...variables })
  if (!signatures) throw new Error('the process has no keys')
  return signatures
}

/** Returns the request signer of a gateway with this signing secret. */
export const createGatewaySigner = (secret: string): RequestSigner => createTestSigner({ NATS_SIGNING_KEY: secret })

/** Returns the headers of a request with a signature by `sign`; the signature is empty if the caller has no key. */
export const createSignedHeaders = (
  sign: RequestSigner['sign'],
  request: SignedRequest,
  readings?: () => ClockReadings,
): WireHeaders => ({ ...request.headers, signature: createSignature({ sign, digest }, request, readings) ?? '' })

const digest = (content: Uint8Array | string) => hash('sha256', content, 'base64url')

/** Starts the services of a cluster on one hub, each with only its own keys. */
export const startCluster = async (mode: 'required' | 'accepted' = 'required') => {
  const secret = createSecret()
  const signaturesOf = (holder: string) =>
    createTestSigner({ NATS_SIGNATURES: mode, ...createProcessKeys([holder], secret) })
  const hub = openMemoryHub()
  const opened = new AsyncDisposableStack()
  const open = async (caller: ServiceName, signatures = signaturesOf(caller), instance: string = caller) =>
    opened.use(await openBus({ hub, caller, instance, version: 'test', signatures }))
  const changed: CallContext[] = []
  const change = async (_input: object, call: CallContext) => {
    changed.push(call)
    return {}
  }
  const serveQuery = async (instance: string, part: ServingRole = 'all', holder = 'query') => {
    const query = await open('query', signaturesOf(holder), instance)
    const handlers = {
      kill: change,
      keep: change,
      rows: async (_input: object, { identity }: CallContext) => ({ subject: identity.subject }),
      dial: async (_input: object, { identity }: CallContext) => ({ subject: identity.subject }),
      pieces: async () => ({ head: {}, frames: yieldNoFrames() }),
    }
    await query.serve(actingContract, handlers, { part })
  }
  await serveQuery('query')
  return { hub, secret, signaturesOf, open, serveQuery, changed, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

async function* yieldNoFrames() {
  yield Buffer.from('')
  return {}
}

/** Publishes a request directly on a wire, as a process with all permissions could, and returns the response. */
export const publishRaw = async (
  wire: Wire,
  { subject, headers, reply, body = {} }: { subject: string; headers: WireHeaders; reply: string; body?: object },
): Promise<WireMessage> => {
  const { promise, resolve } = Promise.withResolvers<WireMessage>()
  const subscription = wire.subscribe(reply, resolve)
  wire.publish(subject, encodeJson(body), { headers, reply })
  const answer = await promise
  await subscription.drain()
  return answer
}

/** Returns the headers of an unsigned request. */
export const createUnsignedHeaders = (identity = testUser): WireHeaders =>
  createRequestHeaders(createProbeCall({ identity }), 10_000)

/** Returns a signing function that forges MACs with a key directly, without deriving the key of the caller. */
export const forgeMacs =
  (key: string): RequestSigner['sign'] =>
  ({ text }) => [createHmac('sha256', Buffer.from(key, 'hex')).update(text).digest('base64url')]
