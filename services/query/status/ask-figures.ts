import type { Unavailable } from '#proto/query.ts'
import { deniedTable, missingNeeds, unavailableBy } from '../clickhouse/availability.ts'
import type { Capabilities } from '../clickhouse/capabilities.ts'
import type { Answer, DatabaseClient } from '../clickhouse/client.ts'
import type { Asking } from '../clickhouse/visit.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { type Figure, figuresStatement, readFigures, tablesBehind } from './status-statement.ts'

/** Figures as a host told them. */
export interface ToldFigures<N extends Figure> {
  answer: Answer
  figures: Record<N, number | null>
  /** Why figures are null whose tables the user may not read or the host does not have. */
  unavailable: ReadonlyMap<Figure, Unavailable>
}

interface Question<N extends Figure> {
  host: MonitoredHost
  what: string
  names: readonly N[]
  call: Asking
}

/** Tables of `system` that everybody may read and that are shown to nobody without a right. */
const openToAll = ['databases', 'tables', 'settings']

/** Why tables of `system` are left out, by their names. */
type Refused = Map<string, Unavailable>

/** Asks for figures in one statement; tables that a host shows but keeps from the user are left out of it. */
export const openFigures = (client: DatabaseClient) => {
  // Remembered as long as what the host was found to have, so that refusals do not fill its error counters.
  const refusals = new WeakMap<Capabilities, Refused>()

  return async <N extends Figure>(question: Question<N>): Promise<ToldFigures<N>> => {
    const { host, names, call } = question
    const capabilities = await client.capabilities(host, call)
    const refused = refusals.get(capabilities) ?? new Map<string, Unavailable>()
    refusals.set(capabilities, refused)
    const { answer, readable } = await askReadable(client, question, capabilities.tables, refused)
    const untold = names.filter((name) => !tablesBehind(name).some((table) => readable.has(table)))
    const reasons = await Promise.all(untold.map((name) => reasonOf(client, host, name, refused, call)))
    const unavailable = untold.flatMap((name, index) => (reasons[index] ? [[name, reasons[index]] as const] : []))
    return { answer, figures: readFigures(host, names, answer.rows), unavailable: new Map(unavailable) }
  }
}

/** One statement, and one more for each table that turns out to be refused. */
const askReadable = async <N extends Figure>(
  client: DatabaseClient,
  { host, what, names, call }: Question<N>,
  tables: ReadonlySet<string>,
  refused: Refused,
): Promise<{ answer: Answer; readable: ReadonlySet<string> }> => {
  for (;;) {
    const readable = new Set([...tables, ...openToAll].filter((table) => !refused.has(table)))
    try {
      return { answer: await client.run(host, figuresStatement(what, names, readable), call), readable }
    } catch (error) {
      const table = deniedTable(error)
      const reason = unavailableBy(client, host, { requires: [`system.${table}`] }, error)
      if (table === undefined || !reason || !readable.has(table)) throw error
      refused.set(table, reason)
    }
  }
}

const reasonOf = async (
  client: DatabaseClient,
  host: MonitoredHost,
  name: Figure,
  refused: Refused,
  call: Asking,
): Promise<Unavailable | null> => {
  const [table = ''] = tablesBehind(name)
  return refused.get(table) ?? missingNeeds(client, host, { requires: [`system.${table}`] }, call)
}
