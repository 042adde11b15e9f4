import type { z } from 'zod'
import type { ServiceName } from '#proto/call.ts'
import type { ServiceClient, BusEvent, ServiceHandlers, Service } from '#proto/contract.ts'

/**
 * The interface through which services call each other. A bus belongs to one service of one process and sends in its
 * name.
 */
export interface Bus extends AsyncDisposable {
  readonly caller: ServiceName
  /** Identifies this process among the instances of its service: lower-case letters, digits and dashes. */
  readonly instance: string
  /** False while disconnected from the other processes for longer than a restart of NATS; always true in memory. */
  readonly connected: boolean
  /**
   * Returns the typed methods of another service. They throw `ServiceError`, or the abort reason of the caller's
   * signal.
   */
  client<S extends Service>(contract: S): ServiceClient<S>
  /** Serves a contract until disposed. Disposing leaves the queue group first and then waits for calls in flight. */
  serve<S extends Service>(contract: S, handlers: ServiceHandlers<S>, options?: ServeOptions): Promise<ServedContract>
  /** Publishes an event to all listeners, at most once, without waiting. */
  emit<P extends z.ZodType>(event: BusEvent<P>, payload: z.input<P>): void
  /** Subscribes to an event. A payload that does not match the contract is logged and dropped. */
  on<P extends z.ZodType>(event: BusEvent<P>, listener: (payload: z.output<P>) => void): Promise<AsyncDisposable>
}

/** Limits and reported load of one served contract. */
export interface ServeOptions {
  /** Maximum calls in flight; further calls fail with `busy`. Default: 256. */
  maxInFlight?: number
  /** Returns the load to announce. Default: the number of calls in flight. */
  load?: () => number
  /** The requests that this process accepts. Default: `all`. */
  part?: ServingRole
}

/** The requests that a process accepts. `guest`: those for user connections; `own`: all others; `all`: both. */
export type ServingRole = 'all' | 'own' | 'guest'

/** A contract that is being served; disposing it finishes the calls in flight. */
export interface ServedContract extends AsyncDisposable {
  /** Current number of calls in flight. */
  readonly load: number
}
