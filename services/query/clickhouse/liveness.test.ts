import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { testHost } from '../testing/response-bodies.ts'
import { maxUnresponsiveMs, openLivenessTracker } from './liveness.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const startWatch = (isUnresponsive = false) => {
  const liveness = openLivenessTracker()
  liveness.report(testHost, isUnresponsive)
  const giveUp = vi.fn<() => void>()
  return { liveness, giveUp, watch: liveness.watch(testHost, giveUp) }
}

describe('a liveness watch', () => {
  it('does not give up while the host responds to the probe', () => {
    const { giveUp } = startWatch()
    vi.advanceTimersByTime(maxUnresponsiveMs * 100)
    expect(giveUp).not.toHaveBeenCalled()
  })

  it('gives up when the host becomes unresponsive for the maximum time', () => {
    const { liveness, giveUp } = startWatch()
    vi.advanceTimersByTime(maxUnresponsiveMs)
    liveness.report(testHost, true)
    vi.advanceTimersByTime(maxUnresponsiveMs - 1)
    liveness.report(testHost, true)
    expect(giveUp).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(giveUp).toHaveBeenCalledOnce()
  })

  it('counts from its own start when the host is already unresponsive', () => {
    const { giveUp } = startWatch(true)
    vi.advanceTimersByTime(maxUnresponsiveMs - 1)
    expect(giveUp).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(giveUp).toHaveBeenCalledOnce()
  })

  it('does not give up when the host responds to the next probe', () => {
    const { liveness, giveUp } = startWatch(true)
    vi.advanceTimersByTime(maxUnresponsiveMs - 1)
    liveness.report(testHost, false)
    vi.advanceTimersByTime(maxUnresponsiveMs * 100)
    expect(giveUp).not.toHaveBeenCalled()
  })

  it('restarts the timeout when the host sends data', () => {
    const { giveUp, watch } = startWatch(true)
    for (let sent = 0; sent < 5; sent++) {
      vi.advanceTimersByTime(maxUnresponsiveMs - 1)
      watch.refresh()
    }
    expect(giveUp).not.toHaveBeenCalled()
    vi.advanceTimersByTime(maxUnresponsiveMs)
    expect(giveUp).toHaveBeenCalledOnce()
  })

  it('does not give up after its disposal', () => {
    const { liveness, giveUp, watch } = startWatch(true)
    watch[Symbol.dispose]()
    liveness.report(testHost, false)
    liveness.report(testHost, true)
    vi.advanceTimersByTime(maxUnresponsiveMs)
    expect(giveUp).not.toHaveBeenCalled()
  })
})
