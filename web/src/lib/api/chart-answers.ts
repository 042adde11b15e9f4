import type { ChartData, ChartResult } from '#proto/query.ts'
import { RequestFailure, silentHost } from './failure.ts'

/** What is known of one chart: its last data, and why the last attempt gave none. */
export interface ChartAnswer {
  data: ChartData | undefined
  failure: string | null
  /** When `data` was answered, in epoch milliseconds. */
  answeredAtMs: number
}

export type ChartAnswers = Readonly<Record<string, ChartAnswer>>

/** The new results; a chart that failed keeps the data it had. */
export const withResults = (
  known: ChartAnswers | undefined,
  results: Readonly<Record<string, ChartResult>>,
  nowMs: number,
): ChartAnswers =>
  Object.fromEntries(
    Object.entries(results).map(([name, result]): [string, ChartAnswer] => {
      if (result.ok) return [name, { data: result.data, failure: null, answeredAtMs: nowMs }]
      const before = known?.[name]
      return [name, { data: before?.data, failure: result.error.message, answeredAtMs: before?.answeredAtMs ?? 0 }]
    }),
  )

/** What a host that answered no chart at all says to one request for all of them; null where it answered one. */
export const outageOf = (results: Readonly<Record<string, ChartResult>>): RequestFailure | null => {
  const failures = Object.values(results).map((result) =>
    result.ok ? null : new RequestFailure({ ...result.error, status: 503, type: result.error.code }),
  )
  return failures.every((failure) => silentHost(failure) !== null) ? (failures[0] ?? null) : null
}

/** The sentence with which every chart failed, so that it can be said once; null when they differ or one answered. */
export const commonFailure = (answers: ChartAnswers | undefined): string | null => {
  const failures = new Set(Object.values(answers ?? {}).map((answer) => answer.failure))
  const [only] = failures
  return failures.size === 1 ? (only ?? null) : null
}
