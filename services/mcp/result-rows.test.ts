import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseAndRunTool } from '#shared/tools/tool.ts'
import { createToolContext } from './testing/context.ts'
import { queryTool } from './tools/query.ts'
import { type Cell, formatRecords, formatRow, selectRows } from './result-rows.ts'

const Result = z.object({ rows: z.array(z.array(z.unknown())), truncated: z.unknown() })

/** Returns the text that a model receives for rows, with default limits. */
const resultOf = async (rows: Cell[][], columns = rows[0]?.map((_, index) => `c${index}`) ?? []) => {
  const context = createToolContext(() => [])
  const statement = { queryId: 'q', durationMs: 1, rows: rows.length, rowsRead: 1, bytesRead: 1, host: 'one', sql: '' }
  const runQuery = async () => ({
    columns: columns.map((name) => ({ name, type: 'Nullable(String)' })),
    rows,
    truncated: null,
    statement: { ...statement, clickhouseVersion: '26.1', timezone: null, incomplete: null },
  })
  const given = { ...context, query: { ...context.query, runQuery } }
  const { text, structured } = await parseAndRunTool(queryTool, { sql: 'SELECT 1' }, given)
  return { text: `${text}\n${queryTool.format?.(structured ?? {})}`, ...Result.parse(structured) }
}

const rowsOf = (count: number, cells: () => Cell[]): Cell[][] => Array.from({ length: count }, cells)
const letters = (count: number, alphabet: string) =>
  Array.from(randomBytes(count), (byte) => alphabet[byte % alphabet.length]).join('')

describe('a result with default limits', () => {
  it.each<[string, () => Cell[]]>([
    ['hashes', () => [randomBytes(16).toString('hex'), randomBytes(30).toString('base64'), randomUUID()]],
    ['numbers', () => [Number(`0.${randomBytes(4).readUInt32BE()}`), String(randomBytes(8).readBigUInt64BE())]],
    ['random letters', () => [letters(40, 'abcdefghijklmnopqrstuvwxyz'), letters(40, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')]],
    [
      'statements',
      () => ['SELECT count() FROM system.tables WHERE database = ? AND name LIKE ? GROUP BY 1 '.repeat(9)],
    ],
    ['JSON', () => [JSON.stringify({ a: [1, { b: null }], text: '"quoted"' }).repeat(20)]],
    ['rare characters', () => ['\u{10348}\u{12031}\u{3402}'.repeat(50), '\u0001\u0002'.repeat(50)]],
    ['Cyrillic and Chinese texts', () => ['Съешь ещё этих мягких булок '.repeat(9), '数据库查询性能分析'.repeat(20)]],
    ['long cells', () => ['x'.repeat(90_000)]],
  ])('has at most 15,000 tokens and 50 KiB of %s', async (_what, cells) => {
    const { text, rows, truncated } = await resultOf(rowsOf(3_000, cells))
    expect(rows.length).toBeGreaterThan(0)
    expect(truncated).toMatchObject({ reason: 'bytes', returned: rows.length })
    expect(countTokens(text)).toBeLessThanOrEqual(15_000)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(50 * 1024 + 200)
  })

  it('counts the names of the columns', async () => {
    const names = Array.from({ length: 900 }, (_, index) => `metric_${index}`)
    expect(countTokens((await resultOf([names, names, names], names)).text)).toBeLessThanOrEqual(15_000)
  })

  it('is complete if it is short', async () => {
    const { text, truncated } = await resultOf([[1, 'a\tb', null, true]])
    expect(text).toBe(
      `1 row, complete.\nc0\tc1\tc2\tc3\n${formatRow(Array.from({ length: 4 }, () => 'Nullable(String)'))}\n1\ta\\tb\t\\N\ttrue`,
    )
    expect(truncated).toBeNull()
  })
})

it('shortens the cells of a row that exceeds the limit alone', () => {
  const [row] = selectRows([['x'.repeat(5_000), 7]], { header: '', maxBytes: 1_000, maxTokens: undefined })
  expect(row).toEqual([expect.stringMatching(/^x{16,}… \(5000 characters\)$/), 7])
})

it('formats records without columns that have no value', () => {
  expect(formatRecords([])).toBe('')
  expect(
    formatRecords([
      { name: 'one', tags: ['a', 'b'], none: null, empty: '' },
      { name: 'two', tags: [], none: null, empty: '' },
    ]),
  ).toBe('name\ttags\none\ta, b\ntwo\t')
})
