import { rm } from 'node:fs/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { DocResponse, DocsResponse } from '#proto/http/docs.ts'
import { type FakeProduct, startFakeProduct, createWebBuild } from '../testing/fake-product.ts'

const webDirectory = await createWebBuild({})
const scope = new AsyncDisposableStack()
scope.defer(() => rm(webDirectory, { recursive: true }))
afterAll(() => scope.disposeAsync())

const start = async (env: Record<string, string> = {}) => scope.use(await startFakeProduct({ webDirectory, env }))
const send = async ({ url }: FakeProduct, path: string) => {
  const response = await fetch(`${url}${path}`)
  return { status: response.status, text: await response.text() }
}
const json = async (product: FakeProduct, path: string): Promise<unknown> =>
  JSON.parse((await send(product, path)).text)

describe('the documentation', () => {
  it('is listed and returned', async () => {
    const product = await start()
    const { data } = DocsResponse.parse(await json(product, '/api/v1/docs'))
    expect(data).toEqual([{ id: 'getting-started', title: 'Getting started' }])
    expect(DocResponse.parse(await json(product, '/api/v1/docs/getting-started')).data.text).toContain('Run it.')
  })

  it('returns 404 for an unknown page', async () => {
    const { status, text } = await send(await start(), '/api/v1/docs/..%2Fbuild.json')
    expect([status, text]).toEqual([404, expect.stringContaining('page not found in the documentation')])
  })

  it.each([
    [{ SVC_FEATURE_DOCS_ACCESS: 'authenticated' }, 401],
    [{ SVC_FEATURE_DOCS_ENABLED: 'false' }, 404],
  ])('with %j anonymous callers get %d', async (env, status) => {
    const product = await start(env)
    for (const path of ['/api/v1/docs', '/api/v1/docs/getting-started'])
      expect((await send(product, path)).status, path).toBe(status)
  })

  it('is not served as a file of the web', async () => {
    for (const path of ['/.docs.json', '/%2edocs.json']) {
      const { status, text } = await send(await start(), path)
      expect(status, path).toBe(404)
      expect(text).not.toContain('Run it.')
    }
  })
})
