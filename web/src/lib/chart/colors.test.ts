import { expect, it } from 'vitest'
import { assignColors, hashColor, neutralColor } from './colors.ts'

it('gives a name the same colour in every chart', () => {
  expect(assignColors(['Select', 'Insert', 'ada']).get('Select')).toBe(assignColors(['Drop', 'Select']).get('Select'))
  expect(assignColors(['some-host']).get('some-host')).toBe(hashColor('some-host'))
  expect(hashColor('SELECT')).toBe(hashColor('Select'))
})

it('gives each series of a chart its own colour, and the eighth one the neutral colour', () => {
  const names = Array.from({ length: 8 }, (_, index) => `user ${index}`)
  const colors = assignColors(names)
  expect(new Set(colors.values()).size).toBe(8)
  expect([...colors.values()]).toContain(neutralColor)
})

it('keeps the colour that a name got after a collision, also when series are sorted differently', () => {
  const other = Array.from({ length: 100 }, (_, index) => `table ${index}`).find(
    (name) => hashColor(name) === hashColor('orders'),
  )
  if (other === undefined) throw new Error('no colliding name')
  const first = assignColors(['orders', other])
  expect(first.get(other)).not.toBe(first.get('orders'))
  expect(assignColors([other, 'orders'])).toEqual(new Map([...first].toReversed()))
  expect(assignColors([other]).get(other)).toBe(first.get(other))
})

it('does not take the properties of objects for names', () => {
  expect(hashColor('constructor')).toBeGreaterThanOrEqual(0)
})
