import { createWorkspace } from './workspace.svelte.ts'
import { createRuns, type Run } from './runs.svelte.ts'

export const workspace = createWorkspace()

const recordRun = ({ request, startedAtMs, beganMs, ...run }: Run): void => {
  if (run.state !== 'done' && run.state !== 'failed') return
  workspace.remember({
    sql: request.query,
    database: request.database,
    host: request.hostName,
    atMs: startedAtMs,
    durationMs: run.state === 'done' ? run.result.metadata.durationMs : performance.now() - beganMs,
    rows: run.state === 'done' ? run.result.metadata.rows : null,
  })
}

/** Statement runs. They are kept after the page is left, so that users find results and running statements again. */
export const consoleRuns = createRuns(recordRun)
