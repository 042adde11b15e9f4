import { SvelteMap } from 'svelte/reactivity'
import { cancelRun, runStatement, type StatementResult } from '#lib/api/console.ts'
import { createRandomId } from '#lib/ui/random-id.ts'
import { toQueryError, type QueryError } from './query-error.ts'

/** The statement to run, and its host. */
export interface RunRequest {
  host: number
  hostName: string
  query: string
  database: string
  maxRows: number
  /** The offset of the statement in the text of its tab. */
  from: number
}

/** The run of a tab. Its start is stored in epoch milliseconds, and as `beganMs` on the monotonic clock. */
export type Run = { request: RunRequest; runId: string; startedAtMs: number; beganMs: number } & (
  | { state: 'running' | 'cancelling' }
  | { state: 'done'; result: StatementResult }
  | ({ state: 'failed' } & QueryError)
  | { state: 'cancelled'; afterMs: number }
)

/** Creates the state of runs, which keeps the last run of each tab. A new run cancels the previous one. */
export const createRuns = (onended: (run: Run) => void) => {
  const runs = new SvelteMap<string, Run>()

  const finish = (tab: string, run: Run): void => {
    // A newer run may have started in the same tab; its state must not be overwritten.
    if (runs.get(tab)?.runId !== run.runId) return
    runs.set(tab, run)
    onended(run)
  }

  const start = async (tab: string, request: RunRequest): Promise<void> => {
    await cancel(tab)
    const base = { request, runId: createRandomId(), startedAtMs: Date.now(), beganMs: performance.now() }
    const { host, query, database, maxRows } = request
    runs.set(tab, { ...base, state: 'running' })
    try {
      const run = { host, query, maxRows, runId: base.runId, ...(database && { database }) }
      finish(tab, { ...base, state: 'done', result: await runStatement(run) })
    } catch (thrown) {
      const isCancelled = runs.get(tab)?.state === 'cancelling'
      if (isCancelled) finish(tab, { ...base, state: 'cancelled', afterMs: performance.now() - base.beganMs })
      else finish(tab, { ...base, state: 'failed', ...toQueryError(thrown, query) })
    }
  }

  const cancel = async (tab: string): Promise<void> => {
    const run = runs.get(tab)
    if (run?.state !== 'running') return
    runs.set(tab, { ...run, state: 'cancelling' })
    try {
      await cancelRun(run.request.host, run.runId)
    } catch {
      // The error is ignored: the statement has already finished, and its response will arrive soon.
    }
  }

  return { of: (tab: string): Run | undefined => runs.get(tab), start, cancel, drop: (tab: string) => runs.delete(tab) }
}
