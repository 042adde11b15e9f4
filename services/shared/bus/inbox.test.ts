import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openInbox } from './inbox.ts'
import { openMemoryHub } from './memory-wire.ts'

describe('the inbox of a connection', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  const open = async () => openInbox(await openMemoryHub().connect({ caller: 'gateway', instance: 'g1' }))

  it('reuses recycled addresses, but not released ones', async () => {
    const inbox = await open()
    const first = inbox.open('query', () => {})
    first.recycle()
    const second = inbox.open('query', () => {})
    expect(second.subject).toBe(first.subject)
    second.release()
    expect(inbox.open('query', () => {}).subject).not.toBe(first.subject)
  })

  it('reuses an address only for the same sender, which may still publish to it', async () => {
    const inbox = await open()
    const first = inbox.open('query-guest', () => {})
    first.recycle()
    expect(inbox.open('query', () => {}).subject).not.toBe(first.subject)
    expect(inbox.open('query-guest', () => {}).subject).toBe(first.subject)
  })

  it('reuses no address for longer than ten minutes, before the permission to reply to it expires', async () => {
    const inbox = await open()
    const first = inbox.open('query', () => {})
    first.recycle()
    vi.advanceTimersByTime(599_000)
    const second = inbox.open('query', () => {})
    expect(second.subject).toBe(first.subject)
    second.recycle()
    vi.advanceTimersByTime(2_000)
    expect(inbox.open('query', () => {}).subject).not.toBe(first.subject)
  })
})
