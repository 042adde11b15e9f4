import { SvelteMap } from 'svelte/reactivity'
import { cancelRun, runStatement, type Result } from '#lib/api/console.ts'
import { randomId } from '#lib/ui/random-id.ts'
import { objectionOf, type Objection } from './objection.ts'

/** What is run, and where. */
export interface Asked {
  host: number
  hostName: string
  query: string
  database: string
  maxRows: number
  /** Where the statement begins in the text of its tab. */
  from: number
}

/** The run of a tab: under way, or what became of it. `beganMs` is by the monotonic clock, `startedAtMs` by the wall clock. */
export type Run = { asked: Asked; runId: string; startedAtMs: number; beganMs: number } & (
  | { state: 'running' | 'cancelling' }
  | { state: 'done'; result: Result }
  | ({ state: 'failed' } & Objection)
  | { state: 'cancelled'; afterMs: number }
)

/** The last run of each tab. A new one ends that before it. */
export const createRuns = (onended: (run: Run) => void) => {
  const runs = new SvelteMap<string, Run>()

  const settle = (tab: string, run: Run): void => {
    // Another may have been started in the same tab meanwhile.
    if (runs.get(tab)?.runId !== run.runId) return
    runs.set(tab, run)
    onended(run)
  }

  const start = async (tab: string, asked: Asked): Promise<void> => {
    await cancel(tab)
    const base = { asked, runId: randomId(), startedAtMs: Date.now(), beganMs: performance.now() }
    const { host, query, database, maxRows } = asked
    runs.set(tab, { ...base, state: 'running' })
    try {
      const run = { host, query, maxRows, runId: base.runId, ...(database && { database }) }
      settle(tab, { ...base, state: 'done', result: await runStatement(run) })
    } catch (thrown) {
      const isCancelled = runs.get(tab)?.state === 'cancelling'
      if (isCancelled) settle(tab, { ...base, state: 'cancelled', afterMs: performance.now() - base.beganMs })
      else settle(tab, { ...base, state: 'failed', ...objectionOf(thrown, query) })
    }
  }

  const cancel = async (tab: string): Promise<void> => {
    const run = runs.get(tab)
    if (run?.state !== 'running') return
    runs.set(tab, { ...run, state: 'cancelling' })
    try {
      await cancelRun(run.asked.host, run.runId)
    } catch {
      // It has ended by itself, and its answer is on its way.
    }
  }

  return { of: (tab: string): Run | undefined => runs.get(tab), start, cancel, drop: (tab: string) => runs.delete(tab) }
}
