import type { Client } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { Asking } from '../asking.ts'

type RunQuery = Client<typeof query>['runQuery']

const facts = {
  queryId: '',
  durationMs: 1,
  rows: 0,
  rowsRead: 0,
  bytesRead: 0,
  host: 'one',
  clickhouseVersion: '26.7.2.1',
  timezone: null,
}

/** What a tool asks with, where the only host answers each statement with the rows that it is said to have, as many as are asked for. */
export const askingHost = (rowsOf: (sql: string) => readonly Readonly<Record<string, unknown>>[]): Asking => {
  const runQuery: RunQuery = async ({ query: sql, maxRows = Number.POSITIVE_INFINITY }) => {
    const rows = rowsOf(sql).slice(0, maxRows)
    const columns = Object.keys(rows[0] ?? {}).map((name) => ({ name, type: 'String' }))
    return { columns, rows: rows.map((row) => Object.values(row)), truncated: null, statement: { ...facts, sql } }
  }
  return {
    // Tools that make statements ask for nothing else.
    query: { runQuery } as Asking['query'],
    report: {} as Asking['report'],
    hosts: async () => [{ id: 0, key: 'one', name: 'one', host: 'one', group: null, tags: [] }],
    call: {
      identity: { kind: 'user', subject: 'tester', features: 'all' },
      deadline: 30_000,
      signal: new AbortController().signal,
      priority: 'person',
    },
    fullStatements: false,
  }
}
