import type { ExportFormat } from '#proto/table-page.ts'
import { call, callForFile, type Answer } from './call.ts'

export type Result = Answer<'POST /api/v1/explorer/query'>

export interface Run {
  host: number
  query: string
  database?: string | undefined
  maxRows?: number | undefined
  /** A name of our own, by which the run can be cancelled. */
  runId?: string | undefined
}

const bodyOf = ({ host, ...run }: Run) => ({ hostId: host, ...run })

/** Runs one statement that only reads. */
export const runStatement = (run: Run, signal?: AbortSignal): Promise<Result> =>
  call('POST /api/v1/explorer/query', { body: bodyOf(run), ...(signal && { signal }) })

/** Ends a run of one's own. */
export const cancelRun = (host: number, runId: string) =>
  call('DELETE /api/v1/explorer/query/{runId}', { path: { runId }, query: { hostId: host } })

/** Runs a statement again, as a file of all its rows. */
export const exportRows = (run: Run, format: ExportFormat): Promise<Blob> =>
  callForFile('POST /api/v1/explorer/query', { body: { ...bodyOf(run), format } })
