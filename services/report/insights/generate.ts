import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Insight, InsightRun } from '#proto/insights.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import { beginningOf } from '#shared/text/cut.ts'
import type { Store } from '#shared/store/store.ts'
import type { OpenInsightStore } from '../stores/index.ts'
import { lookAt } from './look-at.ts'
import { beginRun, endRun, lastRun, rememberWorst } from './runs.ts'

/** What insights are found and kept with. */
export interface Generating {
  query: Client<typeof query>
  clock: Clock
  store: Store
  kept: Pick<OpenInsightStore, 'store' | 'reason'>
  log: Logger
}

/** What came of it; `ran` is false when another run is too short ago. */
export interface Generated {
  ran: boolean
  run: InsightRun | null
  insights: Insight[]
}

/** A run this short ago stands, unless another is forced. */
const throttleMs = 5 * 60_000
const mostNotes = 200

/** Looks for insights on one host and keeps them, of all processes in one at a time. */
export const generate = async (
  parts: Generating,
  { hostKey, force }: { hostKey: string; force: boolean },
  call: Call,
): Promise<Generated> => {
  const { store, clock, kept } = parts
  const token = randomUUID()
  const [startedAtMs, startedMs] = [clock.now(), clock.elapsedMs()]
  if (!(await beginRun(store, { hostKey, clock, token, throttleMs: force ? 0 : throttleMs }))) {
    const run = await lastRun(store, hostKey)
    const sinceMs = run?.startedAtMs ?? startedAtMs - throttleMs
    return { ran: false, run, insights: await kept.store.list({ hostKey, sinceMs, limit: 500 }, call) }
  }
  try {
    const asking = { ...call, priority: 'report' as const }
    const { insights: found, notes } = await lookAt({
      query: parts.query,
      store,
      call: asking,
      hostKey,
      nowMs: startedAtMs,
    })
    const { insights, notKept } = await keep(parts, hostKey, found, call)
    const tookMs = Math.round(clock.elapsedMs() - startedMs)
    const run = { startedAtMs, tookMs, found: insights.length, notKept, notes: notes.slice(0, mostNotes) }
    await rememberWorst(store, hostKey, insights)
    await endRun(store, hostKey, token, run)
    parts.log.info({ hostKey, found: insights.length, kept: notKept === null, tookMs }, 'looked for insights')
    return { ran: true, run, insights }
  } catch (error) {
    await endRun(store, hostKey, token, null)
    throw error
  }
}

/** Keeps what was found; what was dismissed stays so. A store that refuses is said so, and ends nothing. */
const keep = async (
  { kept: { store }, clock, log }: Generating,
  hostKey: string,
  found: readonly Insight[],
  call: Call,
): Promise<{ insights: Insight[]; notKept: string | null }> => {
  if (found.length === 0) return { insights: [], notKept: null }
  try {
    const ids = found.map(({ id }) => id)
    // An id is of one day, so what was kept under it was found on that day too.
    const sinceMs = Math.min(...found.map(({ day }) => Date.parse(day)))
    const before = await store.list({ hostKey, sinceMs, limit: ids.length, ids }, call)
    const dismissals = new Map(before.map(({ id, dismissed }) => [id, dismissed]))
    const insights = found.map((insight) => ({ ...insight, dismissed: dismissals.get(insight.id) ?? null }))
    await store.put(hostKey, insights, clock.now(), call)
    return { insights, notKept: null }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    log.warn({ hostKey, code: error.code, backend: store.backend }, 'insights are not kept')
    return { insights: [...found], notKept: beginningOf(error.message, 500) }
  }
}
