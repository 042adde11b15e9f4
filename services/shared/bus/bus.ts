import type { z } from 'zod'
import type { ServiceName } from '#proto/call.ts'
import type { Client, Event, Handlers, Service } from '#proto/contract.ts'

/** How services call each other. A bus belongs to one service of one process, and its messages carry that service's name. */
export interface Bus extends AsyncDisposable {
  readonly caller: ServiceName
  /** Identifies this process among the instances of its service: lower-case letters, digits and dashes. */
  readonly instance: string
  /** False while disconnected from the other processes; always true in memory. */
  readonly connected: boolean
  /** Returns the typed methods of another service. They throw `ServiceError`, or the abort reason of the caller's signal. */
  client<S extends Service>(contract: S): Client<S>
  /** Serves a contract until disposed; disposing leaves the queue group first and then waits for calls in flight. */
  serve<S extends Service>(contract: S, handlers: Handlers<S>, options?: ServeOptions): Promise<ServedContract>
  /** Publishes an event to all listeners, at most once, without waiting. */
  emit<P extends z.ZodType>(event: Event<P>, payload: z.input<P>): void
  /** Subscribes to an event. A payload that does not match the contract is logged and dropped. */
  on<P extends z.ZodType>(event: Event<P>, listener: (payload: z.output<P>) => void): Promise<AsyncDisposable>
}

/** Limits and reported load of one served contract. */
export interface ServeOptions {
  /** Calls in flight beyond this are answered `busy`; default 256. */
  maxInFlight?: number
  /** Returns the load to announce; defaults to the calls in flight. */
  load?: () => number
  /** Which requests this process accepts; default `all`. */
  part?: Part
}

/** `guest` accepts calls that concern user connections, `own` all other calls, `all` both. */
export type Part = 'all' | 'own' | 'guest'

/** A contract that is being served; disposing it finishes the calls in flight. */
export interface ServedContract extends AsyncDisposable {
  /** Calls in flight now. */
  readonly load: number
}
