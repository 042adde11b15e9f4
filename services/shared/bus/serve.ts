import type { Logger } from 'pino'
import { type CallContext, requireFeature } from '#proto/call.ts'
import type { StreamHandlerResult, Service, Stream, Method } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Clock } from '../time/clock.ts'
import type { ServingRole, ServedContract } from './bus.ts'
import { encodeOutput, encodeFrame, parseInput } from './validate-payload.ts'
import type { BusChannel } from './exchange.ts'
import { toServiceError } from './failure.ts'
import { createFrameHeaders, createStateHeaders, readStateRequest } from './frame.ts'
import type { CallObserver } from './call-observer.ts'
import { readRequestHeaders } from './request-headers.ts'
import { Reply } from './reply.ts'
import { formatRequestKey, type RequestRecord, RequestRecords } from './request-records.ts'
import { openSignatureCheck, type SignatureCheck } from './signatures.ts'
import {
  type CallSubjectReader,
  isServiceInbox,
  openCallSubjectReader,
  listServedSubjects,
  type CallSubject,
  stateToken,
} from './subject.ts'
import type { Subscription, WireMessage } from './wire.ts'

/** The dependencies of a server. */
export interface ServingContext {
  channel: BusChannel
  instance: string
  clock: Clock
  observer: CallObserver
  log: Logger | undefined
}

/** The handler of a method of any contract. */
export type Handler = (input: unknown, call: CallContext) => Promise<unknown>

/** Serves one contract. Disposing it stops accepting requests and waits for those in flight. */
export class ContractServer implements ServedContract {
  readonly #context: ServingContext
  readonly #contract: Service
  readonly #handlers: Readonly<Record<string, Handler>>
  readonly #maxInFlight: number
  readonly #subscriptions: readonly Subscription[]
  readonly #readSubject: CallSubjectReader
  readonly #checkSignature: ReceivedRequest['checkSignature']
  readonly #records = new RequestRecords()
  readonly #stateSubscriptions: readonly Subscription[]
  #inFlight = 0
  #idle: (() => void) | undefined

  constructor(
    context: ServingContext,
    contract: Service,
    handlers: Readonly<Record<string, Handler>>,
    { maxInFlight, part }: { maxInFlight: number; part: ServingRole },
  ) {
    this.#context = context
    this.#contract = contract
    this.#handlers = handlers
    this.#maxInFlight = maxInFlight
    this.#readSubject = openCallSubjectReader(contract.name, context.instance)
    this.#checkSignature = context.channel.signatures && openSignatureCheck(context.channel.signatures)
    this.#subscriptions = this.#subscribe(part)
    this.#stateSubscriptions = this.#subscribeToStates(part)
  }

  get load(): number {
    return this.#inFlight
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#subscriptions.map((subscription) => subscription.drain()))
    if (this.#inFlight > 0) await new Promise<void>((resolve) => (this.#idle = resolve))
    // Callers can request states until the last response has been sent.
    await this.#context.channel.wire.flush()
    await Promise.all(this.#stateSubscriptions.map((subscription) => subscription.drain()))
  }

  #subscribe(part: ServingRole): Subscription[] {
    const { channel, instance } = this.#context
    const { any, own, anyGuest, ownGuest } = listServedSubjects(this.#contract.name, instance)
    const hear = (message: WireMessage) => void this.#hear(message)
    const both = (together: string, alone: string) => [
      channel.wire.subscribe(together, hear, this.#contract.name),
      channel.wire.subscribe(alone, hear),
    ]
    return [...(part === 'guest' ? [] : both(any, own)), ...(part === 'own' ? [] : both(anyGuest, ownGuest))]
  }

  #subscribeToStates(part: ServingRole): Subscription[] {
    const { channel, instance } = this.#context
    const { state, stateGuest } = listServedSubjects(this.#contract.name, instance)
    const subjects = [...(part === 'guest' ? [] : [state]), ...(part === 'own' ? [] : [stateGuest])]
    return subjects.map((subject) => channel.wire.subscribe(subject, (message) => this.#sendState(message)))
  }

  /** Sends the state of a request to its caller. Before that, sends the frames that the caller has not received. */
  #sendState(message: WireMessage): void {
    const caller = this.#readSubject(message.subject)?.caller
    const requested = readStateRequest(message)
    if (caller === undefined || requested === undefined || message.reply === undefined) return
    if (!isServiceInbox(caller, message.reply) || !isServiceInbox(caller, requested.reply)) return this.#drop(message)
    const { wire } = this.#context.channel
    const recorded = this.#records.read(formatRequestKey(requested.reply, requested.id), requested.expected)
    // The id keeps frames that arrive twice from a later request with the same reply subject.
    for (const { kind, sequence, body } of recorded.frames)
      wire.publish(requested.reply, body, { headers: { ...createFrameHeaders(kind, sequence), request: requested.id } })
    wire.publish(message.reply, new Uint8Array(0), { headers: createStateHeaders(recorded) })
  }

  async #hear(message: WireMessage): Promise<void> {
    if (message.reply === undefined) return
    const called = this.#readSubject(message.subject)
    if (!called || !isServiceInbox(called.caller, message.reply)) return this.#drop(message)
    // Requests for a state are received on another subscription, too.
    if (called.method === stateToken) return
    const record = this.#beginRecord(message, called.method)
    if (record === 'repeated') return
    const { channel, clock } = this.#context
    const reply = new Reply(channel, message.reply, record)
    this.#inFlight += 1
    try {
      if (this.#inFlight > this.#maxInFlight) throw this.#busy()
      const checks = { contract: this.#contract, checkSignature: this.#checkSignature, nowMs: clock.elapsedMs() }
      await this.#handle(checkRequest({ ...checks, called, message }), reply)
    } catch (error) {
      this.#fail(reply, error, message.subject)
    } finally {
      reply.close()
      this.#inFlight -= 1
      if (this.#inFlight === 0) this.#idle?.()
    }
  }

  /** Starts the record of a request. Callers of an older release send no id, so that their requests have no record. */
  #beginRecord({ headers, reply = '' }: WireMessage, name: string): RequestRecord | 'repeated' | undefined {
    const { request: id } = headers
    if (id === undefined) return undefined
    const isSafe = Object.hasOwn(this.#contract.methods, name) && this.#contract.methods[name]?.safe === true
    return this.#records.begin(formatRequestKey(reply, id), isSafe) ?? 'repeated'
  }

  async #handle({ name, method, input, call }: AdmittedRequest, reply: Reply): Promise<void> {
    const { channel, clock, observer } = this.#context
    const observed = observer.incoming({ service: this.#contract.name, method: name, caller: call.caller }, call)
    try {
      reply.begin(call.deadline - clock.elapsedMs())
      const given = await this.#handlers[name]?.(input, { ...call, trace: observed.trace, signal: reply.signal })
      if (method.kind === 'rpc') await reply.answer(encodeOutput(method.output, given))
      // The contract guarantees this type for handlers of streams.
      else
        await sendStream(
          reply,
          method,
          given as StreamHandlerResult<unknown, unknown, unknown>,
          channel.limits.frameBytes,
        )
      observed.end()
    } catch (error) {
      observed.end(error)
      throw error
    }
  }

  #fail(reply: Reply, error: unknown, subject: string): void {
    const { aborted, reason } = reply.signal
    if (aborted) {
      // An error after an abort is not a defect, so it is not logged. The caller only gets the abort reason, such as
      // `timeout`.
      if (reason instanceof ServiceError) reply.fail(reason)
      return
    }
    const report = (reference: string) => this.#context.log?.error({ err: error, subject, reference }, 'handler failed')
    reply.fail(toServiceError(error, report))
  }

  /** Logs and drops a request with an invalid subject, or with a reply subject outside the inbox of its caller. */
  #drop({ subject, reply }: WireMessage): void {
    this.#context.log?.warn({ subject, reply }, 'request dropped: wrong subject or reply inbox')
  }

  #busy(): ServiceError {
    const sentence = `service "${this.#contract.name}" is busy with ${this.#maxInFlight} calls; try again shortly`
    return new ServiceError('busy', sentence, { retryAfterMs: this.#context.channel.limits.busyRetryMs })
  }
}

/** Sends the frames of a stream; the generator of the handler is always closed. */
const sendStream = async (
  reply: Reply,
  method: Stream,
  { head, frames }: StreamHandlerResult<unknown, unknown, unknown>,
  frameBytes: number,
): Promise<void> => {
  try {
    reply.head(encodeFrame(method.head, head, frameBytes))
    for (;;) {
      const step = await frames.next()
      reply.signal.throwIfAborted()
      if (step.done) return reply.end(encodeFrame(method.tail, step.value, frameBytes))
      await reply.data(encodeFrameBody(method, step.value, frameBytes))
    }
  } finally {
    await frames.return(undefined)
  }
}

/** Encodes a value of a stream. JSON must fit into one frame; bytes may be longer and are split into frames later. */
const encodeFrameBody = ({ frames }: Stream, value: unknown, frameBytes: number): Uint8Array => {
  if (frames.kind === 'json') return encodeFrame(frames.schema, value, frameBytes)
  if (value instanceof Uint8Array) return value
  throw new Error('invalid frame of a byte stream: the handler yielded a value that is not a Uint8Array')
}

/** A request that passed all checks, with its parsed input. */
interface AdmittedRequest {
  name: string
  method: Method
  input: unknown
  call: Omit<CallContext, 'signal'> & Required<Pick<CallContext, 'caller'>>
}

/** A received request with the context of its checks. */
interface ReceivedRequest {
  contract: Service
  called: CallSubject
  message: WireMessage
  nowMs: number
  /** Throws if the signature is invalid; undefined if nothing is signed. */
  checkSignature: ((checking: SignatureCheck) => void) | undefined
}

/**
 * Checks and parses a request: the method exists, the caller may call it, the signature is valid, the identity has the
 * feature, and the input is valid. Throws a `ServiceError` for the first failed check.
 */
const checkRequest = ({ contract, called, message, nowMs, checkSignature }: ReceivedRequest): AdmittedRequest => {
  const { caller, method: name } = called
  const method = Object.hasOwn(contract.methods, name) ? contract.methods[name] : undefined
  if (!method)
    throw new ServiceError('not-implemented', `method "${contract.name}.${name}" does not exist in this release`)
  if (!method.callers.includes(caller)) {
    throw new ServiceError('forbidden', `service "${caller}" is not allowed to call "${contract.name}.${name}"`)
  }
  const call = { ...readHeaders(message, nowMs), caller }
  const isSafe = method.safe === true
  checkSignature?.({ service: contract.name, called, isSafe, identity: call.identity, message })
  requireFeature(call.identity, method.feature, `${contract.name}.${name}`)
  return { name, method, input: parseInput(method.input, message.body), call }
}

const readHeaders = (message: WireMessage, nowMs: number): Omit<CallContext, 'signal'> => {
  try {
    return readRequestHeaders(message.headers, nowMs)
  } catch (error) {
    throw new ServiceError('invalid', 'the request has no identity or deadline', { cause: error })
  }
}
