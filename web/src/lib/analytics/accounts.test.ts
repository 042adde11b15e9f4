import { expect, it } from 'vitest'
import { readAnalyticsAccounts, hasAnalytics } from './accounts.ts'

const product = { CLIENT_PRODUCT_ANALYTICS_KEY: 'k', CLIENT_PRODUCT_ANALYTICS_HOST: 'https://eu.example/ingest' }

it.each([
  [{}, null, null],
  [{ CLIENT_MEASUREMENT_ID: 'G-1', ...product }, null, null],
  [{ CLIENT_ANALYTICS_A_ENABLED: 'true', CLIENT_ANALYTICS_B_ENABLED: 'true' }, null, null],
  [{ CLIENT_ANALYTICS_A_ENABLED: 'false', CLIENT_MEASUREMENT_ID: 'G-1' }, null, null],
  [{ CLIENT_ANALYTICS_A_ENABLED: 'yes', CLIENT_MEASUREMENT_ID: 'G-1' }, 'G-1', null],
  [{ CLIENT_ANALYTICS_B_ENABLED: '1', ...product }, null, { key: 'k', host: 'https://eu.example' }],
  [{ CLIENT_ANALYTICS_B_ENABLED: '1', ...product, CLIENT_PRODUCT_ANALYTICS_HOST: 'eu' }, null, null],
])('a build with %o uses %o and %o', (built, measurementId, measured) => {
  const accounts = readAnalyticsAccounts(built)
  expect(accounts).toEqual({ measurementId, product: measured })
  expect(hasAnalytics(accounts)).toBe(measurementId !== null || measured !== null)
})
