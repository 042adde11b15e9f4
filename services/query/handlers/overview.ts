import type { Handlers } from '#proto/contract.ts'
import type { FleetMetrics, Overview, query } from '#proto/query.ts'
import { figuresStatement, fleetFigures, readFigures } from '../status-statement.ts'
import { statusOf } from './host-status.ts'
import type { Parts } from './parts.ts'

const figures = [...fleetFigures, 'todayQueries'] as const

/** The key figures of one host, in one statement. */
export const overview =
  (parts: Parts): Handlers<typeof query>['overview'] =>
  async ({ hostKey }, call) => {
    const host = parts.hosts.get(hostKey)
    const { tables } = await parts.client.capabilities(host, call)
    const answer = await parts.client.run(host, figuresStatement('overview', figures, tables), call)
    const { todayQueries, ...metrics } = readFigures(host, figures, answer.rows)
    return {
      runningQueries: metrics.runningQueries,
      todayQueries,
      databaseCount: metrics.databases,
      tableCount: metrics.tables,
      diskUsage: diskUsage(metrics),
      hostInfo: statusOf(host, answer, parts.clock.now()),
      metrics,
    }
  }

const diskUsage = ({ diskUsedBytes, diskTotalBytes }: FleetMetrics): Overview['diskUsage'] => {
  if (diskUsedBytes === null || diskTotalBytes === null || diskTotalBytes === 0) return null
  return { usedBytes: diskUsedBytes, totalBytes: diskTotalBytes, percent: (diskUsedBytes / diskTotalBytes) * 100 }
}
