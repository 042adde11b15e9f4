import { z } from 'zod'
import { isOwn } from '#shared/sql/own-statements.ts'
import { type Asking, statementText } from './asking.ts'

/** From the best to the worst; what is not known may be anything short of a warning. */
export const Severity = z.enum(['ok', 'unknown', 'warning', 'critical'])
export type Severity = z.infer<typeof Severity>

/** One question to a host, whose rows are a name and a value, the worst first. */
export interface PerformanceCheck {
  name: string
  /** Where its rows come from. */
  table: string
  sql(asking: Asking): string
  /** Values from which on it is serious. */
  warning: number
  critical: number
  summary(value: number): string
  /** What it means that the host has no row, and whether that is well. */
  none: { severity: Severity; value: number | null; summary: string }
}

export const severityOf = (
  value: number,
  { warning, critical }: Pick<PerformanceCheck, 'warning' | 'critical'>,
): Severity => {
  if (value >= critical) return 'critical'
  return value >= warning ? 'warning' : 'ok'
}

const percent = (value: number): string => `${value.toFixed(1)} %`
const seconds = (value: number): string => `${value.toFixed(1)} s`

/** What a snapshot of the health of a host is made of. */
export const checks: readonly PerformanceCheck[] = [
  {
    name: 'slow-queries',
    table: 'system.query_log',
    warning: 10,
    critical: 60,
    summary: (value) => `The slowest query of the last day took ${seconds(value)}.`,
    none: { severity: 'ok', value: 0, summary: 'No query of the last day is in the log.' },
    sql: (asking) => `
SELECT ${statementText(asking)} AS name, query_duration_ms / 1000 AS value
FROM system.query_log
WHERE type = 'QueryFinish' AND is_initial_query AND NOT ${isOwn} AND event_date >= yesterday() AND event_time >= now() - toIntervalDay(1)
ORDER BY value DESC`,
  },
  {
    // ClickHouse delays inserts from 1,000 active parts of a partition on (parts_to_delay_insert) and refuses them at 3,000.
    name: 'parts-per-partition',
    table: 'system.parts',
    warning: 300,
    critical: 1_000,
    summary: (value) => `The fullest partition has ${value} active parts.`,
    none: { severity: 'ok', value: 0, summary: 'There are no parts.' },
    sql: () => `
SELECT concat(database, '.', table, ' ', partition) AS name, count() AS value
FROM system.parts
WHERE active
GROUP BY database, table, partition
ORDER BY value DESC`,
  },
  {
    name: 'merge-backlog',
    table: 'system.merges',
    warning: 600,
    critical: 3_600,
    summary: (value) => `The longest merge has been running for ${seconds(value)}.`,
    none: { severity: 'ok', value: 0, summary: 'No merge is running.' },
    sql: () => `
SELECT concat(database, '.', table) AS name, elapsed AS value
FROM system.merges
ORDER BY value DESC`,
  },
  {
    name: 'memory',
    table: 'system.asynchronous_metrics',
    warning: 80,
    critical: 90,
    summary: (value) => `Memory is used to ${percent(value)}.`,
    none: { severity: 'unknown', value: null, summary: 'The host does not tell how much memory there is and is used.' },
    // In a container the limit of its control group is smaller than the memory of the machine.
    sql: () => `
SELECT 'server' AS name, 100 * used / total AS value
FROM (
  SELECT
    maxOrNullIf(measured.value, metric = 'MemoryResident') AS used,
    minOrNullIf(measured.value, metric IN ('OSMemoryTotal', 'CGroupMemoryTotal') AND measured.value > 0) AS total
  FROM system.asynchronous_metrics AS measured
)
WHERE used IS NOT NULL AND total IS NOT NULL`,
  },
  {
    name: 'disk',
    table: 'system.disks',
    warning: 80,
    critical: 90,
    summary: (value) => `The fullest disk is used to ${percent(value)}.`,
    none: { severity: 'unknown', value: null, summary: 'The host has no local disk whose size it tells.' },
    // Disks of object stores claim a size without meaning.
    sql: () => `
SELECT name, 100 * (1 - free_space / total_space) AS value
FROM system.disks
WHERE total_space > 0 AND NOT is_remote
ORDER BY value DESC`,
  },
]
