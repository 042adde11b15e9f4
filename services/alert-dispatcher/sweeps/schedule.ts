import type { alerts } from '#proto/alerts.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { problemsOf } from '#shared/config/setting.ts'
import type { Parts } from '../parts.ts'
import { strictSweepSettings, isSweepEnabled } from './sweep-settings.ts'
import { sweep, type Swept } from './sweep.ts'
import { tick } from './tick.ts'

const tickEveryMs = 10_000

/** Sweeps when asked and ticks by itself; disposing it ends both, between one host and the next. */
export interface Schedule extends AsyncDisposable {
  /** Goes on whether or not its caller waits. */
  sweep(): Promise<Swept>
}

export const openSchedule = (parts: Parts, everyMs = tickEveryMs): Schedule => {
  const { log } = parts.telemetry
  for (const { name, sentence } of problemsOf(strictSweepSettings, parts.env))
    log.warn({ variable: name, reason: sentence }, 'variable cannot be meant; it counts as unset')
  const stop = new AbortController()
  const running = new Set<Promise<unknown>>()
  const track = <T>(work: Promise<T>): Promise<T> => {
    const ended: Promise<unknown> = work.then(
      () => running.delete(ended),
      () => running.delete(ended),
    )
    running.add(ended)
    return work
  }
  let isTicking = false
  let isFailing = false
  const tickOnce = async (): Promise<void> => {
    if (isTicking) return
    isTicking = true
    try {
      await tick(parts, stop.signal)
      if (isFailing) log.info('ticks succeed again')
      isFailing = false
    } catch (error) {
      // Told once: the next tick is near, and a store that is away fails them all.
      if (!isFailing && !stop.signal.aborted) log.error({ err: error }, 'tick failed')
      isFailing = true
    } finally {
      isTicking = false
    }
  }
  const timer = setInterval(() => void track(tickOnce()), everyMs)
  timer.unref()
  return {
    sweep: () => track(sweep(parts, stop.signal)),
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      stop.abort(new ServiceError('unavailable', 'this dispatcher is stopping'))
      await Promise.all(running)
    },
  }
}

const nothing = { enabled: false, hosts: 0, firing: 0, messages: 0 }

/** Sweeps now, unless sweeps are switched off. */
export const sweepHandler =
  (schedule: Schedule, env: Environment): Handlers<typeof alerts>['sweep'] =>
  async () => {
    if (!isSweepEnabled(env)) return nothing
    const swept = await schedule.sweep()
    return { ...swept, enabled: true, messages: swept.dispatched }
  }
