import type { z } from 'zod'
import type { CallContext, Feature, ServiceName } from './call.ts'

interface MethodTraits {
  /** Description in one sentence. */
  doc: string
  /**
   * Services that can call the method. NATS permissions are generated from this list. For methods that change a host,
   * it is only `gateway`.
   */
  callers: readonly ServiceName[]
  /** Calls fail with `forbidden` if the identity has no access to this feature. */
  feature?: Feature
  /** Whether the method has no side effects, so that a caller can send it again if it gets no response. */
  safe?: boolean
  /**
   * Input field whose value selects a live instance by rendezvous hashing. If that instance has more than its share of
   * the requests in flight, another one is selected. Without live instances, the request goes to the queue group.
   */
  prefer?: string
  /**
   * Input field of the form `<instance>.<rest>`. Only that instance can respond; calls fail with `gone` if it is not
   * live.
   */
  exact?: string
  /** Whether the method connects to user-supplied addresses. Only processes that may do so respond. */
  guest?: boolean
  /** Whether to retry on the least loaded other process after `busy`. A `busy` call has executed nothing. */
  elsewhere?: boolean
}

/** A unary method with a JSON request and a JSON response. */
export interface Rpc<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> extends MethodTraits {
  kind: 'rpc'
  input: I
  output: O
}

/** The format of the frames of a stream: JSON values that both ends validate, or opaque bytes. */
export type FrameFormat<F extends z.ZodType = z.ZodType> = { kind: 'json'; schema: F } | { kind: 'bytes' }

/** A streaming method: a JSON request, then a JSON head, ordered frames and a JSON tail. */
export interface Stream<
  I extends z.ZodType = z.ZodType,
  H extends z.ZodType = z.ZodType,
  F extends FrameFormat = FrameFormat,
  T extends z.ZodType = z.ZodType,
> extends MethodTraits {
  kind: 'stream'
  input: I
  head: H
  frames: F
  tail: T
}

/** Any method of a service. */
export type Method = Rpc | Stream
/** The methods of one service, by the name in their subject. */
export type Methods = Record<string, Method>

/** A service with its methods. */
export interface Service<M extends Methods = Methods> {
  name: ServiceName
  methods: M
}

/** An event, delivered to all listeners at most once. `name` is `<noun>.<past-verb>`. */
export interface BusEvent<P extends z.ZodType = z.ZodType> {
  kind: 'event'
  name: `${string}.${string}`
  doc: string
  /** Services that can publish it. */
  publishers: readonly ServiceName[]
  /** Services that can subscribe to it. */
  listeners: readonly ServiceName[]
  payload: P
}

/** Declares a unary method. */
export const rpc = <I extends z.ZodType, O extends z.ZodType>(method: Omit<Rpc<I, O>, 'kind'>): Rpc<I, O> => ({
  kind: 'rpc',
  ...method,
})

/** Declares a streaming method. */
export const stream = <I extends z.ZodType, H extends z.ZodType, F extends FrameFormat, T extends z.ZodType>(
  method: Omit<Stream<I, H, F, T>, 'kind'>,
): Stream<I, H, F, T> => ({ kind: 'stream', ...method })

/** Declares frames that are validated against a schema at both ends. */
export const declareJsonFrames = <F extends z.ZodType>(schema: F): { kind: 'json'; schema: F } => ({
  kind: 'json',
  schema,
})
/** Declares frames of opaque bytes. */
export const declareByteFrames = (): { kind: 'bytes' } => ({ kind: 'bytes' })

/** Declares a service. */
export const service = <M extends Methods>(name: ServiceName, methods: M): Service<M> => ({ name, methods })

/** Declares an event. */
export const event = <P extends z.ZodType>(event: Omit<BusEvent<P>, 'kind'>): BusEvent<P> => ({
  kind: 'event',
  ...event,
})

/** The value of one frame: the schema's output, or bytes. */
export type FrameValue<F extends FrameFormat> = F extends { kind: 'json'; schema: infer S extends z.ZodType }
  ? z.output<S>
  : Uint8Array

/** A streaming response. Leaving the loop early cancels the producer. `tail()` resolves after the last frame. */
export interface StreamResponse<H, F, T> {
  head: H
  frames: AsyncIterable<F>
  tail(): T
}

/** The return value of a stream handler. The frame generator returns the tail. */
export interface StreamHandlerResult<H, F, T> {
  head: H
  frames: AsyncGenerator<F, T, void>
}

/** The client interface of a service. */
export type ServiceClient<S extends Service> = {
  readonly [N in keyof S['methods']]: S['methods'][N] extends Stream<infer I, infer H, infer F, infer T>
    ? (input: z.input<I>, call: CallContext) => Promise<StreamResponse<z.output<H>, FrameValue<F>, z.output<T>>>
    : S['methods'][N] extends Rpc<infer I, infer O>
      ? (input: z.input<I>, call: CallContext) => Promise<z.output<O>>
      : never
}

/** The handlers of a service. The compiler requires every method. */
export type ServiceHandlers<S extends Service> = {
  readonly [N in keyof S['methods']]: S['methods'][N] extends Stream<infer I, infer H, infer F, infer T>
    ? (input: z.output<I>, call: CallContext) => Promise<StreamHandlerResult<z.input<H>, FrameValue<F>, z.input<T>>>
    : S['methods'][N] extends Rpc<infer I, infer O>
      ? (input: z.output<I>, call: CallContext) => Promise<z.input<O>>
      : never
}
