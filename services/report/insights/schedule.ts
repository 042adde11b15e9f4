import type { Work } from '../work.ts'
import { round, type Rounding } from './round.ts'

const lookEveryMs = 60_000

/** Sees once a minute which hosts have not been looked at for long; a round that fails is told once, and the next is near. */
export const openSchedule = (parts: Rounding, work: Work, everyMs = lookEveryMs): Disposable => {
  let isRunning = false
  let isFailing = false
  const tick = async (signal: AbortSignal): Promise<void> => {
    if (isRunning) return
    isRunning = true
    try {
      await round(parts, signal)
      if (isFailing) parts.log.info('rounds of insights succeed again')
      isFailing = false
    } catch (error) {
      if (!isFailing && !signal.aborted) parts.log.error({ err: error }, 'round of insights failed')
      isFailing = true
    } finally {
      isRunning = false
    }
  }
  const timer = setInterval(() => void work.run(tick), everyMs)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
