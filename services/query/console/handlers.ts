import type { consoleMethods } from '#proto/console.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Parts } from '../handlers/parts.ts'
import { openRun } from './open-run.ts'
import { openRunning } from './running.ts'
import { wholeRows } from './whole-rows.ts'

/** SQL that callers write. */
export const consoleHandlers = (parts: Parts): Handlers<Service<typeof consoleMethods>> => {
  const running = openRunning()

  return {
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
  }
}
