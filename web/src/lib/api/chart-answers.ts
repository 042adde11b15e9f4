import type { ChartData, ChartResult } from '#proto/query.ts'

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

/** The sentence with which every chart failed, so that it can be said once; null when they differ or one answered. */
export const commonFailure = (answers: ChartAnswers | undefined): string | null => {
  const failures = new Set(Object.values(answers ?? {}).map((answer) => answer.failure))
  const [only] = failures
  return failures.size === 1 ? (only ?? null) : null
}
