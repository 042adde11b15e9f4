import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSandbox, type Sandbox } from '../../sandbox/start.ts'
import { checkReadOnly } from '../read-only/read-only.ts'
import { expandMacros } from '../definitions/macros.ts'
import { aCall, openParts, type OpenParts } from '../testing/open-parts.ts'
import { readToolStatements } from './tool-rows.ts'

const tools = readToolStatements()
const statements = [...tools].flatMap(([tool, { feature, statements: named }]) =>
  Object.entries(named).map(([statement, sql]) => ({ tool, statement, sql, feature })),
)
/** Values for the placeholders of all statements. */
const values = { fullStatements: 0, lastHours: 24, minDurationMs: 0, user: '', database: '', table: '', whole: 'a.b' }
const startLimitMs = 120_000

let sandbox: Sandbox
let parts: OpenParts

beforeAll(async () => {
  sandbox = await startSandbox({ label: 'one' })
  parts = await openParts({ COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: 'one', SVC_TABLE_MAX_RESULT_ROWS: '2' })
}, startLimitMs)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

/** Values for the placeholders that a statement has. */
const valuesFor = (sql: string) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => sql.includes(`{${name}:`)))

describe.each(statements)('the statement $statement of $tool', ({ tool, statement, sql, feature }) => {
  const request = { hostKey: 'one', tool, statement, parameters: valuesFor(sql), maxRows: 10 }

  it('only reads', () => {
    const expanded = expandMacros(sql, { window: undefined, zone: undefined, logs: new Map() })
    expect(() => checkReadOnly(expanded)).not.toThrow()
  })

  it('runs, with its rows as evidence', async () => {
    const { rows, evidence } = await parts.handlers.toolRows(request, aCall())
    expect(rows.length).toBeLessThanOrEqual(2)
    expect(evidence).toMatchObject({ hostKey: 'one', parameters: request.parameters, rows: rows.length })
    const again = { hostKey: 'one', query: evidence.statement, parameters: request.parameters, maxBytes: 100_000 }
    const { columns } = await parts.handlers.runQuery(again, aCall())
    if (rows[0]) expect(Object.keys(rows[0])).toEqual(columns.map(({ name }) => name))
  })

  it('is closed to a caller without the feature of its tool', async () => {
    const call = aCall({ identity: { kind: 'user', subject: 'tester', features: [] } })
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
  await expect(parts.handlers.toolRows(request, aCall())).rejects.toMatchObject({
    code: 'not-found',
    message: expect.stringContaining(`did you mean ${near}?`),
  })
})
