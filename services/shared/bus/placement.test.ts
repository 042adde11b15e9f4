import { expect, it } from 'vitest'
import { Placement } from './placement.ts'
import { pickByHash } from './rendezvous.ts'

const names = ['a', 'b', 'c']
const preferred = pickByHash('host', names)

/** Places requests for one host that do not end. Returns the chosen instances. */
const placeAll = (placement: Placement, statements: readonly string[]): string[] =>
  statements.map((shared) => {
    const placed = placement.choose({ preferred: 'host', shared }, names)
    placement.enter(placed)
    return placed.instance
  })

const distinct = (count: number, start = 0) => Array.from({ length: count }, (_, index) => `statement ${start + index}`)
const countOf = (chosen: readonly string[], name: string | undefined) => chosen.filter((one) => one === name).length

it('chooses the preferred instance for all requests at low load', () => {
  const placement = new Placement()
  for (const shared of distinct(100)) {
    const placed = placement.choose({ preferred: 'host', shared }, names)
    expect(placed.instance).toBe(preferred)
    placement.enter(placed)()
  }
  expect(placeAll(placement, distinct(4))).toEqual(Array(4).fill(preferred))
})

it('gives no instance more than 1.25 times the mean of distinct requests', () => {
  const chosen = placeAll(new Placement(), distinct(120))
  for (const name of names) {
    expect(countOf(chosen, name)).toBeLessThanOrEqual(50)
    expect(countOf(chosen, name)).toBeGreaterThan(20)
  }
})

it('chooses the same instance for equal requests in flight, even if it is overloaded', () => {
  const placement = new Placement()
  const first = placeAll(placement, distinct(30))
  expect(placeAll(placement, distinct(30))).toEqual(first)
  expect(new Set(placeAll(placement, Array(100).fill('statement 0')))).toEqual(new Set([first[0]]))
})

it('chooses the same instance again for a request that did not get the preferred one', () => {
  const placement = new Placement()
  const leave = distinct(4).map((shared) => placement.enter({ instance: preferred ?? '', shared }))
  const choose = (shared: string, among = names) => placement.choose({ preferred: 'host', shared }, among).instance
  const other = choose('another')
  expect(other).not.toBe(preferred)
  for (const each of leave) each()
  expect([choose('another'), choose('a third')]).toEqual([other, preferred])
  // The instance has left.
  const rest = names.filter((name) => name !== other)
  expect(rest).toContain(choose('another', rest))
})

it('balances requests without an input that they share', () => {
  const placement = new Placement()
  const chosen = Array.from({ length: 90 }, (_, index) => {
    const placed = placement.choose({ preferred: String(index), shared: undefined }, names)
    placement.enter(placed)
    return placed.instance
  })
  for (const name of names) expect(countOf(chosen, name)).toBeLessThanOrEqual(38)
})
