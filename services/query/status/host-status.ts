import type { Handlers } from '#proto/contract.ts'
import type { HostStatus, query } from '#proto/query.ts'
import type { Answer } from '../clickhouse/client.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { Parts } from '../parts.ts'
import { openFigures } from './ask-figures.ts'
import { basicStatement, fleetFigures, readBasics } from './status-statement.ts'

/** Asks the host now; one statement with or without the metric bundle. */
export const hostStatus = (parts: Parts): Handlers<typeof query>['hostStatus'] => {
  const askFigures = openFigures(parts.client)
  const basics = basicStatement('host-status')
  return async ({ hostKey, fleet }, call) => {
    const host = parts.hosts.get(hostKey)
    if (!fleet) {
      const answer = await parts.client.run(host, basics, call)
      return { ...statusOf(host, answer, parts.clock.now()), metrics: null }
    }
    const { answer, figures } = await askFigures({ host, what: 'host-status', names: fleetFigures, call })
    return { ...statusOf(host, answer, parts.clock.now()), metrics: figures }
  }
}

/** Basics of an answer that has just arrived. */
export const statusOf = (host: MonitoredHost, answer: Answer, nowMs: number): HostStatus => {
  const { version, uptimeSeconds, hostname, timezone, nowMs: theirNowMs } = readBasics(host, answer.rows)
  const clockSkewMs = Math.round(theirNowMs - (nowMs - answer.durationMs / 2))
  return { version, uptimeSeconds, hostname, timezone, clockSkewMs }
}

/** What the last probes found. */
export const hostStates =
  (parts: Parts): Handlers<typeof query>['hostStates'] =>
  async () =>
    parts.probe.states()

/** The configured hosts as callers may see them. */
export const hosts =
  (parts: Parts): Handlers<typeof query>['hosts'] =>
  async () =>
    parts.hosts
      .list()
      .map(({ id, key, name, url, group, tags }) => ({ id, key, name, host: url.host, group, tags: [...tags] }))
