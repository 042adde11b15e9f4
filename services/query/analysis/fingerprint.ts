import type { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { QueryExecution, QueryPatternDetail } from '#proto/fingerprints.ts'
import type { query } from '#proto/query.ts'
import { checkRequirements, findUnavailableReason } from '../clickhouse/availability.ts'
import { toStatementFacts } from '../clickhouse/cost.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { toResponseWindow } from '../definitions/window.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { resolveAnalysisScope, type AnalysisScope } from './analysis-window.ts'
import {
  computeLatencyCellStartMs,
  buildErrorsStatement,
  buildExecutionsStatement,
  buildLatencyStatement,
  buildTrendStatement,
  buildSlowestExecutionsStatement,
} from './fingerprint-parts.ts'
import {
  FingerprintRow,
  buildFingerprintListStatement,
  ErrorRow,
  LatencyRow,
  ListedExecutionRow,
  TrendRow,
  buildFingerprintDetailStatement,
  ExecutionRow,
} from './fingerprint-statement.ts'
import { hostNumberSchema, readRecords } from './read-records.ts'

const Listed = FingerprintRow.extend({ total: hostNumberSchema })

/** Returns the handler for the query patterns of a window, in the requested order. */
export const createFingerprintsHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['fingerprints'] =>
  async (input, call) => {
    const host = parts.hosts.get(input.hostKey)
    const { window, scope } = await resolveAnalysisScope(parts, host, input, call)
    const empty = { fingerprints: [], total: null, window: toResponseWindow(window), statement: null }
    const missing = await checkRequirements(parts.client, host, logNeeds, call)
    if (missing) return { ...empty, unavailable: missing }
    const statement = buildFingerprintListStatement(input, scope)
    try {
      const answer = await parts.client.run(host, statement, call)
      const rows = readRecords(host, Listed, answer)
      return {
        fingerprints: rows.map(({ total: _total, ...row }) => row),
        total: rows[0]?.total ?? (input.offset === 0 ? 0 : null),
        window: toResponseWindow(window),
        unavailable: null,
        statement: toStatementFacts(host, statement, answer, rows.length, scope.zone),
      }
    } catch (error) {
      const unavailable = findUnavailableReason(parts.client, host, logNeeds, error)
      if (unavailable) return { ...empty, unavailable }
      throw error
    }
  }

const logNeeds = { requires: ['system.query_log'] }

interface PatternRequest extends AnalysisScope {
  host: MonitoredHost
  hash: string
  executions: number
}

/** Returns the handler for the detail of one pattern: summary, time series, latency, errors and executions. */
export const createFingerprintHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['fingerprint'] =>
  async (input, call) => {
    const host = parts.hosts.get(input.hostKey)
    const { window, scope } = await resolveAnalysisScope(parts, host, input, call)
    const without = { detail: null, window: toResponseWindow(window) }
    const missing = await checkRequirements(parts.client, host, logNeeds, call)
    if (missing) return { ...without, unavailable: missing }
    try {
      const { hash, executions } = input
      const detail = await detailOf(parts, { host, hash, executions, window, scope }, call)
      return { detail, window: toResponseWindow(window), unavailable: null }
    } catch (error) {
      const unavailable = findUnavailableReason(parts.client, host, logNeeds, error)
      if (unavailable) return { ...without, unavailable }
      throw error
    }
  }

const detailOf = async (
  parts: QueryHandlerDeps,
  question: PatternRequest,
  call: CallContext,
): Promise<QueryPatternDetail> => {
  const { host, hash, executions, window, scope } = question
  const select = async <S extends z.ZodType>(schema: S, statement: Statement): Promise<z.output<S>[]> =>
    readRecords(host, schema, await parts.client.run(host, statement, call))
  // Runs first and alone, so that a pattern without executions costs one statement only.
  const [summary] = await select(FingerprintRow, buildFingerprintDetailStatement(hash, scope))
  if (!summary) {
    throw new ServiceError(
      'not-found',
      `no query with pattern "${hash}" finished on host ${host.name} in this time range`,
      {
        details: { parameter: 'hash' },
      },
    )
  }
  const [trend, latency, lists, errors] = await Promise.all([
    select(TrendRow, buildTrendStatement(hash, window, scope)),
    select(LatencyRow, buildLatencyStatement(hash, scope)),
    select(ListedExecutionRow, buildExecutionsStatement(hash, executions, scope)),
    select(ErrorRow, buildErrorsStatement(hash, scope)),
  ])
  const listed = (name: string): QueryExecution[] =>
    lists
      .filter(({ list }) => list === name)
      .toSorted((left, right) => left.place - right.place)
      .map(({ list: _list, place: _place, ...execution }) => execution)
  return {
    summary,
    trend,
    latency: latency.map(({ cell, ...bucket }) => ({
      ...bucket,
      fromMs: computeLatencyCellStartMs(cell),
      toMs: computeLatencyCellStartMs(cell + 1),
    })),
    errors,
    executions: listed('executions'),
    slowest: listed('slowest'),
    largestResult: listed('largestResult'),
    errored: listed('errored'),
  }
}

/** Returns the handler for the executions of one pattern within a range of durations. */
export const createExecutionsHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['executions'] =>
  async (input, call) => {
    const host = parts.hosts.get(input.hostKey)
    const { window, scope } = await resolveAnalysisScope(parts, host, input, call)
    const without = { executions: [], total: 0, window: toResponseWindow(window) }
    const missing = await checkRequirements(parts.client, host, logNeeds, call)
    if (missing) return { ...without, unavailable: missing }
    try {
      const rows = readRecords(
        host,
        ExecutionRow,
        await parts.client.run(host, buildSlowestExecutionsStatement(input, scope), call),
      )
      const found = rows.map(({ total: _total, ...execution }) => execution)
      return { ...without, executions: found, total: rows[0]?.total ?? 0, unavailable: null }
    } catch (error) {
      const unavailable = findUnavailableReason(parts.client, host, logNeeds, error)
      if (unavailable) return { ...without, unavailable }
      throw error
    }
  }
