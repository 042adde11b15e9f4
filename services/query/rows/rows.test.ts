import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxFrameBytes } from '#shared/bus/limits.ts'
import { type RowStreamOptions, streamRows } from './rows.ts'
import { createChunkedBody, testHost, createBody } from '../testing/response-bodies.ts'

const pairs = [{ type: 'String' }, { type: 'UInt64' }]

const pass = async (text: string, limit?: number, sizes: readonly number[] = [64], more: RowStreamOptions = {}) => {
  const passing = streamRows(testHost, createChunkedBody(text, sizes), limit, more)
  const frames: Buffer[] = []
  let next = await passing.next()
  while (!next.done) {
    frames.push(Buffer.from(next.value))
    next = await passing.next()
  }
  return { frames, text: Buffer.concat(frames).toString('utf8'), ...next.value }
}

describe('rows', () => {
  it('pass unchanged up to the limit, cut after rows, however the host cuts them', async () => {
    const rows = fc.array(fc.record({ text: fc.string(), number: fc.integer() }), { maxLength: 60 })
    const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 60 }), sizes, async (all, limit, chunkSizes) => {
        const lines = all.map((row) => `${JSON.stringify(row)}\n`)
        const passed = await pass(lines.join(''), limit, chunkSizes)
        expect(passed.text).toBe(lines.slice(0, limit).join(''))
        expect([passed.rows, passed.truncated]).toEqual([Math.min(limit, all.length), all.length > limit])
        for (const frame of passed.frames) expect(frame.at(-1)).toBe(0x0a)
      }),
    )
  })

  it('are not marked as truncated when there are exactly as many as requested', async () => {
    expect(await pass('{"a":1}\n{"a":2}\n', 2)).toMatchObject({ rows: 2, truncated: false })
    expect(await pass('{"a":1}\n{"a":2}\n', 1)).toMatchObject({ rows: 1, truncated: true, text: '{"a":1}\n' })
  })

  it('end before totals, which older servers send behind an empty line', async () => {
    const text = '["Bern",2]\n["Rom",1]\n\n["",3]\n'
    for (const limit of [2, 3]) {
      const passed = await pass(text, limit, [1, 4], { columns: pairs })
      expect(passed).toMatchObject({ rows: 2, truncated: false, text: '["Bern",2]\n["Rom",1]\n' })
    }
    expect(await pass(text, 1, [64], { columns: pairs })).toMatchObject({ rows: 1, truncated: true })
  })

  it.each([
    ['of more than one column', pairs, '["a",1]\n'],
    ['of what is no text', [{ type: 'UInt64' }], '[1]\n'],
  ])('%s are no failure that an older server dresses as one', async (_, columns, row) => {
    const dressed = '["Code: 395. DB::Exception: \\"No\\". (THROWN) (version 24.8.4.1)"]\n'
    const passing = pass(row + dressed, undefined, [7], { columns })
    await expect(passing).rejects.toMatchObject({ details: { clickhouseCode: 395 } })
  })

  it('of text may begin like a failure', async () => {
    const one = '["Code: 60. DB::Exception: No."]\n'
    expect(await pass(one, undefined, [7], { columns: [{ type: 'Nullable(String)' }] })).toMatchObject({ rows: 1 })
    const two = '["Code: 60. DB::Exception: No.", 4]\n'
    expect(await pass(two, undefined, [7], { columns: pairs })).toMatchObject({ rows: 1 })
  })

  it('are cut before the one that would make them too long', async () => {
    const rows = fc.array(fc.tuple(fc.string(), fc.integer()), { maxLength: 60 })
    const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 800 }), sizes, async (all, maxBytes, chunkSizes) => {
        const text = all.map((row) => `${JSON.stringify(row)}\n`).join('')
        const bytes = Buffer.from(text)
        const fitting = bytes.length <= maxBytes ? bytes : bytes.subarray(0, bytes.lastIndexOf('\n', maxBytes - 1) + 1)
        const passed = await pass(text, undefined, chunkSizes, { maxBytes, columns: pairs })
        expect(passed.text).toBe(fitting.toString())
        expect(passed.rows).toBe(passed.text.split('\n').length - 1)
        expect(passed.truncated).toBe(fitting.length < bytes.length)
      }),
    )
  })

  it('come in frames that the bus can carry, also a row that is longer', async () => {
    const short = `{"a":"${'x'.repeat(1_000)}"}\n`
    const long = `{"a":"${'y'.repeat(3 * maxFrameBytes)}"}\n`
    const text = short.repeat(600) + long + short
    const passed = await pass(text, undefined, [1_000_000])
    expect(passed.text).toBe(text)
    expect(passed.rows).toBe(602)
    expect(Math.max(...passed.frames.map((frame) => frame.length))).toBeLessThanOrEqual(maxFrameBytes)
    expect(passed.frames.filter((frame) => frame.at(-1) !== 0x0a)).toHaveLength(3)
  })
})

describe('a failure after the first row', () => {
  it.each([
    ['as text', '{"a":1}\nCode: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)', 241],
    [
      'in a marked block',
      '{"a":1}\n\r\n__exception__\r\nabcdef\r\nCode: 159. DB::Exception: Too slow. (TIMEOUT_EXCEEDED)\n20 abcdef\r\n__exception__\r\n',
      159,
    ],
    [
      'as a row',
      '{"a":1}\n{"exception": "Code: 395. DB::Exception: No. (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO)"}\n',
      395,
    ],
  ])('is thrown when it comes %s', async (_, text, clickhouseCode) => {
    await expect(pass(text)).rejects.toMatchObject({ details: { clickhouseCode } })
    await expect(pass(text, 1)).rejects.toMatchObject({ details: { clickhouseCode } })
  })

  it('is thrown although the host cuts the connection after it', async () => {
    const pieces = ['{"a":1}\n', '\r\n__exception__\r\nabc\r\nCode: 395. DB::Exception: No. (THROWN)']
    const cut = createBody(
      pieces.map((piece) => Buffer.from(piece)),
      new Error('terminated'),
    )
    const all = async () => {
      for await (const _ of streamRows(testHost, cut));
    }
    await expect(all()).rejects.toMatchObject({ details: { clickhouseCode: 395 } })
  })

  it('is thrown when the last row is incomplete', async () => {
    await expect(pass('{"a":1}\n{"a":')).rejects.toMatchObject({ code: 'unavailable', details: { reason: 'garbage' } })
  })
})
