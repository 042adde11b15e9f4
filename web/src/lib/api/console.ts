import type { z } from 'zod'
import type { CancelAnswer, ConsoleAnswer } from '#proto/http/console.ts'
import type { ExportFormat } from '#proto/table-page.ts'
import { requestFile, requestJson } from './request.ts'

const path = '/api/v1/explorer/query'

export type Result = z.infer<typeof ConsoleAnswer>

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
  requestJson<Result>(path, { body: bodyOf(run), ...(signal && { signal }) })

/** Ends a run of one's own. */
export const cancelRun = (host: number, runId: string) =>
  requestJson<z.infer<typeof CancelAnswer>>(`${path}/${encodeURIComponent(runId)}?hostId=${host}`, { method: 'DELETE' })

/** Runs a statement again, as a file of all its rows. */
export const exportRows = (run: Run, format: ExportFormat): Promise<Blob> =>
  requestFile(path, { body: { ...bodyOf(run), format } })
