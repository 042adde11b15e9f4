import type { Handlers, Produced } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { ExportFormat } from '#proto/table-page.ts'
import { unavailableBy } from '../clickhouse/availability.ts'
import type { ByteAnswer } from '../clickhouse/client.ts'
import type { StreamFormat } from '../clickhouse/statement.ts'
import { tableInfo } from '../definitions/definitions.ts'
import { tableStatement } from '../definitions/table-statement.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { openPage, rowRange } from './open-page.ts'
import { passRows } from '../rows/rows.ts'
import { passTextRows, type TextFormat } from '../rows/text-rows.ts'
import type { Parts } from '../parts.ts'

type ExportTable = Handlers<typeof query>['exportTable']
type Produces = Awaited<ReturnType<ExportTable>>
type Tail = Produces extends Produced<infer _Head, infer _Frame, infer T> ? T : never

/** What hosts call the formats. */
export const hostFormats: Readonly<Record<ExportFormat, StreamFormat>> = {
  csv: 'CSVWithNames',
  tsv: 'TabSeparatedWithNames',
  jsoneachrow: 'JSONEachRow',
}

/** One table page for a file. The bytes are the host's own; nothing is held but what lies between two rows. */
export const exportTable =
  (parts: Parts): ExportTable =>
  async ({ format, ...given }, call) => {
    const { limit, offset } = rowRange(parts, given)
    const asked = { ...given, offset }
    const page = await openPage(parts, asked, call, (definition, circumstances) =>
      tableStatement(definition, asked, { ...circumstances, limit }),
    )
    const head = { table: tableInfo(page.table), limit: limit ?? null, unavailable: null }
    if ('unavailable' in page) return { head: { ...head, unavailable: page.unavailable }, frames: nothing() }
    const { host, table, statement } = page
    try {
      const answer = await parts.client.stream(host, statement, call, hostFormats[format])
      return { head, frames: frames(host, answer, format, limit) }
    } catch (error) {
      const unavailable = unavailableBy(parts.client, host, table, error)
      if (unavailable) return { head: { ...head, unavailable }, frames: nothing() }
      throw error
    }
  }

async function* frames(
  host: MonitoredHost,
  answer: ByteAnswer,
  format: ExportFormat,
  limit: number | undefined,
): AsyncGenerator<Uint8Array, Tail, void> {
  try {
    return yield* format === 'jsoneachrow'
      ? passRows(host, answer.body, limit)
      : passTextRows(host, answer.body, textFormats[format], limit)
  } finally {
    answer.body.leave()
  }
}

/** How rows are told apart in those that are no JSON. */
export const textFormats: Readonly<Record<'csv' | 'tsv', TextFormat>> = {
  csv: { isQuoted: true },
  tsv: { isQuoted: false },
}

async function* nothing(): AsyncGenerator<Uint8Array, Tail, void> {
  yield* []
  return { truncated: false, rows: 0 }
}
