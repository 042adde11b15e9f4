import type { ExportFormat } from '#proto/table-page.ts'
import { call, callForFile, type ResponseBody } from './call.ts'

export type StatementResult = ResponseBody<'POST /api/v1/explorer/query'>

export interface ConsoleStatement {
  host: number
  query: string
  database?: string | undefined
  maxRows?: number | undefined
  /** An id chosen by the client, by which the run can be cancelled. */
  runId?: string | undefined
}

const bodyOf = ({ host, ...run }: ConsoleStatement) => ({ hostId: host, ...run })

/** Runs a read-only statement. */
export const runStatement = (run: ConsoleStatement, signal?: AbortSignal): Promise<StatementResult> =>
  call('POST /api/v1/explorer/query', { body: bodyOf(run), ...(signal && { signal }) })

/** Cancels a run of the current user. */
export const cancelRun = (host: number, runId: string) =>
  call('DELETE /api/v1/explorer/query/{runId}', { path: { runId }, query: { hostId: host } })

/** Runs a statement again and returns all rows as a file. */
export const exportRows = (run: ConsoleStatement, format: ExportFormat): Promise<Blob> =>
  callForFile('POST /api/v1/explorer/query', { body: { ...bodyOf(run), format } })
