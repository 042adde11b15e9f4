/** What services keep and hand on, for tests of those that do not make it. */
export { anInsight } from '../report/testing/insights.ts'
