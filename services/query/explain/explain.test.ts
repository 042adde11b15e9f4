import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { explainModes, type ExplainNode } from '#proto/explain.ts'
import { query } from '#proto/query.ts'
import { fetchText } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createCall, createTwoUserSettings, openTestService, type TestService } from '../testing/test-service.ts'

const startLimitMs = 180_000
const rowsInserted = 20_000

let sandbox: Sandbox
let parts: TestService

const direct = (sql: string, parameters?: Record<string, string>) => fetchText(sandbox.url, sql, parameters)

beforeAll(async () => {
  sandbox = await startSandbox()
  await direct('CREATE DATABASE explained')
  await direct('CREATE TABLE explained.events (id UInt64, kind String) ENGINE = MergeTree ORDER BY id')
  await direct(`INSERT INTO explained.events SELECT number, 'a' FROM numbers(${rowsInserted})`)
  parts = await openTestService(createTwoUserSettings(sandbox.url))
}, startLimitMs)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

const explain = async (sql: string, request: Record<string, unknown> = {}) => {
  const input = query.methods.explain.input.parse({ hostKey: 'box', query: sql, ...request })
  return query.methods.explain.output.parse(await parts.handlers.explain(input, createCall()))
}
const nodesOf = (nodes: readonly ExplainNode[]): ExplainNode[] =>
  nodes.flatMap((node) => [node, ...nodesOf(node.children)])

const statement = 'SELECT kind, count() FROM explained.events WHERE id >= 10000 GROUP BY kind'

describe('a statement explained', () => {
  it.each(['box', 'careful'])('is a tree of steps with index usage (host %s)', async (hostKey) => {
    const { tree } = await explain(statement, { hostKey, planSettings: { indexes: true } })
    const reading = nodesOf(tree ?? []).find(({ name }) => name === 'ReadFromMergeTree')
    expect(reading?.description).toBe('explained.events')
    const marks = Number(
      await direct("SELECT sum(marks - 1) FROM system.parts WHERE database = 'explained' AND active"),
    )
    expect(marks).toBeGreaterThan(1)
    expect(reading?.details.Indexes).toContainEqual(
      expect.objectContaining({
        Type: 'PrimaryKey',
        Keys: ['id'],
        'Initial Granules': marks,
        'Selected Granules': marks - 1,
      }),
    )
  })

  it.each(explainModes.filter((mode) => mode !== 'analyze'))('returns the engine output for %s', async (mode) => {
    const words = mode.replace('-', ' ').toUpperCase()
    const settings = mode === 'plan' ? ' json = 1' : ''
    const said = await direct(`EXPLAIN ${words}${settings} ${statement}`, { default_format: 'TSVRaw' })
    const { text, estimates, tree } = await explain(`${statement} FORMAT CSV;`, { mode })
    if (mode === 'estimate') {
      const [database, table, ...figures] = said.split('\t')
      const [read, rows, marks] = figures.map(Number)
      expect(estimates).toEqual([{ database, table, parts: read, rows, marks }])
    } else {
      expect(text?.trimEnd()).toBe(said)
    }
    expect(tree === null).toBe(mode === 'estimate' || mode === 'syntax')
  })

  it('is executed for ANALYZE, with actual metrics of each step', async () => {
    const { tree } = await explain(statement, { mode: 'analyze' })
    const reading = nodesOf(tree ?? []).find(({ name }) => name === 'ReadFromMergeTree')
    expect(reading?.description).toBe('explained.events')
    expect(JSON.stringify(reading?.details)).toMatch(/rows .* → /)
  })

  it('has the same steps as text and as JSON', async () => {
    const names = async (planSettings: Record<string, boolean>) =>
      nodesOf((await explain(statement, { planSettings })).tree ?? []).map(({ name }) => name)
    const asText = await names({ json: false, pretty: false, compact: false })
    expect(asText.length).toBeGreaterThan(1)
    expect(asText).toEqual(await names({ json: true }))
  })

  it('has a line of the tree for each line of the text', async () => {
    const { tree, text } = await explain(statement, { mode: 'ast' })
    expect(nodesOf(tree ?? [])).toHaveLength(text?.split('\n').filter((line) => line !== '').length ?? 0)
  })

  it('resolves tables in the requested database', async () => {
    const { estimates } = await explain('SELECT * FROM events', { database: 'explained', mode: 'estimate' })
    expect(estimates).toMatchObject([{ database: 'explained', table: 'events', rows: rowsInserted }])
  })
})

describe('a statement that cannot be explained', () => {
  it.each([
    ['SELECT nothing FROM explained.events', 47],
    ['SELECT 1 FROM', 62],
    ['SELECT * FROM explained.missing', 60],
    ['SELECT {x:UInt8}', 456],
    ['SELECT (SELECT throwIf(1))', 395],
  ])('%s has the code of the host', async (sql, code) => {
    await expect(explain(sql)).rejects.toMatchObject({ code: 'invalid', details: { clickhouseCode: code } })
  })

  it('is planned with those of its settings that change the plan', async () => {
    const sql = 'SELECT 1 SETTINGS readonly = 0, max_threads = 1, max_memory_usage = 0'
    expect(await explain(sql)).toMatchObject({
      query: 'SELECT 1',
      statementSettings: { applied: { max_threads: '1' }, ignored: ['readonly', 'max_memory_usage'] },
    })
  })

  it('returns the position of its syntax error', async () => {
    await expect(explain('SELECT 1 FROM')).rejects.toMatchObject({ details: { parameter: 'query', position: 13 } })
  })

  it.each(['INSERT INTO explained.events SELECT 1', "SELECT 1 INTO OUTFILE 'x'", "SELECT * FROM s3('http://x/y')"])(
    '%s never reaches the host',
    async (sql) => {
      await expect(explain(sql)).rejects.toMatchObject({ code: 'invalid', details: { parameter: 'query' } })
    },
  )

  it('is stopped when a subquery that planning executes takes too much memory', async () => {
    const greedy = 'SELECT (SELECT length(groupArray(number)) FROM numbers(1000000000))'
    await expect(explain(greedy)).rejects.toMatchObject({ code: 'too-large', details: { clickhouseCode: 241 } })
  })
})
