import type { z } from 'zod'
import type { ServiceName } from '#proto/call.ts'
import type { Client, Event, Handlers, Service } from '#proto/contract.ts'

/** How services reach one another. A bus belongs to one service of one process: what it sends carries that service's name. */
export interface Bus extends AsyncDisposable {
  readonly caller: ServiceName
  /** This process among its equals: lower-case letters, digits and dashes. */
  readonly instance: string
  /** False while cut off from the other processes; always true in memory. */
  readonly connected: boolean
  /** Typed methods of another service. Failures are `ServiceError`s; a caller whose signal aborts gets that signal's reason. */
  client<S extends Service>(contract: S): Client<S>
  /** Answers a contract until disposed; disposing leaves the queue group first and then waits for calls in flight. */
  serve<S extends Service>(contract: S, handlers: Handlers<S>, options?: ServeOptions): Promise<Serving>
  /** Tells whoever listens; at most once, never waits. */
  emit<P extends z.ZodType>(event: Event<P>, payload: z.input<P>): void
  /** Every listener hears every event; a payload that does not fit the contract is logged and dropped. */
  on<P extends z.ZodType>(event: Event<P>, listener: (payload: z.output<P>) => void): Promise<AsyncDisposable>
}

/** How much a process takes on at once. */
export interface ServeOptions {
  /** Calls in flight beyond this are answered `busy`; default 256. */
  maxInFlight?: number
  /** The load that is announced; calls in flight where nothing else is said. */
  load?: () => number
  /** Which questions this process takes; default `all`. */
  part?: Part
}

/** `guest` takes what has to do with databases that callers bring, `own` all but that, `all` both. */
export type Part = 'all' | 'own' | 'guest'

/** A contract that is being served; disposing it finishes the calls in flight. */
export interface Serving extends AsyncDisposable {
  /** Calls in flight now. */
  readonly load: number
}
