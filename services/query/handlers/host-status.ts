import type { Handlers } from '#proto/contract.ts'
import type { HostStatus, query } from '#proto/query.ts'
import type { Answer } from '../clickhouse/client.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { basicStatement, figuresStatement, fleetFigures, readBasics, readFigures } from '../status-statement.ts'
import type { Parts } from './parts.ts'

/** Asks the host now; one statement with or without the metric bundle. */
export const hostStatus =
  (parts: Parts): Handlers<typeof query>['hostStatus'] =>
  async ({ hostKey, fleet }, call) => {
    const host = parts.hosts.get(hostKey)
    if (!fleet) {
      const answer = await parts.client.run(host, basicStatement('host-status'), call)
      return { ...statusOf(host, answer, parts.clock.now()), metrics: null }
    }
    const { tables } = await parts.client.capabilities(host, call)
    const answer = await parts.client.run(host, figuresStatement('host-status', fleetFigures, tables), call)
    return { ...statusOf(host, answer, parts.clock.now()), metrics: readFigures(host, fleetFigures, answer.rows) }
  }

/** Basics of an answer that has just arrived. */
export const statusOf = (host: MonitoredHost, answer: Answer, nowMs: number): HostStatus => {
  const { nowMs: theirNowMs, ...status } = readBasics(host, answer.rows)
  return { ...status, clockSkewMs: Math.round(theirNowMs - (nowMs - answer.durationMs / 2)) }
}
