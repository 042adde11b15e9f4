import { measured, untold } from '../measured.ts'
import type { Evaluator } from './evaluator.ts'

/** A start this recent is told. */
const recentMs = 600_000
/** Starts within so long make a loop. */
const loopMs = 3_600_000
/** An uptime is told in whole seconds, and some time after it was read. */
const toleranceMs = 10_000

/** Starts within the last hour, as long as the last one is recent; the one before the host was met first is none of them. */
export const restarted: Evaluator = async ({ contact, earlier }) => {
  if (!contact.answers) return { measured: untold(contact.reason) }
  if (!earlier) return { measured: untold('what earlier sweeps found cannot be read') }
  const { firstMetMs, startsMs } = earlier
  if (firstMetMs === null) return { measured: measured(0), keep: { firstMetMs: contact.nowMs } }
  const startedMs = contact.nowMs - contact.uptimeSeconds * 1_000
  const known = startsMs.filter((startMs) => startMs > contact.nowMs - loopMs)
  const isKnown = known.some((startMs) => Math.abs(startMs - startedMs) <= toleranceMs)
  const isRecent = contact.nowMs - startedMs < recentMs
  const isNew = isRecent && !isKnown && startedMs > firstMetMs + toleranceMs
  const starts = isNew ? [...known, startedMs].slice(-maxStarts) : known
  return { measured: measured(isRecent ? starts.length : 0), ...(isNew && { keep: { startsMs: starts } }) }
}

const maxStarts = 100
