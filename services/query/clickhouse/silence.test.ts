import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { host } from '../testing/chunked.ts'
import { maxSilenceMs, openSilence } from './silence.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const begun = (isSilent = false) => {
  const silence = openSilence()
  silence.tell(host, isSilent)
  const giveUp = vi.fn<() => void>()
  return { silence, giveUp, wait: silence.wait(host, giveUp) }
}

describe('a wait', () => {
  it('lasts as long as it likes while the probe is answered', () => {
    const { giveUp } = begun()
    vi.advanceTimersByTime(maxSilenceMs * 100)
    expect(giveUp).not.toHaveBeenCalled()
  })

  it('is given up when a host is silent for so long that fell silent meanwhile', () => {
    const { silence, giveUp } = begun()
    vi.advanceTimersByTime(maxSilenceMs)
    silence.tell(host, true)
    vi.advanceTimersByTime(maxSilenceMs - 1)
    silence.tell(host, true)
    expect(giveUp).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(giveUp).toHaveBeenCalledOnce()
  })

  it('for a host that is silent already counts from its own beginning', () => {
    const { giveUp } = begun(true)
    vi.advanceTimersByTime(maxSilenceMs - 1)
    expect(giveUp).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(giveUp).toHaveBeenCalledOnce()
  })

  it('goes on when the next probe is answered', () => {
    const { silence, giveUp } = begun(true)
    vi.advanceTimersByTime(maxSilenceMs - 1)
    silence.tell(host, false)
    vi.advanceTimersByTime(maxSilenceMs * 100)
    expect(giveUp).not.toHaveBeenCalled()
  })

  it('counts anew with everything that the host sends', () => {
    const { giveUp, wait } = begun(true)
    for (let sent = 0; sent < 5; sent++) {
      vi.advanceTimersByTime(maxSilenceMs - 1)
      wait.heard()
    }
    expect(giveUp).not.toHaveBeenCalled()
    vi.advanceTimersByTime(maxSilenceMs)
    expect(giveUp).toHaveBeenCalledOnce()
  })

  it('that is over is given up no more', () => {
    const { silence, giveUp, wait } = begun(true)
    wait[Symbol.dispose]()
    silence.tell(host, false)
    silence.tell(host, true)
    vi.advanceTimersByTime(maxSilenceMs)
    expect(giveUp).not.toHaveBeenCalled()
  })
})
