import { describe, expect, it, vi } from 'vitest'
import { maxBackground, maxWaiting, maxWaitMs, openQueue } from './queue.ts'

const here = new AbortController().signal

describe('turns on a host', () => {
  it('are as many as the pool is large', async () => {
    const queue = openQueue('db')
    const leaves = await Promise.all([1, 2, 3].map(() => queue.enter('person', 3, here)))
    const fourth = queue.enter('person', 3, here)
    expect([queue.running, queue.waiting]).toEqual([3, 1])
    leaves[0]?.()
    leaves[0]?.()
    const leaveFourth = await fourth
    expect([queue.running, queue.waiting]).toEqual([3, 0])
    for (const leave of [...leaves, leaveFourth]) leave()
    expect(queue.running).toBe(0)
  })

  it('go to people before sweeps before reports, and among equals to who came first', async () => {
    const queue = openQueue('db')
    const first = await queue.enter('person', 1, here)
    const order: string[] = []
    const entering = (['report', 'sweep', 'person', 'sweep', 'person'] as const).map(async (priority, index) => {
      const leave = await queue.enter(priority, 1, here)
      order.push(`${priority} ${index}`)
      leave()
    })
    first()
    await Promise.all(entering)
    expect(order).toEqual(['person 2', 'person 4', 'sweep 1', 'sweep 3', 'report 0'])
  })

  it('are few for what nobody waits for, whatever else is free', async () => {
    const queue = openQueue('db')
    const background = await Promise.all(
      Array.from({ length: maxBackground }, (_, index) => queue.enter(index === 0 ? 'report' : 'sweep', 10, here)),
    )
    const next = queue.enter('sweep', 10, here)
    const person = await queue.enter('person', 10, here)
    expect([queue.running, queue.waiting]).toEqual([maxBackground + 1, 1])
    person()
    expect(queue.waiting).toBe(1)
    background[0]?.()
    const leave = await next
    expect([queue.running, queue.waiting]).toEqual([maxBackground, 0])
    for (const each of [...background, leave]) each()
    expect(queue.running).toBe(0)
  })

  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [4, maxBackground],
    [10, maxBackground],
  ])('of %i are %i at most for what nobody waits for, so that people find one', async (size, background) => {
    const queue = openQueue('db')
    const left = new AbortController()
    const entering = Array.from({ length: size + 1 }, () => queue.enter('sweep', size, left.signal))
    expect([queue.running, queue.waiting]).toEqual([background, size + 1 - background])
    left.abort()
    expect((await Promise.allSettled(entering)).filter(({ status }) => status === 'fulfilled')).toHaveLength(background)
  })

  it('are refused as busy when the line is full, unless somebody less urgent can go', async () => {
    const queue = openQueue('db')
    const leave = await queue.enter('person', 1, here)
    const left = new AbortController()
    const waiting = Array.from({ length: maxWaiting }, (_, index) =>
      queue.enter(index === 0 ? 'report' : 'sweep', 1, left.signal).catch((error: unknown) => error),
    )
    await expect(queue.enter('report', 1, here)).rejects.toMatchObject({ code: 'busy', retryAfterMs: 1_000 })
    const person = queue.enter('person', 1, here)
    await expect(waiting[0]).resolves.toMatchObject({ code: 'busy' })
    expect(queue.waiting).toBe(maxWaiting)
    leave()
    ;(await person)()
    left.abort()
    await Promise.all(waiting)
  })

  it('are refused as busy after two seconds', async () => {
    vi.useFakeTimers()
    try {
      const queue = openQueue('db')
      await queue.enter('person', 1, here)
      const waiting = queue.enter('person', 1, here).catch((error: unknown) => error)
      vi.advanceTimersByTime(maxWaitMs)
      expect(await waiting).toMatchObject({ code: 'busy', details: { host: 'db' } })
      expect(queue.waiting).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('are given up by a caller who leaves', async () => {
    const queue = openQueue('db')
    const leave = await queue.enter('person', 1, here)
    const left = new AbortController()
    const waiting = queue.enter('person', 1, left.signal)
    left.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    leave()
    expect([queue.running, queue.waiting]).toEqual([0, 0])
  })
})
