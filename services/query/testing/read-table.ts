import type { TableRequest } from '#proto/query.ts'
import { releaseBytes } from '#shared/bus/body.ts'
import { TableRequest as Request } from '#proto/query.ts'
import { createCall, type TestService } from './test-service.ts'

/** Requests a table page and parses the streamed rows. */
export const readTable = async (
  parts: TestService,
  request: Partial<TableRequest> & { hostKey: string; name: string },
) => {
  const { head, frames } = await parts.handlers.table(Request.parse(request), createCall())
  const chunks: Uint8Array[] = []
  const sent: Uint8Array[] = []
  let next = await frames.next()
  while (!next.done) {
    chunks.push(Buffer.from(next.value))
    sent.push(next.value)
    next = await frames.next()
  }
  // As the gateway does after it has sent the page.
  sent.forEach(releaseBytes)
  const lines = Buffer.concat(chunks)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
  const rows = lines.map((line): Record<string, unknown> => JSON.parse(line))
  return { head, chunks, rows, tail: next.value }
}
