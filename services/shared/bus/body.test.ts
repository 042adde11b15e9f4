import { expect, it } from 'vitest'
import { releaseBytes } from './body.ts'

it('empties bytes that do not share their buffer', () => {
  const bytes = new Uint8Array(100_000)
  const before = process.memoryUsage().arrayBuffers
  releaseBytes(bytes)
  expect(bytes.byteLength).toBe(0)
  expect(process.memoryUsage().arrayBuffers).toBe(before - 100_000)
})

it.each([
  ['a part of others', Buffer.alloc(100).subarray(0, 99)],
  ['a part of the pool of small buffers', Buffer.from('pooled')],
  ['shared among threads', new Uint8Array(new SharedArrayBuffer(100))],
])('does not release bytes that are %s', (_name, bytes) => {
  const { byteLength } = bytes
  releaseBytes(bytes)
  expect(bytes.byteLength).toBe(byteLength)
})

it('does nothing to bytes that are already released', () => {
  const bytes = new Uint8Array(10)
  releaseBytes(bytes)
  releaseBytes(bytes)
  expect(bytes.byteLength).toBe(0)
})
