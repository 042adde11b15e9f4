import { describe, expect, it } from 'vitest'
import { enqueueTask } from './task-queue.ts'

const macrotask = () => new Promise((resolve) => setImmediate(resolve))

/** Runs the queue until it is empty and returns the order of work, grouped by task. */
const done = async (begin: (record: (name: string) => () => void) => void, names: number): Promise<string[]> => {
  const order: string[] = []
  begin((name) => () => {
    order.push(name)
    queueMicrotask(() => order.push('-'))
  })
  while (order.filter((name) => name !== '-').length < names) await macrotask()
  return order
}

describe('task queue', () => {
  it('runs work in order, each in its own task', async () => {
    const order = await done((record) => ['one', 'two', 'three'].forEach((name) => enqueueTask(record(name))), 3)
    expect(order.join(' ')).toMatch(/^one - two - three/)
  })

  it('runs nested work last', async () => {
    const order = await done((record) => {
      enqueueTask(() => {
        record('outer')()
        enqueueTask(record('inner'))
      })
      enqueueTask(record('sibling'))
    }, 3)
    expect(order.filter((name) => name !== '-')).toEqual(['outer', 'sibling', 'inner'])
  })

  it('skips cancelled work', async () => {
    const order = await done((record) => {
      const cancel = enqueueTask(record('cancelled'))
      enqueueTask(record('remaining'))
      cancel()
    }, 1)
    expect(order.filter((name) => name !== '-')).toEqual(['remaining'])
  })
})
