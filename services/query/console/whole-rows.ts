import { z } from 'zod'
import type { ResultColumn } from '#proto/console.ts'
import { parseJson } from '#shared/parse-json.ts'
import { hostFailure } from '../clickhouse/failure.ts'
import { isWideInteger, narrow } from '../clickhouse/answer.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

const Rows = z.array(z.array(z.unknown()))

/** Rows of `JSONCompactEachRow` as values: 64-bit integers are numbers where they fit, else text. */
export const wholeRows = (host: MonitoredHost, text: string, columns: readonly ResultColumn[]): unknown[][] => {
  const wide = columns.map(({ type }) => isWideInteger(type))
  const rows = Rows.safeParse(parseJson(`[${quoteLongIntegers(text).trimEnd().replaceAll('\n', ',')}]`))
  if (!rows.success) throw hostFailure(host, 'garbage')
  return rows.data.map((row) => row.map((value, index) => (wide[index] ? narrow(value) : value)))
}

/** A host whose user may set nothing does not quote integers, and a number of JSON would lose their last digits. */
const quoteLongIntegers = (json: string): string =>
  json.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    /^-?\d{16,}$/.test(token) ? `"${token}"` : token,
  )
