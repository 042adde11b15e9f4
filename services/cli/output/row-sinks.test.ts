import { setImmediate as nextTick } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createLanes, maxWaitingRows } from '../statement/lanes.ts'
import { createOutput, type OutputStream } from './output.ts'
import { createRowSink, type RowFormat } from './row-sinks.ts'

const openSink = (format: RowFormat, { isTTY = false, columns = 40 } = {}) => {
  let [written, noted] = ['', '']
  const stdout: OutputStream = { write: (text) => (written += text), isTTY, columns }
  const stderr: OutputStream = { write: (text) => (noted += text) }
  const sink = createRowSink(format, createOutput({ stdout, stderr, isJson: false, hasColors: false }))
  return { sink, text: () => written, notes: () => noted }
}
const columns = [
  { name: 'n', type: 'Nullable(UInt64)' },
  { name: 't', type: 'String' },
]
const rows = [
  ['1', 'a,"b'],
  [null, ['x']],
]

describe('rows', () => {
  it.each([
    ['csv', false, 'n,t\r\n1,"a,""b"\r\n,"[""x""]"\r\n'],
    ['ndjson', false, '{"n":"1","t":"a,\\"b"}\n{"n":null,"t":["x"]}\n'],
    ['json', false, '[{"n":"1","t":"a,\\"b"},{"n":null,"t":["x"]}]\n'],
    ['table', false, 'n\tt\n1\ta,"b\n\t["x"]\n'],
    ['table', true, 'n  t\n1  a,"b\n–  ["x"]\n'],
  ] as const)('are written as %s, on a terminal: %s', (format, isTTY, expected) => {
    const { sink, text } = openSink(format, { isTTY })
    const write = sink.begin(columns)
    for (const row of rows) write(row)
    sink.end(true)
    expect(text()).toBe(expected)
  })

  it('are the same JSON on a terminal', () => {
    const { sink, text } = openSink('json', { isTTY: true })
    const write = sink.begin(columns)
    for (const row of rows) write(row)
    sink.end(true)
    expect(text()).toBe(
      `${JSON.stringify(
        [
          { n: '1', t: 'a,"b' },
          { n: null, t: ['x'] },
        ],
        null,
        2,
      )}\n`,
    )
  })

  it.each([
    ['csv', 'n,t\r\n'],
    ['json', '[]\n'],
    ['ndjson', ''],
  ] as const)('can be none in %s', (format, expected) => {
    const { sink, text } = openSink(format)
    sink.begin(columns)
    sink.end(true)
    expect(text()).toBe(expected)
  })

  it('that break off leave a JSON array open', () => {
    const { sink, text } = openSink('json')
    sink.begin(columns)(['1', 'a'])
    sink.end(false)
    expect(text()).toBe('[{"n":"1","t":"a"}')
  })

  it('are written when they arrive', async () => {
    const { sink, text } = openSink('ndjson')
    sink.begin(columns)(['1', 'a'])
    await nextTick()
    expect(text()).toBe('{"n":"1","t":"a"}\n')
  })

  it('on a terminal have the widths of the first thousand, and hide columns that do not fit', () => {
    const { sink, text, notes } = openSink('table', { isTTY: true, columns: 20 })
    const wide = ['a', 'b', 'c'].map((name) => ({ name, type: 'String' }))
    const write = sink.begin(wide)
    for (let row = 0; row < 1_001; row += 1) write(['x'.repeat(row < 1_000 ? 8 : 12), 'y'.repeat(8), 'z'.repeat(8)])
    sink.end(true)
    const lines = text().trimEnd().split('\n')
    expect(lines[0]).toBe('a         b')
    expect(lines.at(-1)).toBe('xxxxxxx…  yyyyyyyy')
    expect(notes()).toBe('The terminal is too narrow for: c. --json has all columns.\n')
  })

  it('of other columns keep the header, and name what it lacks', () => {
    const { sink, text } = openSink('csv')
    sink.begin(columns)(['1', 'a'])
    sink.begin([{ name: 'new', type: 'String' }, ...columns.slice(1)])(['x', 'b'])
    sink.end(true)
    expect(text()).toBe('n,t\r\n1,a\r\n,b\r\n')
    expect(sink.omittedColumns()).toEqual(['new'])
  })
})

describe('rows of several hosts', () => {
  const open = () => {
    const { sink, text } = openSink('csv')
    const lanes = createLanes(3, sink)
    const push = (index: number, value: string) => lanes.push(index, [value])
    const begin = (index: number) => lanes.begin(index, [{ name: 'v', type: 'String' }])
    const finish = () => {
      sink.end(true)
      return text().trimEnd().split('\r\n')
    }
    return { lanes, push, begin, finish }
  }

  it('are in the order of the hosts, whichever responds first', () => {
    const { lanes, push, begin, finish } = open()
    for (const index of [2, 0]) {
      begin(index)
      push(index, `${index}a`)
      push(index, `${index}b`)
      lanes.end(index)
    }
    // A host that failed has no columns.
    lanes.end(1)
    expect(finish()).toEqual(['v', '0a', '0b', '2a', '2b'])
  })

  it('are written as they arrive if more would have to wait', () => {
    const { lanes, push, begin, finish } = open()
    begin(1)
    for (let row = 0; row <= maxWaitingRows; row += 1) push(1, `1-${row}`)
    begin(0)
    push(0, '0')
    push(1, 'last')
    for (const index of [0, 1, 2]) lanes.end(index)
    const lines = finish()
    expect(lines).toHaveLength(maxWaitingRows + 4)
    expect(lines.slice(-2)).toEqual(['0', 'last'])
  })
})
