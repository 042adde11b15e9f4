import type { CompleteResourceTemplateCallback } from '@modelcontextprotocol/server'
import { ServiceError } from '#proto/errors.ts'
import { type Asking, hostAt } from '../asking.ts'

/** Most that the protocol lets one completion tell. */
const mostValues = 100

type Known = Readonly<Record<string, string>>

/** How the names in an address go on, as far as the host that is named beside them can tell. */
export const completionsOf = (
  asking: Asking,
): Record<'hostId' | 'database' | 'table', CompleteResourceTemplateCallback> => {
  const { query, call } = asking
  const hostKey = async ({ hostId = '0' }: Known) => (await hostAt(asking, Number(hostId))).key
  return {
    hostId: beginning(async () => (await asking.hosts()).map(({ id }) => String(id))),
    database: beginning(async (known) => {
      const { rows } = await query.exploreDatabases({ hostKey: await hostKey(known) }, call)
      return rows.map(({ name }) => name)
    }),
    table: beginning(async (known) => {
      const { database } = known
      if (database === undefined) return []
      const { rows } = await query.exploreTables({ hostKey: await hostKey(known), database }, call)
      return rows.map(({ name }) => name)
    }),
  }
}

/** Those that begin as what is written already; none when what stands beside it leads nowhere. */
const beginning =
  (all: (known: Known) => Promise<string[]>): CompleteResourceTemplateCallback =>
  async (written, context) => {
    try {
      return (await all(context?.arguments ?? {})).filter((name) => name.startsWith(written)).slice(0, mostValues)
    } catch (error) {
      if (error instanceof ServiceError) return []
      throw error
    }
  }
