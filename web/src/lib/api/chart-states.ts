import type { ChartData, ChartResult } from '#proto/query.ts'
import { RequestFailure, findUnreachableHost } from './failure.ts'

/** The last data of a chart, and the failure of its last request. */
export interface ChartState {
  data: ChartData | undefined
  failure: string | null
  /** Epoch milliseconds at which `data` was received; 0 without data. */
  receivedAtMs: number
}

export type ChartStates = Readonly<Record<string, ChartState>>

/** Merges new results; a chart that failed keeps its previous data. */
export const mergeChartResults = (
  known: ChartStates | undefined,
  results: Readonly<Record<string, ChartResult>>,
  nowMs: number,
): ChartStates =>
  Object.fromEntries(
    Object.entries(results).map(([name, result]): [string, ChartState] => {
      if (result.ok) return [name, { data: result.data, failure: null, receivedAtMs: nowMs }]
      const before = known?.[name]
      return [name, { data: before?.data, failure: result.error.message, receivedAtMs: before?.receivedAtMs ?? 0 }]
    }),
  )

/** Returns the failure of the first chart if the host was unreachable for all charts, otherwise null. */
export const findHostOutage = (results: Readonly<Record<string, ChartResult>>): RequestFailure | null => {
  const failures = Object.values(results).map((result) =>
    result.ok ? null : new RequestFailure({ ...result.error, status: 503, type: result.error.code }),
  )
  return failures.every((failure) => findUnreachableHost(failure) !== null) ? (failures[0] ?? null) : null
}

/** Returns the error message that all charts have in common, so that the page shows it once; null if there is none. */
export const findCommonFailure = (answers: ChartStates | undefined): string | null => {
  const failures = new Set(Object.values(answers ?? {}).map((answer) => answer.failure))
  const [only] = failures
  return failures.size === 1 ? (only ?? null) : null
}
