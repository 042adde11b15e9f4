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
  /** Parts of the alert configuration that cannot be set by variables. */
  policy?: Partial<Policy>
  /** Returns the policy with a saved address; default: the values of `env`, as saved by the API. */
  savedPolicy?(url: string): Partial<Policy>
  /** Returns the variables that configure the channel for this URL. Without a required one, the channel is disabled. */
  env(url: string): Environment
  /** Variables in `env` that are optional: the channel stays enabled without them. */
  stillOnWithout?: readonly string[]
  /** Returns the secret values that must never appear in output. */
  secrets(url: string): readonly string[]
  switchVariable: string
  minSeverityVariable: string
  /** Default minimum severity. */
  minimum: 'warning' | 'critical'
  /** Returns the sent body for comparison with the snapshot; absent if it is JSON. */
  readBody?(received: ReceivedRequest): unknown
  /** Returns the text that recipients see. */
  textOf(received: ReceivedRequest): string
  /** The response of the service to a request for an invalid address. */
  dead: { status: number; body?: string }
}
