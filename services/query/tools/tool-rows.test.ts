import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { maxBufferedBytes } from '#proto/console.ts'
import { startSandbox, type Sandbox } from '../../sandbox/start.ts'
import { checkReadOnly } from '../read-only/read-only.ts'
import { expandMacros } from '../definitions/macros.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'
import { type StubRequest, sendResultRows as sendRows, startHttpStub } from '../testing/stub-host.ts'
import { readToolStatements } from './tool-rows.ts'

const tools = readToolStatements()
const statements = [...tools].flatMap(([tool, { feature, statements: named }]) =>
  [...named].map(([statement, sql]) => ({ tool, statement, sql, feature })),
)
/** Values for the placeholders of all statements. */
const values = { fullStatements: 0, lastHours: 24, minDurationMs: 0, user: '', database: '', table: '', whole: 'a.b' }
const startLimitMs = 120_000

let sandbox: Sandbox
let parts: TestService

beforeAll(async () => {
  sandbox = await startSandbox({ label: 'one' })
  parts = await openTestService({ COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: 'one', SVC_TABLE_MAX_RESULT_ROWS: '2' })
}, startLimitMs)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

/** Returns the values for the placeholders of a statement. */
const valuesFor = (sql: string) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => sql.includes(`{${name}:`)))

describe.each(statements)('the statement $statement of $tool', ({ tool, statement, sql, feature }) => {
  const request = { hostKey: 'one', tool, statement, parameters: valuesFor(sql), maxRows: 10 }

  it('only reads', () => {
    const expanded = expandMacros(sql, { window: undefined, zone: undefined, logs: new Map() })
    expect(() => checkReadOnly(expanded)).not.toThrow()
  })

  it('runs, with its rows as evidence', async () => {
    const { rows, evidence } = await parts.handlers.toolRows(request, createCall())
    expect(rows.length).toBeLessThanOrEqual(2)
    expect(evidence).toMatchObject({ hostKey: 'one', parameters: request.parameters, rows: rows.length })
    const again = { hostKey: 'one', query: evidence.statement, parameters: request.parameters, maxBytes: 100_000 }
    const { columns } = await parts.handlers.runQuery(again, createCall())
    if (rows[0]) expect(Object.keys(rows[0])).toEqual(columns.map(({ name }) => name))
  })

  it('is forbidden without the feature of its tool', async () => {
    const call = createCall({ identity: { kind: 'user', subject: 'tester', features: [] } })
    await expect(parts.handlers.toolRows(request, call)).rejects.toMatchObject({
      code: 'forbidden',
      details: { feature },
    })
  })
})

it.each([
  ['get_table_part', 'partitions', 'get_table_parts'],
  ['get_table_parts', 'partition', 'partitions'],
])('names what is near %s/%s', async (tool, statement, near) => {
  const request = { hostKey: 'one', tool, statement, parameters: {}, maxRows: 1 }
  await expect(parts.handlers.toolRows(request, createCall())).rejects.toMatchObject({
    code: 'not-found',
    message: expect.stringContaining(`did you mean "${near}"?`),
  })
})

it('rejects names of object prototype properties', async () => {
  const request = { hostKey: 'one', tool: 'get_table_parts', statement: 'constructor', parameters: {}, maxRows: 1 }
  await expect(parts.handlers.toolRows(request, createCall())).rejects.toMatchObject({ code: 'not-found' })
})

describe('a statement of a tool', () => {
  const request = { hostKey: 'stub', tool: 'get_merge_status', statement: 'merges', parameters: {}, maxRows: 10 }
  const other = { ...request, tool: 'get_metrics', statement: 'connections' }
  /** Returns whether a request is a statement of a tool, not of the probe. */
  const isOfTool = ({ url }: StubRequest) => url.searchParams.get('log_comment') === '{"watchhouse":"tool"}'
  const oneAtOnce = (url: string, more: Record<string, string> = {}) =>
    openTestService({
      COLUMNDB_HOST: url,
      COLUMNDB_NAME: 'stub',
      COLUMNDB_POOL_SIZE: '1',
      SVC_QUERY_CACHE: 'false',
      ...more,
    })

  it('shares the limit of COLUMNDB_POOL_SIZE with other callers', async () => {
    const waiting: ServerResponse[] = []
    await using stub = await startHttpStub((request, response) => {
      if (isOfTool(request)) waiting.push(response)
      else sendRows(response, [])
    })
    await using open = await oneAtOnce(stub.url)
    const first = open.handlers.toolRows(request, createCall({ priority: 'tool' }))
    await expect.poll(() => waiting.length, { timeout: 5_000 }).toBe(1)
    const others = [
      open.handlers.toolRows(other, createCall({ priority: 'tool' })),
      open.handlers.toolRows(other, createCall()),
    ]
    for (let answered = 0; answered < 3; answered++) {
      await expect.poll(() => waiting.length, { timeout: 5_000 }).toBe(answered + 1)
      sendRows(waiting[answered] as ServerResponse, [['t', '0.5']], ['table', 'progress'])
    }
    expect(await first).toMatchObject({ rows: [{ table: 't', progress: '0.5' }] })
    expect(await Promise.all(others)).toHaveLength(2)
    const leaving = new AbortController()
    const left = open.handlers.toolRows(other, createCall({ signal: leaving.signal }))
    await expect.poll(() => waiting.length, { timeout: 5_000 }).toBe(3)
    leaving.abort(new DOMException('gone', 'AbortError'))
    await expect(left).rejects.toMatchObject({ message: 'gone' })
    const next = open.handlers.toolRows(request, createCall())
    await expect.poll(() => waiting.length, { timeout: 5_000 }).toBeGreaterThan(3)
    for (const response of waiting.slice(3)) sendRows(response, [['u', '1']], ['table', 'progress'])
    expect(await next).toMatchObject({ rows: [{ table: 'u' }] })
  })

  it('fails as busy after SVC_TOOL_QUEUE_SECONDS', async () => {
    const waiting: ServerResponse[] = []
    await using stub = await startHttpStub((request, response) => {
      if (isOfTool(request)) waiting.push(response)
      else sendRows(response, [])
    })
    await using open = await oneAtOnce(stub.url, { SVC_TOOL_QUEUE_SECONDS: '1' })
    const first = open.handlers.toolRows(request, createCall({ priority: 'tool' }))
    await expect.poll(() => waiting.length, { timeout: 5_000 }).toBe(1)
    await expect(open.handlers.toolRows(other, createCall({ priority: 'tool' }))).rejects.toMatchObject({
      code: 'busy',
      message: 'host stub has too many statements waiting; try again shortly',
    })
    sendRows(waiting[0] as ServerResponse, [['t', '0.5']], ['table', 'progress'])
    await first
  })

  it('has the same maximum size as a statement of a caller', async () => {
    await using stub = await startHttpStub((_request, response) => sendRows(response, [['x'.repeat(maxBufferedBytes)]]))
    await using open = await oneAtOnce(stub.url)
    await expect(open.handlers.toolRows(request, createCall())).rejects.toMatchObject({ code: 'too-large' })
  })

  it('is sent read-only with any values bound', async () => {
    const seen: StubRequest[] = []
    await using stub = await startHttpStub((request, response) => {
      if (isOfTool(request)) seen.push(request)
      sendRows(response, [['x']])
    })
    await using open = await oneAtOnce(stub.url)
    const parameters = { database: "' OR 1=1 -- $own {table:String}", table: '&readonly=0' }
    await open.handlers.toolRows(
      { ...request, tool: 'get_table_parts', statement: 'partitions', parameters },
      createCall(),
    )
    const { sql, url } = seen[0] as StubRequest
    expect(sql).not.toContain('OR 1=1')
    expect(url.searchParams.getAll('readonly')).toEqual(['1'])
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      param_database: parameters.database,
      param_table: parameters.table,
      max_memory_usage: '4294967296',
      max_execution_time: expect.stringMatching(/^\d+$/),
    })
  })
})
