import { mkdirSync, mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

const page = '<!doctype html><title>start</title><script>start()</script>'
const script = `export const a = '${'a'.repeat(2_000)}'`

let folder: string
let product: FakeProduct
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'web-'))
  mkdirSync(join(folder, '_app/immutable'), { recursive: true })
  const precompressed = { 'index.html': page, '_app/immutable/a.1234.js': script, '_app/immutable/gone.js': script }
  for (const [path, text] of Object.entries(precompressed)) {
    writeFileSync(join(folder, path), text)
    writeFileSync(join(folder, `${path}.br`), brotliCompressSync(text))
    writeFileSync(join(folder, `${path}.gz`), gzipSync(text))
  }
  writeFileSync(join(folder, 'favicon.svg'), '<svg/>')
  product = await startFakeProduct({ webDirectory: folder })
})
afterAll(async () => {
  await product[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
  const response = await fetch(product.url + path, { headers, method })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describe('the built web', () => {
  it.each(['/', '/overview?host=1', '/tables/running-queries', '/hosts/', '/apiary'])(
    'serves %s as a page',
    async (path) => {
      const { status, headers, text } = await get(path)
      expect([status, text]).toEqual([200, page])
      expect(headers.get('content-type')).toBe('text/html;charset=utf-8')
      expect(headers.get('cache-control')).toBe('no-cache')
      expect(headers.get('content-security-policy')).toContain("script-src 'self' 'sha256-")
    },
  )

  it.each([
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['identity', null],
  ])('with accept-encoding %s is served as %s, compressed at build time', async (accepted, encoding) => {
    const { headers, text } = await get('/_app/immutable/a.1234.js', { 'accept-encoding': accepted })
    expect([headers.get('content-encoding'), headers.get('vary')]).toEqual([encoding, 'Accept-Encoding'])
    expect(text).toBe(script)
  })

  it('caches files with a hashed name forever', async () => {
    const { headers } = await get('/_app/immutable/a.1234.js')
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('content-type')).toBe('text/javascript')
    expect((await get('/favicon.svg')).headers.get('cache-control')).toBe('no-cache')
  })

  it('returns 304 while a page is unchanged', async () => {
    const etag = (await get('/')).headers.get('etag') ?? ''
    expect((await get('/', { 'if-none-match': etag })).status).toBe(304)
  })

  it.each(['/_app/immutable/b.js', '/robots.txt', '/.env', '/../package.json', '/%2e%2e/package.json', '/a%00.js'])(
    'returns 404 for the missing file %s',
    async (path) => {
      const { status, text } = await get(path)
      expect(status).toBe(404)
      expect(JSON.parse(text)).toMatchObject({ success: false, error: { type: 'not-found' } })
    },
  )

  it.each(['/api/v1/nothing', '/api', '/API/health'])('never serves %s as a page', async (path) => {
    expect((await get(path)).headers.get('content-type')).toBe('application/json')
  })

  it('allows only GET and HEAD', async () => {
    const { status, headers } = await get('/overview', {}, 'POST')
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect(await get('/overview', {}, 'HEAD')).toMatchObject({ status: 200, text: '' })
  })

  it.each(['bytes=5-1', 'bytes=999999-', 'bytes=x'])('ignores the range %s', async (range) => {
    expect(await get('/', { range })).toMatchObject({ status: 200, text: page })
  })

  it('aborts the response of a removed file and keeps running', async () => {
    for (const suffix of ['', '.br', '.gz']) unlinkSync(join(folder, `_app/immutable/gone.js${suffix}`))
    await expect(get('/_app/immutable/gone.js')).rejects.toThrow()
    expect((await get('/')).status).toBe(200)
  })
})

describe('a web that is rebuilt while it is served', () => {
  it('is served completely, with its own scripts allowed', async () => {
    const own = mkdtempSync(join(tmpdir(), 'web-'))
    writeFileSync(join(own, 'index.html'), page)
    await using served = await startFakeProduct({ webDirectory: own })
    const before = await fetch(served.url)
    expect(await before.text()).toBe(page)
    const longer = page.replace('start()', 'startAgain(); startAgain()')
    writeFileSync(join(own, 'index.html'), longer)
    writeFileSync(join(own, 'new.5678.js'), script)
    writeFileSync(join(own, 'build.json'), '{}')
    const after = await fetch(`${served.url}/overview`)
    expect(await after.text()).toBe(longer)
    const [first, second] = [before, after].map(({ headers }) => headers.get('content-security-policy'))
    expect(second).toMatch(/script-src 'self' 'sha256-/)
    expect(second).not.toBe(first)
    expect(await (await fetch(`${served.url}/new.5678.js`)).text()).toBe(script)
    rmSync(own, { recursive: true })
  })

  it('keeps responding while the start page is missing', async () => {
    const own = mkdtempSync(join(tmpdir(), 'web-'))
    writeFileSync(join(own, 'index.html'), page)
    await using served = await startFakeProduct({ webDirectory: own })
    rmSync(join(own, 'index.html'))
    expect((await fetch(served.url)).status).toBe(404)
    writeFileSync(join(own, 'index.html'), page)
    expect((await fetch(served.url)).status).toBe(200)
    rmSync(own, { recursive: true })
  })
})

describe('a missing web build', () => {
  it('returns instructions, and the API works', async () => {
    await using product = await startFakeProduct()
    const response = await fetch(`${product.url}/overview`)
    expect(response.status).toBe(503)
    expect(await response.text()).toContain('npm start')
    expect((await fetch(`${product.url}/api/v1/hosts`)).status).toBe(200)
  })
})
