import type { ServerContext } from '@modelcontextprotocol/server'
import type { RunProgress } from '#proto/console.ts'
import { ServiceError } from '#proto/errors.ts'

const everyMs = 2_000
const megabyte = 1_000_000

/** Reports the progress of a call until it is disposed. */
interface ProgressReporter extends Disposable {
  /** Reports the rows and bytes of a statement from now on. */
  onRun(readProgress: () => Promise<RunProgress | null>): void
}

/**
 * Sends progress notifications every two seconds until disposed, if the client requested them. The progress of a
 * statement is the number of rows that it has read; otherwise it is the time in seconds.
 */
export const reportProgress = ({ mcpReq }: Pick<ServerContext, 'mcpReq'>, tool: string): ProgressReporter => {
  const { _meta: { progressToken } = {} } = mcpReq
  if (progressToken === undefined) return { onRun: () => undefined, [Symbol.dispose]: () => undefined }
  const startedAtMs = performance.now()
  let readProgress = async (): Promise<RunProgress | null> => null
  let last = 0
  let isReading = false

  const report = async (): Promise<void> => {
    const run = await readProgress().catch(ignoreServiceError)
    const seconds = Math.round((performance.now() - startedAtMs) / 1_000)
    // The protocol requires that the progress increases with each notification.
    last = Math.max(last + 1, run?.rowsRead ?? seconds)
    const params = { progressToken, progress: last, ...describeProgress(tool, seconds, run, last) }
    // The client may have left, which ends the call anyway.
    await mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
  const timer = setInterval(() => {
    if (isReading) return
    isReading = true
    void report().finally(() => (isReading = false))
  }, everyMs)
  return {
    onRun: (read) => (readProgress = read),
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

/** A host that is too busy to report the progress of a statement may still complete it. */
const ignoreServiceError = (error: unknown): null => {
  if (error instanceof ServiceError) return null
  throw error
}

/** Returns the message and the total of a notification. Exported for tests. */
export const describeProgress = (
  tool: string,
  seconds: number,
  run: RunProgress | null,
  progress: number,
): { message: string; total?: number } => {
  if (run === null) return { message: `${tool} has been running for ${seconds} s` }
  const { rowsRead, bytesRead, totalRows } = run
  const count = rowsRead.toLocaleString('en-US')
  const rows = totalRows === null ? `${count} rows` : `${count} of about ${totalRows.toLocaleString('en-US')} rows`
  const message = `${tool} has read ${rows} (${(bytesRead / megabyte).toFixed(1)} MB) in ${seconds} s`
  // Totals are estimates, so a statement may read more.
  return { message, ...(totalRows !== null && totalRows >= progress && { total: totalRows }) }
}
