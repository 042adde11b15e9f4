import { describe, expect, it } from 'vitest'
import { type Identity, requireFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { ErrorResponse } from '#proto/http/response.ts'
import { ChartBatchResponse } from '#proto/http/data.ts'
import type { QueryHandlers } from '../testing/query.ts'
import { startFakeProduct } from '../testing/fake-product.ts'
import { anonymousCaller } from '../auth/identity.ts'

const name = 'query-count'

/** Chart handlers that require the feature QUERIES, for one chart and for a batch. */
const guarded: Pick<QueryHandlers, 'chart' | 'charts'> = {
  chart: async (_input, { identity }) => {
    requireFeature(identity, 'QUERIES', `the chart ${name}`)
    throw new ServiceError('not-found', 'no such chart')
  },
  charts: async (input, call) => {
    try {
      return { [name]: { ok: true, data: await guarded.chart({ ...input, name }, call) } }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const { code, message, details } = error
      return { [name]: { ok: false, error: { code, message, details } } }
    }
  },
}

const answersTo = async (identity: Identity, env: Record<string, string>) => {
  await using product = await startFakeProduct({ query: guarded, env, identify: async () => identity })
  const alone = await fetch(`${product.url}/api/v1/charts/${name}`)
  const { type, ...said } = ErrorResponse.parse(await alone.json()).error
  const batch = await fetch(`${product.url}/api/v1/charts/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ names: [name] }),
  })
  return {
    alone: { ok: false, error: { code: type, ...said } },
    batched: ChartBatchResponse.parse(await batch.json()).data[name],
  }
}

describe('a chart in a batch', () => {
  const user: Identity = { kind: 'user', subject: 'ada', features: 'all' }

  it.each<[code: string, Identity, Record<string, string>]>([
    ['feature-disabled', user, { SVC_DISABLED_FEATURES: 'QUERIES' }],
    ['unauthenticated', anonymousCaller, { SVC_AUTH_REQUIRED_FEATURES: 'QUERIES' }],
    ['forbidden', { ...user, features: ['OVERVIEW'] }, {}],
    ['not-found', user, {}],
  ])('has the same error as alone: %s', async (code, identity, env) => {
    const { alone, batched } = await answersTo(identity, env)
    expect(batched).toEqual(alone)
    expect(batched).toMatchObject({ error: { code } })
  })
})
