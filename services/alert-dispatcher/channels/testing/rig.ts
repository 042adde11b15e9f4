import type { Environment } from '#shared/config/environment.ts'
import type { Policy } from '../../policy.ts'
import type { Received, StrictServer } from './strict-server.ts'

/** All that the suite needs to know of a channel: how it is set up, its server, and how to read what it was sent. */
export interface Rig {
  /** Of the channel. */
  id: string
  /** Which of several forms of the channel it is. */
  form?: string
  /** Origins of a service with an address of its own, in whose place the server stands. */
  standsFor?: readonly string[]
  /** Nobody sets the address: it is the service's own. */
  ownAddress?: true
  start(): Promise<StrictServer>
  /** What people set up besides variables. */
  policy?: Partial<Policy>
  /** What the database has once the address is saved in the product; default: the texts of `env`. */
  savedPolicy?(url: string): Partial<Policy>
  /** Variables that set the channel up to use a server; without any one of them it is off. */
  env(url: string): Environment
  /** Those of the variables that only change what is sent. */
  stillOnWithout?: readonly string[]
  /** Texts of those that must appear nowhere. */
  secrets(url: string): readonly string[]
  switchVariable: string
  floorVariable: string
  /** The least severity without a floor. */
  floor: 'warning' | 'critical'
  /** What was sent, to be compared; absent where it is JSON. */
  readBody?(received: Received): unknown
  /** What people are told by what was sent. */
  textOf(received: Received): string
  /** An answer by which the remote says that the address is no good. */
  dead: { status: number; body?: string }
}
