import type { Environment } from '#shared/config/environment.ts'
import type { Policy } from '../../policy.ts'
import type { ReceivedRequest, StrictServer } from './strict-server.ts'

/** What the shared test suite needs for a channel: its settings, its server and how to read its messages. */
export interface ChannelRig {
  /** Id of the channel. */
  id: string
  /** Name of the variant, if the channel has several. */
  form?: string
  /** Fixed origins of the service, which the test server replaces. */
  standsFor?: readonly string[]
  /** Whether the address is fixed instead of configured. */
  ownAddress?: true
  start(): Promise<StrictServer>
  /** Configuration besides variables. */
  policy?: Partial<Policy>
  /** The stored entry with a saved address; default: the values of `env`. */
  savedPolicy?(url: string): Partial<Policy>
  /** Variables that configure the channel for a server; without any of them it is disabled. */
  env(url: string): Environment
  /** Variables that only change the message. */
  stillOnWithout?: readonly string[]
  /** Secret values that must never appear in output. */
  secrets(url: string): readonly string[]
  switchVariable: string
  minSeverityVariable: string
  /** The minimum severity by default. */
  minimum: 'warning' | 'critical'
  /** Returns the sent body for comparison with the snapshot; absent if it is JSON. */
  readBody?(received: ReceivedRequest): unknown
  /** Returns the text that recipients see. */
  textOf(received: ReceivedRequest): string
  /** A response that means the address is invalid. */
  dead: { status: number; body?: string }
}
