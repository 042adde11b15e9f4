import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { limitEntries } from '../store/limit-entries.ts'
import type { z } from 'zod'
import type { CallContext, ServiceName } from '#proto/call.ts'
import type { ServiceClient, Method, Service, Stream, StreamResponse } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { type RequestDeps, sendRequest, type StartedResponse } from './send-request.ts'
import { encodeJson, decodeJson, joinBodies } from './body.ts'
import type { RequestExchange } from './exchange.ts'
import type { CallObserver } from './call-observer.ts'
import { chooseRequestRoute, type RouteContext } from './route.ts'
import { formatCallSubject, stateToken } from './subject.ts'

/** The dependencies of a client. */
export interface ClientDeps extends RequestDeps {
  caller: ServiceName
  observer: CallObserver
}

/** Maximum cached subjects per method; each instance has one. */
const maxCachedInstances = 64

/** Creates the methods of another service, typed by its contract. */
export const createClient = <S extends Service>(deps: ClientDeps, contract: S): ServiceClient<S> => {
  const methods = Object.entries(contract.methods).map(([name, method]) => [
    name,
    createMethod(deps, contract, name, method),
  ])
  // Every method of the contract is present and parses its result with the schema of its type.
  return Object.fromEntries(methods) as ServiceClient<S>
}

const createMethod = (deps: ClientDeps, { name: service }: Service, name: string, method: Method) => {
  const { caller, channel, instances, observer, placement } = deps
  // Cached, because the in-memory wire finds the subscriptions of an identical string faster.
  const subjects = new LRUCache<string, string>({
    ...limitEntries(maxCachedInstances),
    memoMethod: (instance) => formatCallSubject(service, caller, name, instance || undefined),
  })
  const subjectTo = (instance = ''): string => subjects.memo(instance)
  const stateSubjectTo = (tokens: string): string => formatCallSubject(service, caller, stateToken, tokens)
  return async (input: unknown, call: CallContext): Promise<unknown> => {
    const observed = observer.outgoing({ service, method: name, caller }, call)
    try {
      const body = encodeInput(input, channel.limits.inputBytes)
      const routing: RouteContext = {
        userConnections: call.connections,
        live: (part) => instances.of(service, part),
        placement,
        describe: () => `${service}.${name} ${hash('sha256', body, 'base64url')}`,
      }
      const started = await sendRequest(deps, {
        service,
        subjectTo,
        stateSubjectTo,
        method,
        chooseRoute: () => chooseRequestRoute(method, input, routing),
        body,
        call: { ...call, trace: observed.trace },
        leastLoaded: () => instances.leastLoaded(service),
      })
      if (method.kind === 'stream') {
        started.exchange.onEnd(observed.end)
        return readStream(method, started)
      }
      const { first } = started
      const whole =
        first.kind === 'answer' ? first.body : await readWholeResponse(started.exchange, channel.limits.answerBytes)
      const answer = parse(method.output, whole)
      observed.end()
      return answer
    } catch (error) {
      observed.end(error)
      throw error
    }
  }
}

const encodeInput = (input: unknown, inputBytes: number): Uint8Array => {
  const body = encodeJson(input)
  if (body.byteLength <= inputBytes) return body
  throw new ServiceError('too-large', `request too large: ${body.byteLength} bytes; the maximum is ${inputBytes}`)
}

/** Reads all frames of a response and returns the whole body. */
const readWholeResponse = async (exchange: RequestExchange, answerBytes: number): Promise<Uint8Array> => {
  const parts: Uint8Array[] = []
  let bytes = 0
  for (;;) {
    const taken = await exchange.take()
    if ('tail' in taken) return joinBodies(parts)
    bytes += taken.frame.byteLength
    parts.push(taken.frame)
    if (bytes <= answerBytes) continue
    const error = new ServiceError('too-large', `response too large: the maximum is ${answerBytes} bytes`)
    exchange.leave(error)
    throw error
  }
}

/** Parses a JSON body with its schema; unknown fields are dropped. */
const parse = <S extends z.ZodType>(schema: S, body: Uint8Array): z.output<S> => {
  try {
    return schema.parse(decodeJson(body))
  } catch (cause) {
    throw new ServiceError('internal', 'the response does not match its contract', { cause })
  }
}

/**
 * Returns a stream after its head has arrived. Its frames can be read once; leaving the loop early cancels the
 * producer.
 */
const readStream = (
  method: Stream,
  { exchange, first }: StartedResponse,
): StreamResponse<unknown, unknown, unknown> => {
  const schema = method.frames.kind === 'json' ? method.frames.schema : undefined
  let tail: { value: unknown } | undefined

  const frames = async function* () {
    try {
      for (;;) {
        const taken = await exchange.take()
        if ('frame' in taken) {
          yield schema ? parse(schema, taken.frame) : taken.frame
          continue
        }
        tail = { value: parse(method.tail, taken.tail) }
        return
      }
    } finally {
      if (!tail) exchange.leave(createAbortError())
    }
  }
  try {
    return { head: parse(method.head, first.body), frames: frames(), tail: () => requireTail(tail) }
  } catch (error) {
    exchange.leave(error)
    throw error
  }
}

const requireTail = (tail: { value: unknown } | undefined): unknown => {
  if (tail) return tail.value
  throw new Error('the tail of the stream is not available; read all frames first')
}

const createAbortError = () => new DOMException('the reader stopped before the end of the stream', 'AbortError')
