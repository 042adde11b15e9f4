import { Session } from 'node:inspector/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { z } from 'zod'

// Run as a worker: counts what the engine executes while the guard reads, which is the same on a busy machine and an idle one.
// Only what is compiled after counting has begun is counted block by block, so it is loaded after that.
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
    // Refused or not: what counts is the way there.
  }
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const own = result.filter(({ url }) => url.includes('/read-only/'))
  const blocks = own.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
  return blocks.reduce((sum, { count }) => sum + count, 0)
}

const counts: number[] = []
for (const sql of z.array(z.string()).parse(workerData)) counts.push(await blocksRun(sql))
// The rule is about windows of browsers, which have origins.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage(counts)
