import { createWorkspace } from './workspace.svelte.ts'
import { createRuns, type Run } from './runs.svelte.ts'

export const workspace = createWorkspace()

const remember = ({ request, startedAtMs, beganMs, ...run }: Run): void => {
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

/** Statement runs. They outlive the page, so that users who return find results and can cancel running statements. */
export const consoleRuns = createRuns(remember)
