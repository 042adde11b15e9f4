import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { parseYaml } from '#shared/config/yaml.ts'
import { quoteText } from '#shared/sql/statement-text.ts'
import { describeIssues } from '../definitions/describe-issues.ts'

const fileName = 'history-metrics.yaml'
const ownFile = fileURLToPath(new URL('../../../charts/history-metrics.yaml', import.meta.url))
/** Maximum number of metrics of one host and minute, so that a wrong pattern cannot fill the history. */
const maxMetrics = 1_000

const Names = z.array(z.string().regex(/^\w{1,100}\*?$/, 'must be a name that may end with *')).max(maxMetrics)
const MetricFile = z.strictObject({
  current: Names.default([]),
  events: Names.default([]),
  asynchronous: Names.default([]),
})

/** The metrics that are recorded. A name may end with `*`. */
export interface RecordedMetrics {
  /** Columns of `system.metric_log`. */
  columns: readonly string[]
  /** Metrics of `system.asynchronous_metric_log`. */
  asynchronous: readonly string[]
}

/** Reads the metrics of the product and of the directory with custom definitions. Throws for an invalid file. */
export const readRecordedMetrics = (directory?: string): RecordedMetrics => {
  const custom = directory === undefined ? undefined : join(directory, fileName)
  const files = [ownFile, ...(custom !== undefined && existsSync(custom) ? [custom] : [])].map(readMetricFile)
  return {
    columns: [
      ...files.flatMap(({ current }) => current.map((name) => `CurrentMetric_${name}`)),
      ...files.flatMap(({ events }) => events.map((name) => `ProfileEvent_${name}`)),
    ],
    asynchronous: files.flatMap(({ asynchronous }) => asynchronous),
  }
}

const readMetricFile = (path: string): z.infer<typeof MetricFile> => {
  const parsed = MetricFile.safeParse(parseYaml(readFileSync(path, 'utf8')))
  if (parsed.success) return parsed.data
  throw new Error(`${path}: ${describeIssues(parsed.error)}`)
}

/** Returns the columns of a host that match the recorded metrics. */
export const selectColumns = (recorded: readonly string[], present: readonly string[]): string[] => {
  const names = new Set(recorded)
  const prefixes = recorded.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  return present.filter((name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix)))
}

/** Returns the SQL condition on the column `metric` that matches the recorded metrics. */
export const buildMetricCondition = (recorded: readonly string[]): string => {
  const names = recorded.filter((name) => !name.endsWith('*')).map(quoteText)
  const prefixes = recorded.filter((name) => name.endsWith('*')).map((name) => quoteText(name.slice(0, -1)))
  const conditions = [
    ...(names.length > 0 ? [`metric IN (${names.join(', ')})`] : []),
    ...prefixes.map((prefix) => `startsWith(metric, ${prefix})`),
  ]
  return conditions.length > 0 ? `(${conditions.join(' OR ')})` : '0'
}
