import type { Handlers } from '#proto/contract.ts'
import type { FleetMetrics, Overview, query, Unavailable } from '#proto/query.ts'
import { openFigures } from './ask-figures.ts'
import { type Figure, fleetFigures } from './status-statement.ts'
import { statusOf } from './host-status.ts'
import type { Parts } from '../parts.ts'

const names = [...fleetFigures, 'todayQueries'] as const

/** The key figures of one host, in one statement. */
export const overview = (parts: Parts): Handlers<typeof query>['overview'] => {
  const askFigures = openFigures(parts.client)
  return async ({ hostKey }, call) => {
    const host = parts.hosts.get(hostKey)
    const { answer, figures, unavailable } = await askFigures({ host, what: 'overview', names, call })
    const { todayQueries, ...metrics } = figures
    return {
      runningQueries: metrics.runningQueries,
      todayQueries,
      databaseCount: metrics.databases,
      tableCount: metrics.tables,
      diskUsage: diskUsage(metrics),
      hostInfo: statusOf(host, answer, parts.clock.now()),
      metrics,
      unavailable: byName(unavailable),
    }
  }
}

const diskUsage = ({ diskUsedBytes, diskTotalBytes }: FleetMetrics): Overview['diskUsage'] => {
  if (diskUsedBytes === null || diskTotalBytes === null || diskTotalBytes === 0) return null
  return { usedBytes: diskUsedBytes, totalBytes: diskTotalBytes, percent: (diskUsedBytes / diskTotalBytes) * 100 }
}

/** Some are named otherwise outside the metrics. */
const otherNames: readonly (readonly [name: string, figure: Figure])[] = [
  ['databaseCount', 'databases'],
  ['tableCount', 'tables'],
  ['diskUsage', 'diskUsedBytes'],
]

const byName = (reasons: ReadonlyMap<Figure, Unavailable>): Overview['unavailable'] => {
  const others = otherNames.map(([name, figure]) => [name, reasons.get(figure)] as const)
  return Object.fromEntries([...reasons, ...others].flatMap(([name, reason]) => (reason ? [[name, reason]] : [])))
}
