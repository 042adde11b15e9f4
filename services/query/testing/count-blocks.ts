import { Session } from 'node:inspector/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { z } from 'zod'

// Runs as a worker. Counts the code blocks that the guard executes, a measure that does not depend on machine load.
// V8 counts blocks only in code compiled after coverage starts, so the guard is imported afterwards.
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
const { checkReadOnly } = await import('../read-only/read-only.ts')

const blocksRun = async (sql: string): Promise<number> => {
  await session.post('Profiler.takePreciseCoverage')
  try {
    checkReadOnly(sql)
  } catch {
    // The blocks that the guard executes for a rejected statement are counted as well.
  }
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const own = result.filter(({ url }) => url.includes('/read-only/'))
  const blocks = own.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
  return blocks.reduce((sum, { count }) => sum + count, 0)
}

const counts: number[] = []
for (const sql of z.array(z.string()).parse(workerData)) counts.push(await blocksRun(sql))
// The rule is about browser windows; worker messages have no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage(counts)
