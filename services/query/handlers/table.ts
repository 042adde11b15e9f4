import { type Call, mayUse } from '#proto/call.ts'
import type { Handlers, Produced } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query, TableRequest, Unavailable } from '#proto/query.ts'
import { read } from '#shared/config/setting.ts'
import { missingNeeds, tooOld, unavailableBy } from '../availability.ts'
import type { ByteAnswer } from '../clickhouse/client.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { settings } from '../config.ts'
import { tableInfo } from '../definitions/definitions.ts'
import type { LoadedTable } from '../definitions/load.ts'
import { tableStatement } from '../definitions/table-statement.ts'
import { checkedZone } from '../definitions/window.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { passRows } from '../rows.ts'
import { statementFacts } from '../statement-facts.ts'
import { unquoteNumbers } from '../unquote-numbers.ts'
import type { Parts } from './parts.ts'

type Table = Handlers<typeof query>['table']
type Page = Awaited<ReturnType<Table>>
type Tail = Page extends Produced<infer _Head, infer _Frame, infer T> ? T : never

/** What is known of a page before its first row. */
interface Opened {
  host: MonitoredHost
  table: LoadedTable
  statement: Statement
  limit: number | undefined
  zone: string | undefined
}

/** The rows of one table page as the host sends them. */
export const table =
  (parts: Parts): Table =>
  async (input, call) => {
    const host = parts.hosts.get(input.hostKey)
    const definition = parts.definitions.table(input.name)
    if (!mayUse(call.identity, definition.feature)) {
      throw new ServiceError('forbidden', `the table page ${definition.name} is not open to you`)
    }
    const zone = checkedZone(input.timezone)
    const limit = rowLimit(parts, input)
    const { version: serverVersion, tables } = await parts.client.capabilities(host, call)
    const statement = tableStatement(definition, input, { serverVersion, tables, limit, zone })
    if (!statement) return without(definition, limit, tooOld(host, serverVersion))
    const missing = await missingNeeds(parts.client, host, definition, call)
    if (missing) return without(definition, limit, missing)
    return open(parts, { host, table: definition, statement, limit, zone }, call)
  }

/** The asked limit, never above the cap of the settings. */
const rowLimit = (parts: Parts, { limit }: TableRequest): number | undefined => {
  const { SVC_TABLE_MAX_RESULT_ROWS: cap } = read(
    { SVC_TABLE_MAX_RESULT_ROWS: settings.SVC_TABLE_MAX_RESULT_ROWS },
    parts.env,
  )
  return limit === undefined || cap === undefined ? (limit ?? cap) : Math.min(limit, cap)
}

const open = async (parts: Parts, opened: Opened, call: Call): Promise<Page> => {
  const { host, table, statement, limit } = opened
  try {
    const answer = await parts.client.stream(host, statement, call)
    const head = { table: tableInfo(table), limit: limit ?? null, unavailable: null }
    return { head, frames: frames(opened, answer) }
  } catch (error) {
    const unavailable = unavailableBy(parts.client, host, table, error)
    if (unavailable) return without(table, limit, unavailable)
    throw error
  }
}

async function* frames(
  { host, table, statement, limit, zone }: Opened,
  answer: ByteAnswer,
): AsyncGenerator<Uint8Array, Tail, void> {
  const started = performance.now()
  const passing = passRows(host, answer.body, limit)
  try {
    let next = await passing.next()
    while (!next.done) {
      // Without settings 64-bit integers come as the server's default has them: quoted on older ones.
      yield answer.readonly === 1 || statement.bare ? unquoteNumbers(next.value, table.columns) : next.value
      next = await passing.next()
    }
    const ran = { ...answer, durationMs: performance.now() - started }
    return { truncated: next.value.truncated, statement: statementFacts(host, statement, ran, next.value.rows, zone) }
  } finally {
    await answer.body.return()
  }
}

const without = (table: LoadedTable, limit: number | undefined, unavailable: Unavailable): Page => ({
  head: { table: tableInfo(table), limit: limit ?? null, unavailable },
  frames: nothing(),
})

async function* nothing(): AsyncGenerator<Uint8Array, Tail, void> {
  yield* []
  return { truncated: false, statement: null }
}
