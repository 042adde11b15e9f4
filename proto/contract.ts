import type { z } from 'zod'
import type { Call, Feature, ServiceName } from './call.ts'

interface MethodTraits {
  /** One sentence for the reader of the contract. */
  doc: string
  /** Services that may call; NATS permissions are generated from it. Writes accept `gateway` only. */
  callers: readonly ServiceName[]
  /** Refused with `forbidden` when the caller's identity may not use this feature. */
  feature?: Feature
  /** Has no effect besides its answer, so a caller cut off before an answer may try once more. */
  safe?: boolean
  /** Input field whose value picks a live instance by rendezvous hash; none live means the queue group. */
  prefer?: string
  /** Input field of the form `<instance>.<rest>`: only that instance can answer; none live means `gone`. */
  exact?: string
  /** Has to do with addresses that callers give, so it is answered by the processes that are allowed to connect to them. */
  guest?: boolean
  /** A process that answers `busy` has done nothing, so the least loaded one that is known of is asked too. */
  elsewhere?: boolean
}

/** One question, one answer, both JSON. */
export interface Rpc<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> extends MethodTraits {
  kind: 'rpc'
  input: I
  output: O
}

/** What a stream carries: JSON values checked at both ends, or bytes nobody looks into. */
export type Frames<F extends z.ZodType = z.ZodType> = { kind: 'json'; schema: F } | { kind: 'bytes' }

/** One question, then a JSON head, ordered frames and a JSON tail. */
export interface Stream<
  I extends z.ZodType = z.ZodType,
  H extends z.ZodType = z.ZodType,
  F extends Frames = Frames,
  T extends z.ZodType = z.ZodType,
> extends MethodTraits {
  kind: 'stream'
  input: I
  head: H
  frames: F
  tail: T
}

/** Whatever a service can be asked. */
export type Method = Rpc | Stream
/** The methods of one service, by the name in their subject. */
export type Methods = Record<string, Method>

/** All that one service answers. */
export interface Service<M extends Methods = Methods> {
  name: ServiceName
  methods: M
}

/** Something that happened, told to whoever listens; delivery is at most once. `name` is `<noun>.<past-verb>`. */
export interface Event<P extends z.ZodType = z.ZodType> {
  kind: 'event'
  name: `${string}.${string}`
  doc: string
  /** Services that may publish it. */
  publishers: readonly ServiceName[]
  /** Services that may listen to it. */
  listeners: readonly ServiceName[]
  payload: P
}

/** Declares a method with one answer. */
export const rpc = <I extends z.ZodType, O extends z.ZodType>(method: Omit<Rpc<I, O>, 'kind'>): Rpc<I, O> => ({
  kind: 'rpc',
  ...method,
})

/** Declares a method whose answer comes in frames. */
export const stream = <I extends z.ZodType, H extends z.ZodType, F extends Frames, T extends z.ZodType>(
  method: Omit<Stream<I, H, F, T>, 'kind'>,
): Stream<I, H, F, T> => ({ kind: 'stream', ...method })

/** Frames that are checked against a schema at both ends. */
export const json = <F extends z.ZodType>(schema: F): { kind: 'json'; schema: F } => ({ kind: 'json', schema })
/** Frames that travel as they are. */
export const bytes = (): { kind: 'bytes' } => ({ kind: 'bytes' })

/** Declares all that one service answers. */
export const service = <M extends Methods>(name: ServiceName, methods: M): Service<M> => ({ name, methods })

/** Declares something that happens and may be listened to. */
export const event = <P extends z.ZodType>(event: Omit<Event<P>, 'kind'>): Event<P> => ({ kind: 'event', ...event })

/** The value of one frame: the schema's output, or bytes. */
export type FrameOf<F extends Frames> = F extends { kind: 'json'; schema: infer S extends z.ZodType }
  ? z.output<S>
  : Uint8Array

/** An answer that arrives piece by piece. Leaving the loop early cancels the producer; `tail()` is known once the frames have ended. */
export interface Streaming<H, F, T> {
  head: H
  frames: AsyncIterable<F>
  tail(): T
}

/** What a stream's handler returns: its frames end with the tail as the generator's return value. */
export interface Produced<H, F, T> {
  head: H
  frames: AsyncGenerator<F, T, void>
}

/** How a service looks to its callers. */
export type Client<S extends Service> = {
  readonly [N in keyof S['methods']]: S['methods'][N] extends Stream<infer I, infer H, infer F, infer T>
    ? (input: z.input<I>, call: Call) => Promise<Streaming<z.output<H>, FrameOf<F>, z.output<T>>>
    : S['methods'][N] extends Rpc<infer I, infer O>
      ? (input: z.input<I>, call: Call) => Promise<z.output<O>>
      : never
}

/** What a service must implement; the compiler demands every method. */
export type Handlers<S extends Service> = {
  readonly [N in keyof S['methods']]: S['methods'][N] extends Stream<infer I, infer H, infer F, infer T>
    ? (input: z.output<I>, call: Call) => Promise<Produced<z.input<H>, FrameOf<F>, z.input<T>>>
    : S['methods'][N] extends Rpc<infer I, infer O>
      ? (input: z.output<I>, call: Call) => Promise<z.input<O>>
      : never
}
