import { describe, expect, it, vi } from 'vitest'
import { type AdmissionQueue, openAdmissionQueue, type AdmissionQueueOptions } from './queue.ts'

const here = new AbortController().signal
const [maxWaiting, maxWaitMs, maxBackground] = [50, 2_000, 3]

const openQueue = (options: Partial<AdmissionQueueOptions> = {}): AdmissionQueue =>
  openAdmissionQueue({
    refusal: 'host db has too many statements waiting',
    details: { host: 'db' },
    maxWaiting,
    maxWaitMs,
    maxBackground,
    ...options,
  })

describe('slots', () => {
  it('are limited to the size of the pool', async () => {
    const queue = openQueue()
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

  it('are assigned to users before sweeps before reports, and in order of arrival within a priority', async () => {
    const queue = openQueue()
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

  it('go to users before the tools of agents, in rotation of their callers', async () => {
    const queue = openQueue()
    const first = await queue.enter('person', 1, here)
    const order: string[] = []
    const enter = async (priority: 'person' | 'tool' | 'sweep', caller: string) => {
      const leave = await queue.enter(priority, 1, here, { caller })
      order.push(caller)
      leave()
    }
    const agents = ['a1', 'a1', 'a1', 'a2', 'a3', 'a2'].map((caller) => enter('tool', caller))
    const others = [enter('sweep', 'sweep'), enter('person', 'user')]
    first()
    await Promise.all([...agents, ...others])
    expect(order).toEqual(['user', 'a1', 'a2', 'a3', 'a1', 'a2', 'a1', 'sweep'])
  })

  it('leave one of several to users while tools fill the others', async () => {
    const queue = openQueue()
    const tools = await Promise.all([1, 2, 3].map(() => queue.enter('tool', 4, here)))
    const fourth = queue.enter('tool', 4, here)
    expect([queue.running, queue.waiting]).toEqual([3, 1])
    ;(await queue.enter('person', 4, here))()
    for (const leave of tools) leave()
    ;(await fourth)()
    expect(queue.running).toBe(0)
  })

  it('are limited for background work, even when others are free', async () => {
    const queue = openQueue()
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
  ])('of %i are limited to %i for background work, so that one is free for users', async (size, background) => {
    const queue = openQueue()
    const left = new AbortController()
    const entering = Array.from({ length: size + 1 }, () => queue.enter('sweep', size, left.signal))
    expect([queue.running, queue.waiting]).toEqual([background, size + 1 - background])
    left.abort()
    expect((await Promise.allSettled(entering)).filter(({ status }) => status === 'fulfilled')).toHaveLength(background)
  })

  it('are rejected as busy when the queue is full, unless a less urgent caller can be dropped', async () => {
    const queue = openQueue()
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

  it('are rejected as busy after two seconds of waiting', async () => {
    vi.useFakeTimers()
    try {
      const queue = openQueue()
      await queue.enter('person', 1, here)
      const waiting = queue.enter('person', 1, here).catch((error: unknown) => error)
      vi.advanceTimersByTime(maxWaitMs)
      expect(await waiting).toMatchObject({ code: 'busy', details: { host: 'db' } })
      expect(queue.waiting).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('are not assigned to a caller that aborted', async () => {
    const queue = openQueue()
    const leave = await queue.enter('person', 1, here)
    const left = new AbortController()
    const waiting = queue.enter('person', 1, left.signal)
    left.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    leave()
    expect([queue.running, queue.waiting]).toEqual([0, 0])
  })
})

describe('work with a long expected wait', () => {
  /** Opens a queue with one slot, which is held for `heldMs` on the clock of the test. */
  const openTimed = async (heldMs: number) => {
    let now = 0
    const queue = openQueue({ nowMs: () => now })
    const advance = (ms: number) => (now += ms)
    const hold = async () => {
      const leave = await queue.enter('person', 1, here)
      return () => {
        advance(heldMs)
        leave()
      }
    }
    ;(await hold())()
    return { queue, hold, advance }
  }

  it('is rejected on arrival, with the time until a slot is free', async () => {
    const { queue, hold } = await openTimed(1_500)
    const leave = await hold()
    const next = hold()
    await expect(hold()).rejects.toMatchObject({ code: 'busy', retryAfterMs: 3_000 })
    expect(queue.waiting).toBe(1)
    leave()
    ;(await next)()
  })

  it('is rejected if it could not end within the patience of its caller', async () => {
    const { queue, hold } = await openTimed(500)
    const leave = await hold()
    await expect(queue.enter('person', 1, here, { patienceMs: 900 })).rejects.toMatchObject({ code: 'busy' })
    const next = queue.enter('person', 1, here, { patienceMs: 1_100 })
    leave()
    ;(await next)()
  })

  it('may be longer for work with its own maximum, also while the queue is overloaded', async () => {
    const { queue, hold, advance } = await openTimed(1_500)
    const leave = await hold()
    const tool = { maxWaitMs: 10_000 }
    const tools = [1, 2, 3].map(() => queue.enter('tool', 1, here, tool))
    advance(maxWaitMs)
    tools.push(queue.enter('tool', 1, here, tool))
    expect(queue.waiting).toBe(4)
    await expect(queue.enter('tool', 1, here, { maxWaitMs: 6_000 })).rejects.toMatchObject({ code: 'busy' })
    const person = hold()
    leave()
    ;(await person)()
    for (const each of tools) (await each)()
  })

  it('does not cause the rejection of a user if only background work waits', async () => {
    const { queue, hold } = await openTimed(1_500)
    const leave = await hold()
    const left = new AbortController()
    const sweep = queue.enter('sweep', 1, left.signal).catch((error: unknown) => error)
    const person = hold()
    expect(queue.waiting).toBe(2)
    leave()
    ;(await person)()
    left.abort()
    await sweep
  })

  it('may wait for one slot time only in an overloaded queue, until nothing is rejected any more', async () => {
    const { queue, hold, advance } = await openTimed(100)
    let leave = await hold()
    let waiting = [hold(), hold(), hold()]
    // As many items arrive as leave, so three items always wait.
    for (let elapsedMs = 0; elapsedMs < maxWaitMs - 100; elapsedMs += 100) {
      leave()
      leave = (await waiting.shift()) ?? leave
      waiting.push(hold())
      expect(queue.waiting).toBe(3)
    }
    advance(100)
    await expect(hold()).rejects.toMatchObject({ code: 'busy', retryAfterMs: 1_000 })
    while (waiting.length > 0) {
      leave()
      leave = (await waiting.shift()) ?? leave
    }
    waiting = [hold()]
    await expect(hold()).rejects.toMatchObject({ code: 'busy' })
    leave()
    leave = (await waiting.shift()) ?? leave
    advance(maxWaitMs)
    waiting = [hold(), hold(), hold()]
    expect(queue.waiting).toBe(3)
    leave()
    for (const each of waiting) (await each)()
  })
})

it('admits waiting work when the number of slots grows', async () => {
  const queue = openQueue()
  const leave = await queue.enter('person', 1, here)
  const next = queue.enter('person', 1, here)
  expect([queue.running, queue.waiting]).toEqual([1, 1])
  queue.resize(2)
  ;(await next)()
  leave()
})
