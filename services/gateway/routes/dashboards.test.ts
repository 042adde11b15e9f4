import { mkdtemp, rm, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Identity } from '#proto/call.ts'
import { AuditResponse } from '#proto/http/audit.ts'
import { DashboardResponse, DashboardsResponse, SavedViewsResponse } from '#proto/http/dashboards.ts'
import { ErrorResponse } from '#proto/http/response.ts'
import { sampleDashboard } from '../testing/dashboards.ts'
import { startFakeProduct } from '../testing/fake-product.ts'
import { type QueryHandlers, sampleChartInfo, sampleTableInfo } from '../testing/query.ts'

const base = '/api/v1/dashboards'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchhouse-dashboards-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const user = (subject: string, name: string): Identity => ({
  kind: 'user',
  subject,
  features: 'all',
  profile: { name },
})
const ada = user('ada', 'Ada Lovelace')
const grace = user('grace', 'Grace Hopper')
const viewer: Identity = { kind: 'key', subject: 'viewer', features: 'all', scopes: ['read'] }

const open = async (env: Record<string, string> = {}, query: Partial<QueryHandlers> = {}) => {
  const caller = { current: ada }
  const product = await startFakeProduct({ env, query, identify: async () => caller.current })
  const send = async (method: string, path: string, body?: unknown, as = ada) => {
    caller.current = as
    const init = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(product.url + path, init)
    return { status: response.status, body: (await response.json()) as unknown }
  }
  const create = async (content: unknown = sampleDashboard) =>
    DashboardResponse.parse((await send('POST', base, { content })).body).data
  const errorOf = async (...request: Parameters<typeof send>) => {
    const { status, body } = await send(...request)
    return { status, ...ErrorResponse.parse(body).error }
  }
  return { product, send, create, errorOf, [Symbol.asyncDispose]: () => product[Symbol.asyncDispose]() }
}

describe('dashboards', () => {
  it('keep their versions, which can be read and restored, and are audited', async () => {
    await using rig = await open()
    const { id } = await rig.create()
    await rig.send(
      'PUT',
      `${base}/${id}`,
      { version: 1, content: { ...sampleDashboard, title: 'Renamed', panels: [] }, note: 'Empty' },
      grace,
    )
    const versions = await rig.send('GET', `${base}/${id}/versions`)
    expect(versions.body).toMatchObject({
      data: [
        { version: 2, savedBy: 'Grace Hopper', note: 'Empty', panels: 0 },
        { version: 1, savedBy: 'Ada Lovelace', note: '', panels: 3 },
      ],
    })
    expect((await rig.send('GET', `${base}/${id}?version=1`)).body).toMatchObject({
      data: { version: 1, content: { title: 'Shop' } },
    })
    const restored = await rig.send('POST', `${base}/${id}/restore`, { version: 1, current: 2 })
    expect(restored.body).toMatchObject({ data: { version: 3, content: { title: 'Shop' } } })
    await rig.send('DELETE', `${base}/${id}`)
    expect((await rig.send('GET', `${base}/${id}`)).status).toBe(404)
    const { data } = AuditResponse.parse((await rig.send('GET', '/api/v1/audit?limit=10')).body)
    expect(data.map(({ action }) => action)).toEqual([
      'delete-dashboard',
      'restore-dashboard',
      'change-dashboard',
      'create-dashboard',
    ])
  })

  it('report a concurrent change with its author and time, and keep it', async () => {
    await using rig = await open()
    const { id } = await rig.create()
    await rig.send('PUT', `${base}/${id}`, { version: 1, content: { ...sampleDashboard, title: 'Hers' } }, grace)
    const refused = await rig.errorOf('PUT', `${base}/${id}`, { version: 1, content: sampleDashboard })
    expect(refused).toMatchObject({
      status: 409,
      details: { version: 2, savedBy: 'Grace Hopper', savedAt: expect.any(String) },
    })
    expect(refused.message).toMatch(
      /^dashboard "Hers" was changed by "Grace Hopper" at .*: you edited version 1, the current one is 2/,
    )
    expect((await rig.send('GET', `${base}/${id}`)).body).toMatchObject({
      data: { version: 2, content: { title: 'Hers' } },
    })
  })

  it('can be read but not changed with read access', async () => {
    await using rig = await open()
    const { id } = await rig.create()
    expect((await rig.send('GET', `${base}/${id}`, undefined, viewer)).status).toBe(200)
    expect((await rig.send('GET', `${base}/${id}/export`, undefined, viewer)).status).toBe(200)
    for (const [method, path] of [
      ['PUT', `/${id}`],
      ['DELETE', `/${id}`],
      ['POST', ''],
      ['POST', '/import'],
      ['POST', `/${id}/restore`],
    ] as const)
      expect((await rig.send(method, base + path, {}, viewer)).status).toBe(403)
  })

  it('run their stored statements with read access, and bind values as parameters', async () => {
    await using rig = await open()
    const { id } = await rig.create()
    const values = { shop: "x' OR 1", other: 'dropped' }
    expect((await rig.send('POST', `${base}/${id}/rows`, { panel: 'b', values }, viewer)).status).toBe(200)
    const { input } = rig.product.received.find(({ method }) => method === 'streamQuery') ?? {}
    expect(input).toMatchObject({
      hostKey: 'analytics',
      query: 'SELECT count() FROM orders WHERE shop = {shop:String}',
      parameters: { shop: "x' OR 1" },
    })
    expect(await rig.errorOf('POST', `${base}/${id}/rows`, { panel: 'b' })).toMatchObject({
      status: 400,
      message: 'values.shop is required',
    })
    expect(await rig.errorOf('POST', `${base}/${id}/rows`, { panel: 'a' })).toMatchObject({ status: 404 })
    expect((await rig.send('POST', `${base}/${id}/rows`, { variable: 'shop' }, viewer)).status).toBe(200)
  })

  it('bind lists for variables of several values, whose shape is checked', async () => {
    await using rig = await open()
    const variables = [{ kind: 'user', name: 'user', multi: true, includeAll: true }]
    const panels = (sql: string, filters = ['user.eq.{user}']) => [
      { id: 'a', kind: 'sql', x: 0, y: 0, w: 6, h: 6, sql, view: 'number' },
      { id: 'b', kind: 'table', x: 6, y: 0, w: 6, h: 6, table: 'running-queries', filters },
    ]
    const content = (...given: Parameters<typeof panels>) => ({
      schemaVersion: 1,
      title: 'Users',
      variables,
      panels: panels(...given),
    })
    const { id } = await rig.create(content('SELECT count() FROM log WHERE {user_all} OR user IN {user}'))
    const rows = (values: object) => rig.errorOf('POST', `${base}/${id}/rows`, { panel: 'a', values })
    const values = { user: ["o'neil", 'x'], user_all: '0' }
    expect((await rig.send('POST', `${base}/${id}/rows`, { panel: 'a', values }, viewer)).status).toBe(200)
    const { input } = rig.product.received.find(({ method }) => method === 'streamQuery') ?? {}
    expect(input).toMatchObject({
      query: 'SELECT count() FROM log WHERE {user_all:Bool} OR user IN {user:Array(String)}',
      parameters: values,
    })
    expect(await rows({ user: 'x', user_all: '0' })).toMatchObject({
      status: 400,
      message: 'values.user must be a list of texts, empty for all values',
    })
    expect(await rows({ user: [], user_all: ['1'] })).toMatchObject({
      message: 'values.user_all must be one text, as the variable has one value',
    })
    expect(await rig.errorOf('POST', base, { content: content('SELECT {user}') })).toMatchObject({
      message: 'content.panels.0.sql uses "user", which can be all values; write ({user_all} OR name IN {user})',
    })
    expect(await rig.errorOf('POST', base, { content: content('SELECT 1', ['user.contains.{user}']) })).toMatchObject({
      message: 'content.panels.1.filters.0 compares with the list "user" by "contains"; allowed: eq, ne, in, notIn',
    })
  })

  it('are rejected with all problems and their paths, and nothing is stored', async () => {
    await using rig = await open()
    const panels = [{ id: 'a', kind: 'chart', x: 0, y: 0, w: 6, h: 6, chart: 'query-coutn' }]
    expect(
      await rig.errorOf('POST', `${base}/import`, { content: { schemaVersion: 1, title: 'x', panels } }),
    ).toMatchObject({
      status: 400,
      message: 'content.panels.0.chart has an unknown chart "query-coutn"; did you mean "query-count"?',
    })
    expect(await rig.errorOf('POST', `${base}/import`, { content: { schemaVersion: 9 } })).toMatchObject({
      message: 'content.schemaVersion is 9, but this release reads versions up to 1; update Watchhouse',
    })
    const { data } = DashboardsResponse.parse((await rig.send('GET', base)).body)
    expect(data.every(({ managedBy }) => managedBy === 'product')).toBe(true)
  })

  it('keep a panel whose chart no longer exists, so that other changes can be saved', async () => {
    let isRetired = false
    const catalogue = async () => ({
      topics: [],
      charts: isRetired ? [] : [sampleChartInfo],
      tables: [sampleTableInfo],
    })
    await using rig = await open({}, { catalogue })
    const { id } = await rig.create()
    isRetired = true
    const renamed = { version: 1, content: { ...sampleDashboard, title: 'Renamed' } }
    expect((await rig.send('PUT', `${base}/${id}`, renamed)).status).toBe(200)
    expect((await rig.send('POST', base, { content: sampleDashboard })).status).toBe(400)
  })

  it('are exported and imported without a loss', async () => {
    await using rig = await open()
    const { id, content } = await rig.create()
    const exported = (await rig.send('GET', `${base}/${id}/export`)).body
    expect(exported).toEqual(content)
    const imported = await rig.send('POST', `${base}/import`, { content: exported })
    expect(imported.body).toMatchObject({ data: { version: 1, content } })
  })

  it('of the product are listed, read-only and exportable to Grafana', async () => {
    await using rig = await open()
    const { data, metadata } = DashboardsResponse.parse((await rig.send('GET', base)).body)
    expect(data.filter(({ managedBy }) => managedBy === 'product')).toHaveLength(6)
    expect(metadata.persistent).toBe(false)
    const id = 'starter-ingestion'
    const refused = await rig.errorOf('PUT', `${base}/${id}`, { version: 1, content: sampleDashboard })
    expect(refused).toMatchObject({ status: 409, message: expect.stringContaining('part of the product') })
    expect((await rig.send('GET', `${base}/${id}/export?format=grafana`)).body).toMatchObject({ title: 'Ingestion' })
  })

  it('of files are read-only and follow their files; invalid files are listed with their reason', async () => {
    await using rig = await open({ SVC_DASHBOARDS_DIRECTORY: directory })
    await writeFile(join(directory, 'Team Shop.json'), JSON.stringify({ ...sampleDashboard, title: 'From a file' }))
    await writeFile(join(directory, 'broken.json'), '{')
    await writeFile(join(directory, 'newer.json'), JSON.stringify({ schemaVersion: 2 }))
    const list = async () => DashboardsResponse.parse((await rig.send('GET', base)).body)
    const { data, metadata } = await list()
    expect(data.find(({ managedBy }) => managedBy === 'file')).toMatchObject({
      id: 'file-team-shop',
      title: 'From a file',
    })
    expect(metadata.problems).toEqual([
      { file: 'broken.json', message: 'the file is not a JSON object' },
      { file: 'newer.json', message: expect.stringContaining('schemaVersion is 2') },
    ])
    const refused = await rig.errorOf('DELETE', `${base}/file-team-shop`)
    expect(refused).toMatchObject({ status: 409, message: expect.stringContaining('managed by a file; edit it there') })
    await unlink(join(directory, 'Team Shop.json'))
    expect((await list()).data.some(({ managedBy }) => managedBy === 'file')).toBe(false)
  })

  it('survive a restart with a state database', async () => {
    const env = { SVC_STATE_DB_URL: `file:${directory}/state.db` }
    let id = ''
    {
      await using first = await open(env)
      id = (await first.create()).id
    }
    await using second = await open(env)
    const read = DashboardResponse.parse((await second.send('GET', `${base}/${id}`)).body)
    expect(read).toMatchObject({ data: { content: { title: 'Shop' } }, metadata: { persistent: true } })
  })
})

describe('saved views', () => {
  const path = '/api/v1/saved-views'
  const view = { table: 'running-queries', name: 'Slow', query: 'sort=elapsed.desc&filter=user.eq.ada' }

  it('belong to their user unless they are shared', async () => {
    await using rig = await open()
    await rig.send('POST', path, view)
    await rig.send('POST', path, { ...view, name: 'All', isShared: true })
    const seenBy = async (identity: Identity) => {
      const { body } = await rig.send('GET', `${path}?table=running-queries`, undefined, identity)
      return SavedViewsResponse.parse(body).data
    }
    expect((await seenBy(ada)).map(({ name, isShared }) => [name, isShared])).toEqual([
      ['All', true],
      ['Slow', false],
    ])
    expect((await seenBy(grace)).map(({ name }) => name)).toEqual(['All'])
    const mine = (await seenBy(ada)).find(({ isShared }) => !isShared)
    expect((await rig.send('DELETE', `${path}/${mine?.id ?? ''}`, undefined, grace)).status).toBe(404)
    expect((await rig.send('DELETE', `${path}/${mine?.id ?? ''}`)).status).toBe(200)
    expect(await seenBy(ada)).toHaveLength(1)
  })

  it('replace the one with the same name', async () => {
    await using rig = await open()
    await rig.send('POST', path, view)
    await rig.send('POST', path, { ...view, query: 'sort=user.asc' })
    const { data } = SavedViewsResponse.parse((await rig.send('GET', `${path}?table=running-queries`)).body)
    expect(data).toMatchObject([{ name: 'Slow', query: 'sort=user.asc' }])
  })
})
