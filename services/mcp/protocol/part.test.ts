import { expect, it } from 'vitest'
import { partOf } from './part.ts'

it.each<[unknown, ReturnType<typeof partOf>]>([
  [
    { method: 'tools/call', params: { name: 'query' } },
    { kind: 'tool', name: 'query' },
  ],
  [{ method: 'tools/call', params: { name: 7 } }, { kind: 'all' }],
  [{ method: 'tools/call' }, { kind: 'all' }],
  [{ method: 'tools/list', params: { cursor: 'x' } }, { kind: 'tools' }],
  [{ method: 'resources/templates/list' }, { kind: 'resources' }],
  [{ method: 'prompts/get', params: { name: 'health-check' } }, { kind: 'prompts' }],
  [{ method: 'completion/complete', params: {} }, { kind: 'all' }],
  [{ method: 'server/discover' }, { kind: 'all' }],
  [[{ method: 'tools/list' }], { kind: 'all' }],
  [null, { kind: 'all' }],
  [undefined, { kind: 'all' }],
])('%j asks for %j', (message, part) => {
  expect(partOf(message)).toEqual(part)
})
