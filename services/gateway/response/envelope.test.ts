import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wrapRows } from './envelope.ts'

async function* framesOf(bytes: Uint8Array, cuts: readonly number[]) {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  for (const [index, start] of places.slice(0, -1).entries()) yield bytes.subarray(start, places[index + 1])
}

const textOf = async (frames: AsyncIterable<Uint8Array>, metadata: unknown = {}): Promise<string> => {
  const parts: Uint8Array[] = []
  for await (const part of wrapRows(frames, () => metadata)) parts.push(part)
  return Buffer.concat(parts).toString()
}

describe('rowEnvelope', () => {
  it('returns the same rows for every split into frames', async () => {
    const rows = fc.array(fc.dictionary(fc.string(), fc.oneof(fc.string({ unit: 'binary' }), fc.integer())))
    await fc.assert(
      fc.asyncProperty(rows, fc.array(fc.nat()), async (rows, cuts) => {
        const bytes = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
        const parsed: unknown = JSON.parse(await textOf(framesOf(bytes, cuts), { limit: 5 }))
        expect(JSON.stringify(parsed)).toBe(JSON.stringify({ success: true, data: rows, metadata: { limit: 5 } }))
      }),
    )
  })

  it('accepts a last row without a newline', async () => {
    expect(await textOf(framesOf(Buffer.from('{"a":1}\n{"a":2}'), []))).toBe(
      '{"success":true,"data":[{"a":1},{"a":2}],"metadata":{}}',
    )
  })

  it('puts columns before the rows', async () => {
    async function* frames() {
      yield Buffer.from('[1,"a"]\n')
      yield Buffer.from('[2,"b"]\n')
    }
    const parts: Uint8Array[] = []
    for await (const part of wrapRows(frames(), () => ({}), [{ name: 'id', type: 'UInt8' }])) parts.push(part)
    expect(Buffer.concat(parts).toString()).toBe(
      '{"success":true,"data":{"columns":[{"name":"id","type":"UInt8"}],"rows":[[1,"a"],[2,"b"]]},"metadata":{}}',
    )
  })

  it('does not modify the frames', async () => {
    const bytes = Buffer.from('{"a":1}\n{"a":2}\n')
    await textOf(framesOf(bytes, [3]))
    expect(bytes.toString()).toBe('{"a":1}\n{"a":2}\n')
  })

  it('yields nothing before the first frame', async () => {
    const refused = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('refused')) })
    await expect(wrapRows(refused, () => ({})).next()).rejects.toThrow('refused')
  })
})
