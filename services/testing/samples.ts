/** Example records of one service, for tests of others. */
export { anInsight } from '../report/testing/insights.ts'
