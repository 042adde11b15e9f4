import { expect, it } from 'vitest'
import { ErrorResponse } from '#proto/http/response.ts'
import { AdviceResponse } from '#proto/http/advice.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

const sendTo = (body: unknown) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})

it('requests optimizations of a statement from report', async () => {
  const requests: unknown[] = []
  await using product = await startFakeProduct({
    report: {
      advise: async (input) => {
        requests.push(input)
        return { recommendations: [], notes: ['no optimization found'] }
      },
    },
  })
  const answer = await fetch(`${product.url}/api/v1/advice`, sendTo({ hostId: 1, query: 'SELECT 1', database: 'shop' }))
  expect(answer.status).toBe(200)
  expect(AdviceResponse.parse(await answer.json())).toMatchObject({
    data: [],
    metadata: { host: 'logs', notes: ['no optimization found'] },
  })
  await fetch(`${product.url}/api/v1/advice`, sendTo({ queryId: 'a/b c' }))
  expect(requests).toEqual([
    { hostKey: 'logs', query: 'SELECT 1', database: 'shop' },
    { hostKey: 'analytics', queryId: 'a/b c' },
  ])
})

it.each([
  [{}, 'query'],
  [{ query: 'SELECT 1', queryId: 'q' }, 'query'],
  [{ query: 1 }, 'query'],
  [{ queryId: '' }, 'queryId'],
  [{ query: 'SELECT 1', host: 0 }, 'host'],
])('rejects %j and names %s', async (body, parameter) => {
  await using product = await startFakeProduct()
  const answer = await fetch(`${product.url}/api/v1/advice`, sendTo(body))
  expect(answer.status).toBe(400)
  expect(ErrorResponse.parse(await answer.json()).error.details).toMatchObject({ parameter })
})
