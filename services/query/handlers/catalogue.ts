import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { Parts } from './parts.ts'

/** All definitions without their SQL. */
export const catalogue =
  (parts: Parts): Handlers<typeof query>['catalogue'] =>
  async () =>
    parts.definitions.catalogue
