import { type Readable, pipeline } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip } from 'node:zlib'

// What has come is read at once, and a body that ends too early, or never began, ends there: so do browsers take it.
const gzip = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
const brotli = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH }

const decoders = new Map([
  ['gzip', () => createGunzip(gzip)],
  ['br', () => createBrotliDecompress(brotli)],
])

/** The codings in which a body may come to us, as a request says it. */
export const acceptedCodings = [...decoders.keys()].join(', ')

/** The body as it was before it was coded for its way; as it came where its coding is none that we know. */
export const decoded = (body: Readable, coding: string | string[] | undefined): Readable => {
  const open = decoders.get(String(coding).toLowerCase())
  // A failure of either ends both, and is met by whoever reads.
  return open ? pipeline(body, open(), () => {}) : body
}
