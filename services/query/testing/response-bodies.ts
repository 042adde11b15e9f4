import type { HostBody } from '../clickhouse/host-body.ts'
import { validateHostList } from '../hosts/host-list.ts'

const [only] = validateHostList('COLUMNDB_HOST', [{ url: 'http://a', label: 'db', user: 'u', password: '' }]).hosts
if (!only) throw new Error('invalid host entry in test data')

/** A host without a server, for tests of error messages. */
export const testHost = only

/** Returns a response body that delivers `text` in chunks of `sizes`, repeated as often as needed. */
export const createChunkedBody = (text: string, sizes: readonly number[]): HostBody => {
  const bytes = Buffer.from(text)
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += pieces.at(-1)?.length ?? 0) {
    const size = Math.max(1, sizes[pieces.length % Math.max(1, sizes.length)] ?? 64)
    pieces.push(bytes.subarray(at, at + size))
  }
  return createBody(pieces)
}

/** Returns a response body that delivers `pieces` in order, and then ends or fails with `error`. */
export const createBody = (pieces: readonly Buffer[], error?: Error): HostBody => {
  const left = [...pieces]
  return {
    async take(rest = Buffer.alloc(0)) {
      const next = left.shift()
      if (next) return Buffer.concat([rest, next])
      if (error) throw error
      return undefined
    },
    leave: () => {},
  }
}
