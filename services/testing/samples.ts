/** Example records of one service, for tests of others. */
export { createInsight } from '../report/testing/insights.ts'
