import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxFrameBytes } from '#shared/bus/limits.ts'
import { streamTextRows } from './text-rows.ts'
import { createChunkedBody, testHost } from '../testing/response-bodies.ts'

const csv = { isQuoted: true }
const tsv = { isQuoted: false }

const pass = async (
  text: string,
  format: typeof csv,
  limit?: number,
  sizes: readonly number[] = [64],
  maxBytes?: number,
) => {
  const passing = streamTextRows(testHost, createChunkedBody(text, sizes), format, limit, maxBytes)
  const frames: Buffer[] = []
  let next = await passing.next()
  while (!next.done) {
    frames.push(Buffer.from(next.value))
    next = await passing.next()
  }
  return { frames, text: Buffer.concat(frames).toString('utf8'), ...next.value }
}

const csvCell = (text: string): string => `"${text.replaceAll('"', '""')}"`
const tsvCell = (text: string): string =>
  text.replace(/[\\\t\n]/g, (found) => ({ '\\': '\\\\', '\t': '\\t', '\n': '\\n' })[found] ?? found)

const writers = [
  ['csv', csv, (cells: string[]) => `${cells.map(csvCell).join(',')}\n`],
  ['tsv', tsv, (cells: string[]) => `${cells.map(tsvCell).join('\t')}\n`],
] as const

describe.each(writers)('rows in %s', (_, format, line) => {
  it('pass unchanged up to the limit, below the names of their columns, however the host cuts them', async () => {
    const cell = fc.oneof(fc.string(), fc.constantFrom('"', '\n', '"\n"', 'Code: 1. DB::Exception: no', '\\', '\t'))
    const rows = fc.array(fc.tuple(cell, cell), { maxLength: 40 })
    const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 40 }), sizes, async (all, limit, chunkSizes) => {
        const lines = [['a', 'b'], ...all].map(line)
        const passed = await pass(lines.join(''), format, limit, chunkSizes)
        expect(passed.text).toBe(lines.slice(0, limit + 1).join(''))
        expect([passed.rows, passed.truncated]).toEqual([Math.min(limit, all.length), all.length > limit])
      }),
    )
  })

  it('are cut before the one that would make them too long', async () => {
    const cell = fc.oneof(fc.string(), fc.constantFrom('"', '\n', '"\n"', '\\', '\t'))
    const rows = fc.array(fc.tuple(cell, cell), { maxLength: 40 })
    const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 500 }), sizes, async (all, maxBytes, chunkSizes) => {
        const lines = [['a', 'b'], ...all].map(line)
        const fitting = lines.filter(
          (_line, index) => Buffer.byteLength(lines.slice(0, index + 1).join('')) <= maxBytes,
        )
        const passed = await pass(lines.join(''), format, undefined, chunkSizes, maxBytes)
        expect(passed.text).toBe(fitting.join(''))
        expect([passed.rows, passed.truncated]).toEqual([
          Math.max(0, fitting.length - 1),
          fitting.length < lines.length,
        ])
      }),
    )
  })

  it('are all passed without a limit, in frames that the bus can carry', async () => {
    const lines = [['a', 'b'], ...Array.from({ length: 2_000 }, () => ['x'.repeat(500), 'y\nz'])].map(line)
    const passed = await pass(lines.join(''), format, undefined, [1_000_000])
    expect([passed.text === lines.join(''), passed.rows, passed.truncated]).toEqual([true, 2_000, false])
    expect(Math.max(...passed.frames.map((frame) => frame.length))).toBeLessThanOrEqual(maxFrameBytes)
  })

  it.each([
    ['as text', 'Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)', 241],
    ['as a line', 'Code: 395. DB::Exception: No. (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO)\n', 395],
    [
      'in a marked block',
      '\r\n__exception__\r\nabcdef\r\nCode: 159. DB::Exception: Too slow. (TIMEOUT_EXCEEDED)\n20 abcdef\r\n__exception__\r\n',
      159,
    ],
  ])('do not hide a failure that comes after them %s', async (_how, failure, clickhouseCode) => {
    const text = `${line(['a', 'b'])}${line(['1', '2'])}${failure}`
    for (const sizes of [[3], [1_000]]) {
      await expect(pass(text, format, undefined, sizes)).rejects.toMatchObject({ details: { clickhouseCode } })
    }
  })

  it('are not sent when the first is a failure', async () => {
    const failure = 'Code: 395. DB::Exception: No. (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO)\n'
    for (const sizes of [[3], [8, 1_000], [1_000]]) {
      const passing = streamTextRows(testHost, createChunkedBody(`${line(['a', 'b'])}${failure}`, sizes), format)
      await expect(passing.next()).rejects.toMatchObject({ details: { clickhouseCode: 395 } })
    }
  })

  it('may be empty, except for the column names', async () => {
    const passed = await pass(line(['a', 'b']), format)
    expect([passed.text, passed.rows, passed.truncated]).toEqual([line(['a', 'b']), 0, false])
  })

  it('fail when the last one is incomplete', async () => {
    await expect(pass(`${line(['a', 'b'])}1`, format)).rejects.toMatchObject({ details: { reason: 'garbage' } })
  })
})
