import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { Parts } from './parts.ts'

/** What the last probes found. */
export const hostStates =
  (parts: Parts): Handlers<typeof query>['hostStates'] =>
  async () =>
    parts.probe.states()
