import { describe, expect, it } from 'vitest'
import type { Column } from './columns.ts'
import { chooseColors, createOutput, type OutputStream } from './output.ts'

const open = (options: { isTTY?: boolean; columns?: number; isJson?: boolean; hasColors?: boolean }) => {
  let written = ''
  const stdout: OutputStream = { write: (text) => (written += text), isTTY: options.isTTY, columns: options.columns }
  const output = createOutput({
    stdout,
    stderr: stdout,
    isJson: options.isJson === true,
    hasColors: options.hasColors === true,
  })
  return { output, text: () => written }
}
interface Row {
  name: string
  size: number | null
}
const columns: Column<Row>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'SIZE', value: ({ size }) => size, isRight: true, tone: () => 'critical' },
]
const rows = [
  { name: 'first', size: 10 },
  { name: 'tab\there', size: null },
]

describe('a list', () => {
  it('has aligned columns without boxes on a terminal', () => {
    const { output, text } = open({ isTTY: true, columns: 40 })
    output.list({ rows, columns, empty: 'none' })
    expect(text()).toBe('NAME      SIZE\nfirst       10\ntab here     –\n')
  })

  it('fits into the terminal', () => {
    const { output, text } = open({ isTTY: true, columns: 30 })
    output.list({ rows: [{ name: 'x'.repeat(100), size: 1 }], columns, empty: 'none' })
    expect(
      text()
        .split('\n')
        .every((line) => line.length <= 30),
    ).toBe(true)
    expect(text()).toContain('…')
  })

  it('is tab-separated in a pipe, without colours and rounding', () => {
    const { output, text } = open({})
    output.list({ rows, columns, empty: 'none' })
    expect(text()).toBe(`NAME\tSIZE\nfirst\t10\n${String.raw`tab\there`}\t\n`)
  })

  it('is JSON with --json, also without rows', () => {
    const { output, text } = open({ isTTY: false, isJson: true })
    output.list({ rows: [], columns, empty: 'none' })
    output.list({ rows, columns, json: { a: 1 }, empty: 'none' })
    expect(text()).toBe('[]\n{"a":1}\n')
  })

  it('states on a terminal that there are no rows', () => {
    const { output, text } = open({ isTTY: true })
    output.list({ rows: [], columns, empty: 'No hosts.' })
    expect(text()).toBe('No hosts.\n')
  })
})

describe('colours', () => {
  it.each([
    [{}, true, true, true],
    [{}, false, true, false],
    [{ NO_COLOR: '1' }, true, true, false],
    [{ NO_COLOR: '' }, true, true, true],
    [{ TERM: 'dumb' }, true, true, false],
    [{ FORCE_COLOR: '1' }, false, true, true],
    [{ FORCE_COLOR: '1' }, true, false, false],
  ])('with %j, terminal %j and option %j are %j', (env, isTTY, isAllowed, expected) => {
    expect(chooseColors(env, { write: () => true, isTTY }, isAllowed)).toBe(expected)
  })

  it('mark a cell by its meaning', () => {
    const { output, text } = open({ isTTY: true, hasColors: true })
    output.list({ rows, columns, empty: 'none' })
    expect(text()).toContain('\u001B[31m10\u001B[39m')
  })
})
