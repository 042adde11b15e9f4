/** Samples of stored and published records, for tests of other services. */
export { anInsight } from '../report/testing/insights.ts'
