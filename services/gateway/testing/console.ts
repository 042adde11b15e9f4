import type { consoleMethods } from '#proto/console.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { StatementFacts } from '#proto/query.ts'

const columns = [
  { name: 'id', type: 'UInt64' },
  { name: 'text', type: 'String' },
]
const statement: StatementFacts = {
  queryId: 'q2',
  durationMs: 3,
  rows: 2,
  rowsRead: 20,
  bytesRead: 200,
  host: 'analytics',
  clickhouseVersion: '26.3.1',
  sql: 'SELECT id, text FROM t',
  timezone: null,
}
const truncated = { reason: 'rows' as const, limit: 2, returned: 2 }

const lines = { json: '["1","a\\nb"]\n["2","c"]\n', csv: '"id"\n1\n2\n', tsv: 'id\n1\n2\n', jsoneachrow: '{}\n{}\n' }

/** A console in which every statement has the same two rows, and one run can be cancelled. */
export const fakeConsole: Handlers<Service<typeof consoleMethods>> = {
  runQuery: async () => ({ columns, rows: [['1', 'a\nb']], truncated: null, statement }),
  streamQuery: async ({ format }) => ({
    head: { columns: format === 'json' ? columns : null },
    frames: framesOf(lines[format]),
  }),
  cancelQuery: async ({ runId }) => {
    if (runId !== 'mine') throw new ServiceError('not-found', 'no statement of yours runs under this id')
    return { cancelled: true }
  },
}

async function* framesOf(text: string) {
  yield Buffer.from(text)
  return { truncated, statement }
}
