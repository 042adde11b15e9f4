import { expect, it } from 'vitest'
import { formatTraceParent, parseTraceParent } from './span-export.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

it.each([
  ['a recorded trace', `00-${traceId}-${spanId}-01`, { traceId, spanId, flags: 1 }],
  ['a trace that is not recorded', `00-${traceId}-${spanId}-00`, { traceId, spanId, flags: 0 }],
  ['a later version with more fields', `01-${traceId}-${spanId}-01-more`, { traceId, spanId, flags: 1 }],
  ['no header', undefined, undefined],
  ['upper case', `00-${traceId.toUpperCase()}-${spanId}-01`, undefined],
  ['the forbidden version', `ff-${traceId}-${spanId}-01`, undefined],
  ['an empty trace id', `00-${'0'.repeat(32)}-${spanId}-01`, undefined],
  ['an empty span id', `00-${traceId}-${'0'.repeat(16)}-01`, undefined],
  ['a short id', `00-${traceId.slice(1)}-${spanId}-01`, undefined],
])('reads %s', (_, traceparent, expected) => {
  expect(parseTraceParent(traceparent === undefined ? undefined : { traceparent })).toEqual(expected)
})

it('formats what it parses', () => {
  expect(formatTraceParent({ traceId, spanId, flags: 1 })).toBe(`00-${traceId}-${spanId}-01`)
})
