import { describe, expect, it } from 'vitest'
import { formatScript, formatSide, readSide } from './schema-sides.ts'

describe('a side of a schema diff', () => {
  it.each([
    ['base=2', { hostId: 2, group: null, time: null }],
    ['base=group:eu west&baseTime=1780315200', { hostId: null, group: 'eu west', time: 1_780_315_200 }],
    ['base=x&baseTime=yesterday', { hostId: 0, group: null, time: null }],
    ['', { hostId: 0, group: null, time: null }],
  ])('is read from %j', (search, side) => {
    expect(readSide(new URLSearchParams(search), 'base', 0)).toEqual(side)
  })

  it('is written as it is read', () => {
    const side = { hostId: null, group: 'eu', time: null }
    expect(readSide(new URLSearchParams({ target: formatSide(side) }), 'target', 0)).toEqual(side)
  })
})

it('a script has the risks as comments', () => {
  const script = formatScript([
    { object: 'shop.a', sql: 'ALTER TABLE a DROP COLUMN b', risk: 'data-loss', note: 'deletes the values' },
    { object: 'shop.a', sql: 'ALTER TABLE a ADD COLUMN c Date', risk: 'safe', note: '' },
  ])
  expect(script).toBe(
    '-- Data loss: deletes the values\nALTER TABLE a DROP COLUMN b;\n\nALTER TABLE a ADD COLUMN c Date;\n',
  )
})
