import type { Call } from '#proto/call.ts'
import type { FleetMetrics, HostStatus, Window } from '#proto/query.ts'
import type { Unavailable } from '#proto/unavailable.ts'
import { type Analysed, analysed } from '../analysis/analysis-window.ts'
import { readRecords } from '../analysis/records.ts'
import { askFor } from '../availability.ts'
import { statusOf } from '../handlers/host-status.ts'
import type { Parts } from '../handlers/parts.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { figuresStatement, fleetFigures, readFigures } from '../status-statement.ts'
import { PatternRow, patternStatement } from './pattern-statement.ts'

const needs = { requires: ['system.query_log'] }

/** What one host says of itself, and its costliest patterns. */
export interface HostAnswer extends Analysed {
  status: HostStatus
  metrics: FleetMetrics
  rows: PatternRow[]
  /** Why there are no patterns. */
  unavailable: Unavailable | null
}

/** Key figures and the costliest patterns of one host. */
export const readHost = async (
  parts: Parts,
  host: MonitoredHost,
  asked: Window & { limit: number },
  call: Call,
): Promise<HostAnswer> => {
  const { client, clock } = parts
  const { tables } = await client.capabilities(host, call)
  const analysis = await analysed(parts, host, asked, call)
  const [figures, { told, unavailable }] = await Promise.all([
    client.run(host, figuresStatement('comparison', fleetFigures, tables), call),
    askFor(client, host, needs, call, async () =>
      readRecords(host, PatternRow, await client.run(host, patternStatement(analysis.scope, asked.limit), call)),
    ),
  ])
  const status = statusOf(host, figures, clock.now())
  const metrics = readFigures(host, fleetFigures, figures.rows)
  return { ...analysis, status, metrics, rows: told ?? [], unavailable }
}

/** The rows of a host with those of further patterns: what is costly elsewhere may be cheap here, or not run at all. */
export const readFurther = async (
  { client }: Parts,
  host: MonitoredHost,
  { rows, scope, unavailable }: HostAnswer,
  hashes: readonly string[],
  call: Call,
): Promise<PatternRow[]> => {
  const known = new Set(rows.map(({ hash }) => hash))
  const further = hashes.filter((hash) => !known.has(hash))
  if (unavailable || further.length === 0) return rows
  const answer = await client.run(host, patternStatement(scope, further.length, further), call)
  return [...rows, ...readRecords(host, PatternRow, answer)]
}
