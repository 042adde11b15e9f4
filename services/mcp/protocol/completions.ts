import type { CompleteResourceTemplateCallback } from '@modelcontextprotocol/server'
import { ServiceError } from '#proto/errors.ts'
import { hostAt, type ToolContext } from '#shared/tools/tool.ts'
import { WrittenHostId } from '../context.ts'

type Known = Readonly<Record<string, string>>

/**
 * How the names in an address go on, as far as the host that is named beside them can tell. An address of any host leads nowhere
 * before its host is named; the other kind is always about the first.
 */
export const completionsOf = (
  context: ToolContext,
  ofAnyHost: boolean,
): Record<'hostId' | 'database' | 'table', CompleteResourceTemplateCallback> => {
  const { query, call } = context
  const hostKey = async ({ hostId }: Known) => {
    const written = WrittenHostId.safeParse(ofAnyHost ? (hostId ?? '') : '0')
    if (!written.success) throw new ServiceError('invalid', 'no host is named')
    return (await hostAt(context, Number(written.data))).key
  }
  const completions = {
    hostId: beginning(async () => (await context.hosts()).map(({ id }) => String(id))),
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
  // Callers name what is completed, and the library looks it up in here, also by names that every object has.
  Object.setPrototypeOf(completions, null)
  return completions
}

/**
 * Those that begin as what is written already; none when what stands beside it leads nowhere. The library tells as many as the
 * protocol lets one completion tell, and how many there are.
 */
const beginning =
  (all: (known: Known) => Promise<string[]>): CompleteResourceTemplateCallback =>
  async (written, completion) => {
    try {
      return (await all(completion?.arguments ?? {})).filter((name) => name.startsWith(written))
    } catch (error) {
      if (error instanceof ServiceError) return []
      throw error
    }
  }
