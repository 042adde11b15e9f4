import { createClock } from '#shared/time/clock.ts'
import { describe, expect, it } from 'vitest'
import type { Identity } from '#proto/call.ts'
import { ConfigResponse } from '#proto/http/config.ts'
import type { PageView } from '#proto/page-views.ts'
import { startFakeProduct } from '../testing/fake-product.ts'
import { anonymousCaller } from '../auth/identity.ts'

const phone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148'
const ada: Identity = { kind: 'user', subject: 'ada', features: 'all' }

const open = async (enabled: boolean, identity = ada) => {
  const kept: { hostKey: string; views: PageView[] }[] = []
  const storePageViews = async (given: { hostKey: string; views: PageView[] }) => {
    kept.push(given)
    return { kept: given.views.length }
  }
  const product = await startFakeProduct({
    query: { tracksPageViews: async () => ({ enabled }), storePageViews },
    identify: async () => identity,
    clock: createClock(() => 1_790_000_000_000),
  })
  const view = async (body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${product.url}/api/v1/page-views`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': phone, ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, text: await response.text() }
  }
  return { product, kept, view, [Symbol.asyncDispose]: () => product[Symbol.asyncDispose]() }
}

describe('page views', () => {
  it('are written to the first host in a batch, with user and device', async () => {
    const rig = await open(true)
    expect(await rig.view({ page: '/tables/[name]' }, { 'cf-ipcountry': 'DE' })).toMatchObject({ status: 200 })
    await rig.view({ page: '/' }, { 'user-agent': 'curl/8', 'cf-ipcountry': '<script>' })
    await rig[Symbol.asyncDispose]()
    const common = { actor: 'ada', atMs: 1_790_000_000_000 }
    expect(rig.kept).toEqual([
      {
        hostKey: 'analytics',
        views: [
          { ...common, page: '/tables/[name]', device: 'mobile', bot: false, country: 'DE' },
          { ...common, page: '/', device: 'desktop', bot: true, country: null },
        ],
      },
    ])
  })

  it('contain no identity of anonymous callers', async () => {
    const rig = await open(true, anonymousCaller)
    await rig.view({ page: '/health' })
    await rig[Symbol.asyncDispose]()
    expect(rig.kept[0]?.views).toMatchObject([{ actor: 'anonymous' }])
  })

  it('are not stored unless a table is configured, which the config returns', async () => {
    const rig = await open(false)
    const answered = await rig.view({ page: '/health' })
    expect(JSON.parse(answered.text)).toMatchObject({ data: { kept: false } })
    const config = ConfigResponse.parse(await (await fetch(`${rig.product.url}/api/v1/config`)).json())
    expect(config.data.offers.pageViews).toBe(false)
    await rig[Symbol.asyncDispose]()
    expect(rig.kept).toEqual([])
  })

  it.each([
    {},
    { page: '' },
    { page: 'health' },
    { page: '/health?host=1' },
    { page: '/a b' },
    { page: `/${'a'.repeat(200)}` },
  ])('are rejected as %j', async (body) => {
    await using rig = await open(true)
    expect(await rig.view(body)).toMatchObject({ status: 400, text: expect.stringContaining('page') })
  })
})
