import { z } from 'zod'
import type { ResultColumn } from '#proto/console.ts'
import { parseJson } from '#shared/parse-json.ts'
import type { HostBody } from '../clickhouse/host-body.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { failureIn, maxRowBytes } from '../rows.ts'

const newline = 0x0a
const Texts = z.array(z.string())

/** The two lines with which `JSONCompactEachRowWithNamesAndTypes` begins, and what follows them. */
export const readColumns = async (
  host: MonitoredHost,
  body: HostBody,
): Promise<{ columns: ResultColumn[]; rows: HostBody }> => {
  let bytes: Buffer = Buffer.alloc(0)
  for (;;) {
    const end = bytes.indexOf(newline, bytes.indexOf(newline) + 1)
    const isWhole = end > bytes.indexOf(newline)
    const more = isWhole || bytes.length > maxRowBytes ? undefined : await body.take(bytes)
    if (more) {
      bytes = more
      continue
    }
    const columns = isWhole ? columnsOf(bytes.toString('utf8', 0, end)) : undefined
    if (!columns) throw failureIn(host, bytes)
    return { columns, rows: withBack(bytes.subarray(end + 1), body) }
  }
}

const columnsOf = (head: string): ResultColumn[] | undefined => {
  const [names, types] = head.split('\n').map(textsOf)
  return names && types && names.map((name, index) => ({ name, type: types[index] ?? '' }))
}

const textsOf = (line: string): string[] | undefined => Texts.safeParse(parseJson(line)).data

/** The body with what was read too far of it. */
const withBack = (rest: Buffer, { take, leave }: HostBody): HostBody => {
  let back: Buffer | undefined = rest.length > 0 ? rest : undefined
  return {
    leave,
    async take(left) {
      const piece = back ?? (await take(left))
      back = undefined
      return piece
    },
  }
}
