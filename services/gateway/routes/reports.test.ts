import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ErrorResponse } from '#proto/http/response.ts'
import { ReportResponse, ReportsResponse } from '#proto/http/reports.ts'
import { reportRequests } from '../testing/reports.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

let product: FakeProduct
beforeAll(async () => {
  product = await startFakeProduct({ report: {} })
})
afterAll(async () => product[Symbol.asyncDispose]())

const base = '/api/v1/reports'
const one = reportRequests[`GET ${base}/{id}`]?.url ?? ''
const get = (path: string, accept?: string) =>
  fetch(product.url + path, accept === undefined ? {} : { headers: { accept } })
const post = (body: unknown) =>
  fetch(product.url + base, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

describe('a report', () => {
  it.each([
    ['', undefined, 'application/json'],
    ['', 'text/html,application/xhtml+xml,*/*;q=0.8', 'text/html; charset=utf-8'],
    ['', 'text/markdown', 'text/markdown; charset=utf-8'],
    ['', 'application/json', 'application/json'],
    ['?format=html', 'application/json', 'text/html; charset=utf-8'],
    ['?format=markdown', undefined, 'text/markdown; charset=utf-8'],
    ['?format=json', 'text/html', 'application/json'],
  ])('requested with %j and Accept %j is %s', async (format, accept, type) => {
    const response = await get(one + format, accept)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type])
  })

  it('as a page may contain inline style, but no scripts or external content', async () => {
    const response = await get(`${one}?format=html`)
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    )
  })

  it('as JSON has the position of its host, without key or settings hashes', async () => {
    const answer: unknown = await (await get(one)).json()
    expect(ReportResponse.parse(answer).data).toMatchObject({ hostId: 1, host: 'logs', score: 100 })
    expect(JSON.stringify(answer)).not.toMatch(/hostKey|max_threads/)
  })

  it('is listed for one host or all', async () => {
    const counts = [base, `${base}?hostId=1`, `${base}?hostId=0`].map(
      async (path) => ReportsResponse.parse(await (await get(path)).json()).metadata.count,
    )
    expect(await Promise.all(counts)).toEqual([1, 1, 0])
  })

  it('is audited when a user builds it', async () => {
    expect((await post({ hostId: 1, from: 100, to: 200 })).status).toBe(200)
    const audit = await (await get('/api/v1/audit?limit=1')).text()
    expect(audit).toContain('build-report')
  })
})

describe('an invalid request', () => {
  const refusal = async (response: Response) => {
    const { error } = ErrorResponse.parse(await response.json())
    return [response.status, error.message]
  }
  it.each([
    [`${base}/xyz`, 400, 'id'],
    [`${base}/${'0'.repeat(32)}`, 404, 'report not found'],
    [`${one}?format=pdf`, 400, 'must be one of json, html, markdown'],
    [`${base}?hostId=9`, 404, 'unknown host'],
    [`${base}?limit=0`, 400, 'from 1 to 200'],
  ])('GET %s returns %d', async (path, status, words) => {
    expect(await refusal(await get(path))).toEqual([status, expect.stringContaining(words)])
  })

  it.each([
    [{ hostId: 0 }, 400, 'from'],
    [{ from: 200, to: 100 }, 400, 'later than from'],
    [{ from: 0, to: 93 * 86_400 }, 400, 'at most 92 days'],
    [{ from: 0, to: 100, timezone: 'Mars' }, 400, 'time zone'],
    [{ hostId: 9, from: 0, to: 100 }, 404, 'unknown host'],
  ])('POST %j returns %d', async (body, status, words) => {
    expect(await refusal(await post(body))).toEqual([status, expect.stringContaining(words)])
  })
})
