import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { startFakeProduct } from '../testing/fake-product.ts'
import { routes } from '../routes.ts'
import { createDocumentLoader, addNameEnums } from './document.ts'

const open = createDocumentLoader('1.2.3')

const run = promisify(execFile)
const redocly = fileURLToPath(new URL('../../../node_modules/@redocly/cli/bin/cli.js', import.meta.url))
const rules = fileURLToPath(new URL('redocly.yaml', import.meta.url))

describe('the OpenAPI document', () => {
  it('has the version of the product', async () => {
    expect((await open()).info.version).toBe('1.2.3')
  })

  it('is below 480 kB, and below 2 kB for each operation', async () => {
    // Models and generators read the whole document. Copies of shared shapes would double its size.
    const { paths, ...others } = await open()
    const operations = Object.values(paths).flatMap((item) => Object.keys(item))
    const bytes = Buffer.byteLength(JSON.stringify({ paths, ...others }))
    expect(bytes).toBeLessThan(480_000)
    expect(bytes / operations.length).toBeLessThan(2_000)
  })

  it('has an operation id of a verb and a noun and an existing tag for every route', async () => {
    const { tags, paths } = Listed.parse(await open())
    const operations = Object.values(paths).flatMap((item) => Object.values(item))
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z0-9]*)+$/.test(id))).toEqual([])
    expect([...new Set(operations.flatMap((operation) => operation.tags))].toSorted()).toEqual(
      tags.map(({ name }) => name).toSorted(),
    )
  })

  it('contains each shape once, as a component', async () => {
    const { paths, components } = Listed.parse(await open())
    const shapes = Object.values(components.schemas).map((schema) => JSON.stringify(schema))
    expect(new Set(shapes).size).toBe(shapes.length)
    // Operations contain only the properties of envelopes.
    const inlined = [...JSON.stringify({ paths, ...components, schemas: {} }).matchAll(/"properties":\{"(\w+)"/g)]
    expect([...new Set(inlined.map(([, name]) => name))]).toEqual(['data'])
  })

  it('passes the OpenAPI linter without errors and warnings', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-openapi-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    const file = join(directory, 'openapi.json')
    await writeFile(file, JSON.stringify(await open()))
    const lint = [redocly, 'lint', '--config', rules, '--format', 'json', '--max-problems', '1000', file]
    const { stdout } = await run(process.execPath, lint, { env: { ...process.env, REDOCLY_TELEMETRY: 'off' } })
    expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0 } })
  })

  it('is of version 3.0', async () => {
    expect((await open()).openapi).toMatch(/^3\.0\.\d+$/)
  })

  it('has exactly one operation for every route', async () => {
    const { paths = {} } = await open()
    const documented = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    )
    expect(documented.toSorted()).toEqual(
      routes.map(({ method, path }) => `${method.toLowerCase()} ${path}`).toSorted(),
    )
  })

  it('describes every route in one sentence', () => {
    expect(routes.filter(({ doc }) => !doc || doc.endsWith('.')).map(({ path }) => path)).toEqual([])
  })

  it.each([
    ['post', '/api/v1/auth/session', '401'],
    ['get', '/api/v1/auth/callback', '401'],
    ['get', '/api/v1/agents/sign-in/callback', '409'],
    ['get', '/api/v1/health/channels/paging-a/services', '409'],
    ['get', '/api/cron/health-sweep', '409'],
    ['post', '/api/mcp', '415'],
    ['get', '/api/mcp', '405'],
    ['delete', '/api/mcp', '405'],
  ] as const)('documents the special status of %s %s: %s', async (method, path, status) => {
    const { paths = {} } = await open()
    expect(Listed.shape.paths.parse(paths)[path]?.[method]?.responses).toHaveProperty([status])
  })

  it('lists the charts and tables of the running product only in their path parameters', async () => {
    const named = addNameEnums(await open(), { charts: [], tables: [] })
    expect(named).toEqual(await open())
    await using product = await startFakeProduct()
    for (const [path, names] of [
      ['/api/v1/charts/{name}', ['query-count']],
      ['/api/v1/tables/{name}', ['running-queries']],
    ] as const) {
      const [name] = await parametersOf(product.url, path)
      expect(name).toMatchObject({ name: 'name', in: 'path', schema: { enum: names } })
    }
  })

  it('is public, in its own media type, and cacheable until it changes', async () => {
    await using product = await startFakeProduct({ env: { SVC_API_KEY_SECRET: 'a secret of more than sixteen bytes' } })
    const first = await fetch(`${product.url}/api/v1/openapi.json`)
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'application/openapi+json'])
    const etag = first.headers.get('etag') ?? ''
    const second = await fetch(`${product.url}/api/v1/openapi.json`, { headers: { 'If-None-Match': etag } })
    expect(second.status).toBe(304)
  })

  it('has no chart and table names while they are unknown', async () => {
    await using product = await startFakeProduct({ withoutQuery: true })
    const [name] = await parametersOf(product.url, '/api/v1/charts/{name}')
    expect(name).toEqual({ $ref: '#/components/parameters/Name' })
    expect(JSON.stringify((await open()).components)).toContain('"Name":{"in":"path"')
  })
})

const Listed = z.object({
  tags: z.array(z.object({ name: z.string() })),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({
        operationId: z.string(),
        tags: z.array(z.string()),
        responses: z.record(z.string(), z.unknown()),
      }),
    ),
  ),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
})
const Operation = z.object({
  get: z.object({ parameters: z.array(z.looseObject({ schema: z.unknown().optional() })) }),
})
const Named = z.object({
  paths: z.object({ '/api/v1/charts/{name}': Operation, '/api/v1/tables/{name}': Operation }),
})

const parametersOf = async (url: string, path: '/api/v1/charts/{name}' | '/api/v1/tables/{name}') => {
  const answer = await fetch(`${url}/api/v1/openapi.json`)
  return Named.parse(await answer.json()).paths[path].get.parameters
}
