import { ServiceError } from '#proto/errors.ts'
import type { Capabilities } from '../clickhouse/capabilities.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { compareVersions } from '../definitions/version.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

/** Where figures are found; of a name that both have, the first is the one of this moment. */
const tables = ['metrics', 'asynchronous_metrics'] as const
/** Since then asynchronous metrics are described. */
const describedSince = '23.9'

/** All figures of a host in one statement: name, value and meaning. Values are text, as JSON knows neither infinity nor all of 64 bits. */
export const figuresStatement = (host: MonitoredHost, { tables: visible, version }: Capabilities): Statement => {
  const readable = tables.filter((table) => visible.has(table))
  if (readable.length === 0) {
    const wanted = tables.map((table) => `system.${table}`).join(' and ')
    throw new ServiceError('forbidden', `the user configured for host ${host.name} may read neither ${wanted}`)
  }
  const parts = readable.map((table) => {
    const isDescribed = table === 'metrics' || compareVersions(version, describedSince) >= 0
    const meaning = isDescribed ? 'description' : "''"
    return `SELECT ${tables.indexOf(table)} AS place, metric, toString(value) AS text, ${meaning} AS meaning FROM system.${table}`
  })
  return {
    what: 'exposition',
    sql: `SELECT metric, text, meaning FROM (\n  ${parts.join('\n  UNION ALL\n  ')}\n) ORDER BY place, metric`,
  }
}
