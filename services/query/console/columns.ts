import { z } from 'zod'
import type { ResultColumn } from '#proto/console.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { failureIn, maxRowBytes } from '../rows.ts'

const newline = 0x0a
const Texts = z.array(z.string())

/** The two lines with which `JSONCompactEachRowWithNamesAndTypes` begins, and what follows them. */
export const readColumns = async (
  host: MonitoredHost,
  body: AsyncGenerator<Buffer, void, void>,
): Promise<{ columns: ResultColumn[]; rows: AsyncGenerator<Buffer, void, void> }> => {
  let bytes: Buffer = Buffer.alloc(0)
  for (;;) {
    const end = bytes.indexOf(newline, bytes.indexOf(newline) + 1)
    const isWhole = end > bytes.indexOf(newline)
    const next = isWhole || bytes.length > maxRowBytes ? undefined : await body.next()
    if (next && !next.done) {
      bytes = Buffer.concat([bytes, next.value])
      continue
    }
    const columns = isWhole ? columnsOf(bytes.toString('utf8', 0, end)) : undefined
    if (!columns) throw failureIn(host, bytes)
    return { columns, rows: continued(bytes.subarray(end + 1), body) }
  }
}

const columnsOf = (head: string): ResultColumn[] | undefined => {
  const [names, types] = head.split('\n').map(textsOf)
  return names && types && names.map((name, index) => ({ name, type: types[index] ?? '' }))
}

const textsOf = (line: string): string[] | undefined => {
  try {
    return Texts.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}

async function* continued(rest: Buffer, body: AsyncGenerator<Buffer, void, void>): AsyncGenerator<Buffer, void, void> {
  if (rest.length > 0) yield rest
  yield* body
}
