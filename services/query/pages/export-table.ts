import type { ServiceHandlers, StreamHandlerResult } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { ExportFormat } from '#proto/table-page.ts'
import { findUnavailableReason } from '../clickhouse/availability.ts'
import type { StreamResult } from '../clickhouse/client.ts'
import type { StreamFormat } from '../clickhouse/statement.ts'
import { toTableInfo } from '../definitions/definitions.ts'
import { buildTableStatement } from '../definitions/table-statement.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { prepareTablePage, resolveRowRange } from './prepare-table-page.ts'
import { streamRows } from '../rows/rows.ts'
import { streamTextRows, type TextFormat } from '../rows/text-rows.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'

type ExportTable = ServiceHandlers<typeof query>['exportTable']
type Produces = Awaited<ReturnType<ExportTable>>
type Tail = Produces extends StreamHandlerResult<infer _Head, infer _Frame, infer T> ? T : never

/** The ClickHouse formats by export format. */
export const exportStreamFormats: Readonly<Record<ExportFormat, StreamFormat>> = {
  csv: 'CSVWithNames',
  tsv: 'TabSeparatedWithNames',
  jsoneachrow: 'JSONEachRow',
}

/** Returns the handler that streams a table page from the host as a file. It buffers at most one row. */
export const createExportTableHandler =
  (parts: QueryHandlerDeps): ExportTable =>
  async ({ format, ...input }, call) => {
    const { limit, offset } = resolveRowRange(parts, input)
    const request = { ...input, offset }
    const page = await prepareTablePage(parts, request, call, (definition, circumstances) =>
      buildTableStatement(definition, request, { ...circumstances, limit }),
    )
    const head = { table: toTableInfo(page.table), limit: limit ?? null, unavailable: null }
    if ('unavailable' in page) return { head: { ...head, unavailable: page.unavailable }, frames: nothing() }
    const { host, table, statement } = page
    try {
      const answer = await parts.client.stream(host, statement, call, exportStreamFormats[format])
      return { head, frames: frames(host, answer, format, limit) }
    } catch (error) {
      const unavailable = findUnavailableReason(parts.client, host, table, error)
      if (unavailable) return { head: { ...head, unavailable }, frames: nothing() }
      throw error
    }
  }

async function* frames(
  host: MonitoredHost,
  answer: StreamResult,
  format: ExportFormat,
  limit: number | undefined,
): AsyncGenerator<Uint8Array, Tail, void> {
  try {
    return yield* format === 'jsoneachrow'
      ? streamRows(host, answer.body, limit)
      : streamTextRows(host, answer.body, textFormats[format], limit)
  } finally {
    answer.body.leave()
  }
}

/** The row formats other than JSON. In CSV, quoted values may contain newlines. */
export const textFormats: Readonly<Record<'csv' | 'tsv', TextFormat>> = {
  csv: { isQuoted: true },
  tsv: { isQuoted: false },
}

async function* nothing(): AsyncGenerator<Uint8Array, Tail, void> {
  yield* []
  return { truncated: false, rows: 0 }
}
