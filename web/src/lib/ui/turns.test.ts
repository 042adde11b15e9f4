import { describe, expect, it } from 'vitest'
import { inTurn } from './turns.ts'

const macrotask = () => new Promise((resolve) => setImmediate(resolve))

/** Does work in turn until nothing of it is left, and tells in which order and how much of it in one task. */
const done = async (begin: (told: (name: string) => () => void) => void, names: number): Promise<string[]> => {
  const order: string[] = []
  begin((name) => () => {
    order.push(name)
    queueMicrotask(() => order.push('-'))
  })
  while (order.filter((name) => name !== '-').length < names) await macrotask()
  return order
}

describe('work in turn', () => {
  it('is done in the order in which it came, each piece in a task of its own', async () => {
    const order = await done((told) => ['one', 'two', 'three'].forEach((name) => inTurn(told(name))), 3)
    expect(order.join(' ')).toMatch(/^one - two - three/)
  })

  it('comes last when it came last, also from within other work', async () => {
    const order = await done((told) => {
      inTurn(() => {
        told('outer')()
        inTurn(told('inner'))
      })
      inTurn(told('beside'))
    }, 3)
    expect(order.filter((name) => name !== '-')).toEqual(['outer', 'beside', 'inner'])
  })

  it('is not done when it was called off', async () => {
    const order = await done((told) => {
      const callOff = inTurn(told('called off'))
      inTurn(told('kept'))
      callOff()
    }, 1)
    expect(order.filter((name) => name !== '-')).toEqual(['kept'])
  })
})
