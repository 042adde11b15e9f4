import { z } from 'zod'
import type { consoleMethods, ResultColumn } from '#proto/console.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { RowValues } from '#proto/statement.ts'
import { parseJson } from '#shared/text/parse-json.ts'
import { isWideInteger, narrow } from '../clickhouse/answer.ts'
import { hostFailure } from '../clickhouse/failure.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { Parts } from '../parts.ts'
import { openRun } from './open-run.ts'
import type { Running } from './running.ts'

const Rows = z.array(RowValues)

/** Rows of `JSONCompactEachRow` as values: 64-bit integers are numbers where they fit, else text. */
const wholeRows = (host: MonitoredHost, text: string, columns: readonly ResultColumn[]): unknown[][] => {
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

/** SQL that callers write. */
export const consoleHandlers = (parts: Parts, running: Running): Handlers<Service<typeof consoleMethods>> => ({
  streamQuery: (asked, call) => openRun(parts, running, asked, call),
  async runQuery(asked, call) {
    const { head, frames } = await openRun(parts, running, { ...asked, format: 'json' }, call)
    const chunks: Buffer[] = []
    let next = await frames.next()
    for (; !next.done; next = await frames.next()) chunks.push(Buffer.from(next.value))
    const columns = head.columns ?? []
    const rows = wholeRows(parts.hosts.get(asked.hostKey), Buffer.concat(chunks).toString('utf8'), columns)
    return { columns, rows, ...next.value }
  },
  async cancelQuery({ hostKey, runId }, { identity }) {
    const host = parts.hosts.get(hostKey)
    if (running.cancel(host, identity, runId)) return { cancelled: true }
    throw new ServiceError('not-found', `no statement of yours runs under this id on host ${host.name}`, {
      details: { parameter: 'runId' },
    })
  },
})
