import { createDesk } from './desk.svelte.ts'
import { createRuns, type Run } from './runs.svelte.ts'

export const desk = createDesk()

const remember = ({ asked, startedAtMs, beganMs, ...run }: Run): void => {
  if (run.state !== 'done' && run.state !== 'failed') return
  desk.remember({
    sql: asked.query,
    database: asked.database,
    host: asked.hostName,
    atMs: startedAtMs,
    durationMs: run.state === 'done' ? run.result.metadata.durationMs : performance.now() - beganMs,
    rows: run.state === 'done' ? run.result.metadata.rows : null,
  })
}

/** They outlast the page: whoever looks at a query and comes back finds its rows, and may still cancel what runs. */
export const runs = createRuns(remember)
