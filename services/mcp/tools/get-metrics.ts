import { z } from 'zod'
import { count, select } from '#shared/tools/select.ts'
import { hostAt, ofHost } from '../asking.ts'
import { counted } from '../counted.ts'
import { tool } from '../tool.ts'

const Metric = z.object({ metric: z.string(), value: count })

const connectionKinds = {
  tcp: 'TCPConnection',
  http: 'HTTPConnection',
  interserver: 'InterserverConnection',
  mysql: 'MySQLConnection',
  postgresql: 'PostgreSQLConnection',
} as const

const sql = `
SELECT metric, value FROM system.metrics
WHERE metric IN (${Object.values(connectionKinds)
  .map((metric) => `'${metric}'`)
  .join(', ')})`

export const getMetrics = tool({
  name: 'get_metrics',
  title: 'Metrics of a host',
  description: 'Version, uptime, active connections and memory of a host, as it says them now.',
  feature: 'METRICS',
  input: z.strictObject(ofHost),
  output: z.object({
    version: z.string(),
    uptimeSeconds: z.number(),
    connections: z.object({
      total: z.number(),
      tcp: z.number(),
      http: z.number(),
      interserver: z.number(),
      mysql: z.number(),
      postgresql: z.number(),
    }),
    runningQueries: z.number().nullable(),
    memoryUsedBytes: z.number().nullable(),
    memoryTotalBytes: z.number().nullable(),
  }),
  async run({ hostId }, asking) {
    const host = await hostAt(asking, hostId)
    const [status, metrics] = await Promise.all([
      asking.query.hostStatus({ hostKey: host.key, fleet: true }, asking.call),
      select(asking, host, { sql, maxRows: Object.keys(connectionKinds).length }, Metric),
    ])
    const of = (kind: keyof typeof connectionKinds) =>
      metrics.find(({ metric }) => metric === connectionKinds[kind])?.value ?? 0
    const connections = {
      total: metrics.reduce((sum, { value }) => sum + value, 0),
      tcp: of('tcp'),
      http: of('http'),
      interserver: of('interserver'),
      mysql: of('mysql'),
      postgresql: of('postgresql'),
    }
    const { version, uptimeSeconds } = status
    return {
      text: `${host.name}: ClickHouse ${version}, up for ${uptimeSeconds} s, ${counted(connections.total, 'connection')}.`,
      structured: {
        version,
        uptimeSeconds,
        connections,
        runningQueries: status.metrics?.runningQueries ?? null,
        memoryUsedBytes: status.metrics?.memoryUsedBytes ?? null,
        memoryTotalBytes: status.metrics?.memoryTotalBytes ?? null,
      },
    }
  },
})
