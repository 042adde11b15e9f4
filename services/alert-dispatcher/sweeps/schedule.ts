import type { alerts } from '#proto/alerts.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { findSettingProblems } from '#shared/config/setting.ts'
import type { DispatcherDeps } from '../dispatcher-deps.ts'
import { strictSweepSettings } from './sweep-settings.ts'
import { sweep, type SweepResult } from './sweep.ts'
import { runTick } from './tick.ts'

const tickIntervalMs = 10_000

/** Sweeps on request and ticks on a timer. Disposing it stops both between two hosts. */
export interface SweepSchedule extends AsyncDisposable {
  /** Runs a sweep. It continues even if the caller stops waiting. */
  sweep(): Promise<SweepResult>
}

export const openSweepSchedule = (parts: DispatcherDeps, everyMs = tickIntervalMs): SweepSchedule => {
  const { log } = parts.telemetry
  for (const { name, sentence } of findSettingProblems(strictSweepSettings, parts.env))
    log.warn({ variable: name, reason: sentence }, 'invalid setting ignored')
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
      await runTick(parts, stop.signal)
      if (isFailing) log.info('tick recovered')
      isFailing = false
    } catch (error) {
      // Logs only the first of consecutive failures, because an unavailable store makes every tick fail.
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
      stop.abort(new ServiceError('unavailable', 'alert-dispatcher is stopping'))
      await Promise.all(running)
    },
  }
}

const disabledSweepResult = { enabled: false, hosts: 0, firing: 0, messages: 0 }

/** Returns the handler that runs a sweep unless sweeps are disabled. */
export const createSweepHandler =
  (schedule: SweepSchedule, policy: DispatcherDeps['policy']): ServiceHandlers<typeof alerts>['sweep'] =>
  async () => {
    if (!(await policy()).sweeps.isEnabled) return disabledSweepResult
    const result = await schedule.sweep()
    return { ...result, enabled: true, messages: result.dispatched }
  }
