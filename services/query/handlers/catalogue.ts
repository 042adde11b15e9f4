import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { withSetDefaults } from '../definitions/set-defaults.ts'
import type { Parts } from './parts.ts'

/** All definitions without their SQL. */
export const catalogue =
  (parts: Parts): Handlers<typeof query>['catalogue'] =>
  async () => {
    const { tables, ...all } = parts.definitions.catalogue
    return { ...all, tables: tables.map((table) => withSetDefaults(table, parts.env)) }
  }
