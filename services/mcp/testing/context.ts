import type { ServiceClient } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { systemClock } from '#shared/time/clock.ts'
import type { ToolContext } from '#shared/tools/tool.ts'

type ToolRows = ServiceClient<typeof query>['toolRows']
type Rows = readonly Readonly<Record<string, unknown>>[]

/** Returns a tool context with one host, whose statements return the first `maxRows` of the given rows. */
export const createToolContext = (rowsOf: (statement: string) => Rows): ToolContext => {
  const toolRows: ToolRows = async ({ hostKey, statement, parameters = {}, maxRows }) => {
    const rows = rowsOf(statement).slice(0, maxRows)
    const evidence = { hostKey, statement, parameters, atMs: 0, rows: rows.length, rowHash: '0'.repeat(64) }
    return { rows, evidence, incomplete: null }
  }
  return {
    // Tools that read rows call nothing else.
    query: { toolRows } as ToolContext['query'],
    report: {} as ToolContext['report'],
    hosts: async () => [{ id: 0, key: 'one', name: 'one', host: 'one', group: null, tags: [] }],
    clock: systemClock,
    call: {
      identity: { kind: 'user', subject: 'tester', features: 'all' },
      deadline: 30_000,
      signal: new AbortController().signal,
      priority: 'person',
    },
    fullStatements: false,
  }
}
