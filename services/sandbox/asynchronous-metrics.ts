import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import {
  type MachineCounters,
  type AsynchronousMetric,
  computeAsynchronousMetrics,
  readMachineCounters,
  readMachineGauges,
} from './machine.ts'
import type { StatementExecutor } from './statement.ts'

/** A running sampler; `close` waits for the sample in progress. */
export interface MetricSampler {
  close(): Promise<void>
}

const SAMPLE_INTERVAL_MS = 5000
const TABLE_METRICS = readFileSync(new URL('asynchronous-metrics.sql', import.meta.url), 'utf8')
// A real server computes these metrics without queries, so these statements are not logged.
const UNLOGGED_SETTINGS = {
  log_queries: 0,
  output_format_json_quote_64bit_integers: 0,
  log_comment: 'sandbox: asynchronous metrics',
}
const TableMetric = z.object({ metric: z.string(), value: z.number(), description: z.string() })

/**
 * Starts a sampler that fills `system.asynchronous_metrics` and `system.asynchronous_metric_log`. The embedded engine
 * lacks these tables, because the server program computes them. Values come from the operating system and from tables
 * of the engine. The first sample covers the time since `countersAtStart`.
 */
export async function openMetricSampler(
  execute: StatementExecutor,
  dataPath: string,
  countersAtStart: MachineCounters,
): Promise<MetricSampler> {
  let counters = countersAtStart
  const sample = async (): Promise<AsynchronousMetric[]> => {
    const now = readMachineCounters(performance.now())
    const metrics = await collectMetrics(execute, dataPath, counters, now)
    counters = now
    return metrics
  }
  const first = await sample()
  await createTable(execute, first.length)
  await writeMetrics(execute, first)
  const stop = new AbortController()
  const sampling = sampleRepeatedly(execute, sample, first.length, stop.signal)
  return {
    close: async () => {
      stop.abort()
      await sampling
    },
  }
}

async function sampleRepeatedly(
  execute: StatementExecutor,
  sample: () => Promise<AsynchronousMetric[]>,
  firstSize: number,
  signal: AbortSignal,
): Promise<void> {
  let size = firstSize
  // The pause follows the sample, because an interval shorter than a tick of the kernel has no CPU time at all.
  while (await pause(SAMPLE_INTERVAL_MS, true, { signal }).catch(() => false)) {
    try {
      const metrics = await sample()
      if (metrics.length !== size) await resizeTable(execute, (size = metrics.length))
      await writeMetrics(execute, metrics)
    } catch (error) {
      reportError(error)
    }
  }
}

function reportError(error: unknown): void {
  process.stderr.write(`sampling asynchronous metrics failed: ${String(error)}\n`)
}

async function collectMetrics(
  execute: StatementExecutor,
  dataPath: string,
  before: MachineCounters,
  now: MachineCounters,
): Promise<AsynchronousMetric[]> {
  const startedAt = performance.now()
  const rows = (await execute(TABLE_METRICS, { settings: UNLOGGED_SETTINGS })).trim().split('\n')
  const metrics = [
    ...rows.map((row) => TableMetric.parse(JSON.parse(row))),
    ...readMachineGauges(dataPath),
    ...computeAsynchronousMetrics(before, now),
  ]
  const seconds = (performance.now() - startedAt) / 1000
  metrics.push({
    metric: 'AsynchronousMetricsCalculationTimeSpent',
    value: seconds,
    description: 'Seconds that this sample took.',
  })
  return metrics.toSorted((left, right) => (left.metric < right.metric ? -1 : 1))
}

// Creates the Memory table that holds the rows of one sample; the next sample replaces them atomically.
async function createTable(execute: StatementExecutor, rows: number): Promise<void> {
  await execute('DROP TABLE IF EXISTS system.asynchronous_metrics SYNC', { settings: UNLOGGED_SETTINGS })
  await execute(
    `CREATE TABLE system.asynchronous_metrics (metric String, value Float64, description String)
     ENGINE = Memory SETTINGS min_rows_to_keep = ${rows}, max_rows_to_keep = ${rows}`,
    { settings: UNLOGGED_SETTINGS },
  )
}

// Keeps the rows of the table until the next insert, unlike a new table.
async function resizeTable(execute: StatementExecutor, rows: number): Promise<void> {
  await execute(
    `ALTER TABLE system.asynchronous_metrics MODIFY SETTING min_rows_to_keep = ${rows}, max_rows_to_keep = ${rows}`,
    { settings: UNLOGGED_SETTINGS },
  )
}

async function writeMetrics(execute: StatementExecutor, metrics: AsynchronousMetric[]): Promise<void> {
  const data = metrics.map((metric) => JSON.stringify(metric)).join('\n')
  await execute('INSERT INTO system.asynchronous_metrics FORMAT JSONEachRow', { settings: UNLOGGED_SETTINGS, data })
  await execute(
    `INSERT INTO system.asynchronous_metric_log (hostname, event_date, event_time, metric, value)
     SELECT hostName(), today(), now(), metric, value FROM system.asynchronous_metrics`,
    { settings: UNLOGGED_SETTINGS },
  )
}
