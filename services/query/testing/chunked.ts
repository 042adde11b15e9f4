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
