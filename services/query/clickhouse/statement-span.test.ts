import { expect, it } from 'vitest'
import { traceHeaders } from './statement.ts'
import { summarizeStatement } from './statement-span.ts'

it.each([
  ['SELECT 1', 'SELECT', 'SELECT'],
  ["SELECT a FROM db.t AS x JOIN `other db`.u USING (id) WHERE a = 'secret'", 'SELECT', 'SELECT db.t other db.u'],
  ['WITH n AS (SELECT 1) SELECT * FROM n, (SELECT 2 FROM system.one)', 'SELECT', 'SELECT n system.one'],
  ['SELECT * FROM numbers(4711)', 'SELECT', 'SELECT numbers'],
  ["SELECT 'not ended", 'UNKNOWN', 'UNKNOWN'],
])('summarizes %s without values', (sql, operation, summary) => {
  expect(summarizeStatement(sql)).toEqual({ operation, summary })
})

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

it.each([
  [undefined, {}],
  // A header without a value fails a request.
  [{ traceparent, tracestate: '' }, { traceparent }],
  [
    { traceparent, tracestate: 'a=b' },
    { traceparent, tracestate: 'a=b' },
  ],
])('sends the trace context %j as headers', (trace, headers) => {
  expect(traceHeaders({ trace })).toStrictEqual(headers)
})
