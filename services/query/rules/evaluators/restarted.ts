import { measured, untold } from '../measured.ts'
import type { Evaluator } from './evaluator.ts'

/** A start this recent is told. */
const recentMs = 600_000
/** Starts within so long make a loop. */
const loopMs = 3_600_000
/** An uptime is told in whole seconds, and some time after it was read. */
const toleranceMs = 10_000

/** Starts within the last hour, as long as the last one is recent. */
export const restarted: Evaluator = async ({ contact, earlier }) => {
  if (!contact.answers) return { measured: untold(contact.reason) }
  const startedMs = contact.nowMs - contact.uptimeSeconds * 1_000
  const known = (earlier?.startsMs ?? []).filter((startMs) => startMs > contact.nowMs - loopMs)
  const isKnown = known.some((startMs) => Math.abs(startMs - startedMs) <= toleranceMs)
  const isRecent = contact.nowMs - startedMs < recentMs
  const starts = isKnown || !isRecent ? known : [...known, startedMs].slice(-maxStarts)
  return { measured: measured(isRecent ? starts.length : 0), ...(starts !== known && { keep: { startsMs: starts } }) }
}

const maxStarts = 100
