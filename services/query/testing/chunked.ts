import { hostList } from '../hosts/host-list.ts'

const [only] = hostList('COLUMNDB_HOST', [{ url: 'http://a', label: 'db', user: 'u', password: '' }]).hosts
if (!only) throw new Error('the host is well-formed')

/** A host that failures name; nobody listens there. */
export const host = only

/** A text as a host may send it: in pieces of these sizes, over and over. */
export async function* chunked(text: string, sizes: readonly number[]): AsyncGenerator<Buffer, void, void> {
  const bytes = Buffer.from(text)
  let at = 0
  for (let index = 0; at < bytes.length; index++) {
    const size = Math.max(1, sizes[index % Math.max(1, sizes.length)] ?? 64)
    yield bytes.subarray(at, at + size)
    at += size
  }
}

/** A text in pieces of one size, each with memory of its own as the socket gives it. */
export const sentAs = (text: string, size: number): Buffer[] => {
  const bytes = Buffer.from(text)
  const starts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => index * size)
  return starts.map((start) => Buffer.concat([bytes.subarray(start, start + size)]))
}

/** These pieces, one after another. */
export async function* every(pieces: readonly Buffer[]): AsyncGenerator<Buffer, void, void> {
  yield* pieces
}
