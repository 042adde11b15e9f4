import { z } from 'zod'
import { type Period, type Source, sources } from './sources.ts'
import type { HistoryRow, HistoryStore } from './store.ts'

/** How far a source of a host is recorded. The next batch begins here. */
export interface Watermark {
  /** End of the last batch, in epoch seconds of the clock of the host. */
  until: number
  /** When that batch was recorded, in epoch milliseconds of the recorder. Distinguishes batches after a clock change. */
  recordedMs: number
}

export type Watermarks = ReadonlyMap<string, Watermark>

/** Returns the key of a source of a host. */
export const watermarkKey = (host: string, source: string): string => JSON.stringify([host, source])

/** Most watermarks are recent, so that reading them reads few rows. */
const recentHours = 3

const MarkRow = z.object({ host: z.string(), source: z.string(), until: z.number(), recorded: z.number() })

/** Reads the watermarks of these hosts from the rows that were inserted together with the data. */
export const readWatermarks = async (history: HistoryStore, hosts: readonly string[]): Promise<Watermarks> => {
  const recent = await select(history, hosts, `AND time > now() - toIntervalHour(${recentHours})`)
  const isRecent = (host: string) =>
    sources.every(({ name }) => recent.some((row) => row.host === host && row.source === name))
  const missing = hosts.filter((host) => !isRecent(host))
  const older = missing.length > 0 ? await select(history, missing, '') : []
  return new Map(
    [...recent, ...older].map(({ host, source, until, recorded }) => [
      watermarkKey(host, source),
      { until, recordedMs: recorded },
    ]),
  )
}

const select = (
  history: HistoryStore,
  hosts: readonly string[],
  recent: string,
): Promise<z.infer<typeof MarkRow>[]> => {
  const marks = (table: string, source: string, condition: string): string =>
    `SELECT host, ${source} AS source, toUnixTimestamp(argMax(until, recorded_ms)) AS until, max(recorded_ms) AS recorded
FROM {table:${table}} WHERE host IN {hosts:Array(String)} AND ${condition} ${recent} GROUP BY host, source`
  const parts = [
    marks('samples', 'label', "metric = '' AND NOT startsWith(label, 'gap/')"),
    marks('query_patterns', "'queries'", "hash = 0 AND kind = ''"),
    marks('log_lines', "'log-lines'", "level = ''"),
    marks('objects', "if(name = '', 'objects', name)", "kind = ''"),
  ]
  return history.select(parts.join('\nUNION ALL\n'), MarkRow, { hosts })
}

/** A batch of one source of a host, with the watermark from which it continues. */
export interface Batch {
  host: string
  source: Pick<Source, 'name' | 'table'> | { name: 'objects' | 'workload'; table: 'objects' }
  before: Watermark | undefined
  period: Period
  rows: readonly HistoryRow[]
  recordedMs: number
}

/**
 * Inserts a batch and its watermark in one block. The token consists of host, source and watermark, so that of several
 * batches that continue from the same watermark only one is stored, even if their periods differ.
 */
export const insertBatch = (history: HistoryStore, batch: Batch): Promise<void> => {
  const { host, source, before, period, rows, recordedMs } = batch
  const mark = {
    time: period.from,
    until: period.until,
    recorded_ms: recordedMs,
    ...(source.table === 'samples' && { label: source.name }),
    ...(source.name === 'workload' && { name: source.name }),
  }
  const token = [host, source.name, before?.until ?? 0, before?.recordedMs ?? 0].join('/')
  return history.insert(
    source.table,
    [...rows, mark].map((row) => ({ host, ...row })),
    token,
  )
}

/** Records a period that the log of the host no longer contains. */
export const insertGap = (history: HistoryStore, host: string, source: string, gap: Period): Promise<void> =>
  history.insert(
    'samples',
    [{ host, label: `gap/${source}`, time: gap.from, until: gap.until, sum: gap.until - gap.from }],
    [host, 'gap', source, gap.from].join('/'),
  )
