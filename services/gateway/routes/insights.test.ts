import { expect, it } from 'vitest'
import { InsightsResponse } from '#proto/http/insights.ts'
import { sampleInsight } from '../testing/reports.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

it.each([
  ['/tables/disks', '/tables/disks?host=1'],
  ['/compare?hash=1', '/compare?hash=1&host=1'],
  ['', null],
])('returns the insight link %j as %j', async (link, shown) => {
  await using product = await startFakeProduct({
    report: { insights: async () => [{ ...sampleInsight, link }] },
  })
  const answer: unknown = await (await fetch(`${product.url}/api/v1/insights?hostId=1`)).json()
  expect(InsightsResponse.parse(answer).data).toMatchObject([{ host: 'logs', link: shown }])
})
