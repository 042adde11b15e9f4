import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import { QuerySummary } from '#proto/query-detail.ts'
import { analysed } from '../analysis/analysis-window.ts'
import { processors, threads, views } from '../analysis/query-parts.ts'
import { readChildren } from '../analysis/read-children.ts'
import { loggedQueryStatement, runningQueryStatement } from '../analysis/query-summary-statement.ts'
import { readPart } from '../analysis/read-part.ts'
import { figure, flag, readRecords } from '../analysis/records.ts'
import { missingNeeds, unavailableBy } from '../availability.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { Scope } from '../definitions/macros.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { Parts } from './parts.ts'

type Answered = Awaited<ReturnType<Handlers<typeof query>['queryDetail']>>

const needs = { requires: ['system.query_log'] }

const figures = {
  executions: figure,
  startedMs: figure,
  endedMs: figure.nullable(),
  durationMs: figure,
  memoryBytes: figure,
  readRows: figure,
  readBytes: figure,
  writtenRows: figure,
  writtenBytes: figure,
  resultRows: figure,
  resultBytes: figure,
  threads: figure,
}
const SummaryRow = QuerySummary.extend({
  ...figures,
  isInitial: flag,
  settings: z.record(z.string(), z.string()),
  profileEvents: z.record(z.string(), figure),
})

/** One query from all sides. */
export const queryDetail =
  (parts: Parts): Handlers<typeof query>['queryDetail'] =>
  async ({ hostKey, queryId, lastHours }, call) => {
    const host = parts.hosts.get(hostKey)
    const { scope } = await analysed(parts, host, { lastHours }, call)
    const missing = await missingNeeds(parts.client, host, needs, call)
    if (missing) return { detail: null, unavailable: missing }
    try {
      return await detailOf(parts, host, queryId, scope, call)
    } catch (error) {
      const unavailable = unavailableBy(parts.client, host, needs, error)
      if (unavailable) return { detail: null, unavailable }
      throw error
    }
  }

const detailOf = async (
  parts: Parts,
  host: MonitoredHost,
  queryId: string,
  scope: Scope,
  call: Call,
): Promise<Answered> => {
  const ask = async (statement: Statement) =>
    readRecords(host, SummaryRow, await parts.client.run(host, statement, call))[0]
  const [logged, running] = await Promise.all([
    ask(loggedQueryStatement(queryId, scope)),
    ask(runningQueryStatement(queryId)),
  ])
  const found = running ? { ...running, executions: logged?.executions ?? 0 } : logged
  if (!found) {
    throw new ServiceError(
      'not-found',
      `host ${host.name} knows no query of this id in this window; logs are written some seconds late`,
      { details: { parameter: 'queryId' } },
    )
  }
  const place = { client: parts.client, host, queryId, scope, call }
  const [ofThreads, ofViews, ofProcessors, ofChildren] = await Promise.all([
    readPart(place, threads),
    readPart(place, views),
    readPart(place, processors),
    readChildren(parts, host, queryId, scope, call),
  ])
  const { settings, profileEvents, ...summary } = found
  const detail = {
    summary,
    settings: named(settings),
    profileEvents: named(profileEvents),
    threads: ofThreads,
    views: ofViews,
    processors: ofProcessors,
    children: ofChildren,
  }
  return { detail, unavailable: null }
}

const named = <T>(values: Readonly<Record<string, T>>): { name: string; value: T }[] =>
  Object.entries(values)
    .map(([name, value]) => ({ name, value }))
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
