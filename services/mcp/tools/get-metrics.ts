import { z } from 'zod'
import { integerSchema, numericCellSchema, readRows } from '#shared/tools/read-rows.ts'
import { findHost, defineReadTool, createToolResult } from '#shared/tools/tool.ts'
import { hostParameter } from '#shared/tools/tool-parameters.ts'
import { formatCountedNoun } from '../result-text.ts'

const Metric = z.object({ metric: z.string(), value: numericCellSchema })

const connectionKinds = {
  tcp: 'TCPConnection',
  http: 'HTTPConnection',
  interserver: 'InterserverConnection',
  mysql: 'MySQLConnection',
  postgresql: 'PostgreSQLConnection',
} as const
const maxKinds = Object.keys(connectionKinds).length

export const getMetrics = defineReadTool({
  name: 'get_metrics',
  title: 'Metrics of a host',
  description: 'Current version, uptime, active connections and memory of a host.',
  feature: 'METRICS',
  answersFromHistory: true,
  core: true,
  input: z.strictObject(hostParameter),
  output: z.object({
    version: z.string(),
    uptimeSeconds: integerSchema,
    connections: z.object({
      total: integerSchema,
      tcp: integerSchema,
      http: integerSchema,
      interserver: integerSchema,
      mysql: integerSchema,
      postgresql: integerSchema,
    }),
    runningQueries: integerSchema.nullable(),
    memoryUsedBytes: integerSchema.nullable(),
    memoryTotalBytes: integerSchema.nullable(),
  }),
  async run({ hostId }, context) {
    const host = await findHost(context, hostId)
    const [status, metrics] = await Promise.all([
      context.query.hostStatus({ hostKey: host.key, fleet: true }, context.call),
      readRows(context, host, { tool: 'get_metrics', statement: 'connections', maxRows: maxKinds }, Metric),
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
    return createToolResult(
      `${host.name}: ClickHouse ${version}, up for ${uptimeSeconds} s, ${formatCountedNoun(connections.total, 'connection')}.`,
      {
        version,
        uptimeSeconds,
        connections,
        runningQueries: status.metrics?.runningQueries ?? null,
        memoryUsedBytes: status.metrics?.memoryUsedBytes ?? null,
        memoryTotalBytes: status.metrics?.memoryTotalBytes ?? null,
      },
    )
  },
})
