import { expect, it } from 'vitest'
import { summarizeMessage, type RequiredFeatures } from './message-summary.ts'

it.each<[unknown, RequiredFeatures]>([
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
])('%j needs %j', (message, part) => {
  expect(summarizeMessage(message).part).toEqual(part)
})

const claim = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }

it.each<[unknown, boolean]>([
  [{ method: 'tools/call', params: { name: 'query', ...claim } }, true],
  [{ method: 'notifications/progress', params: claim }, true],
  [{ method: 'tools/call', params: { name: 'query' } }, false],
  [{ method: 'tools/call', params: { name: 'query', _meta: { progressToken: 1 } } }, false],
  [{ method: 'initialize', params: claim }, false],
  [[{ method: 'tools/list', params: claim }], false],
  [{ result: claim }, false],
  [undefined, false],
])('%j names its protocol revision: %s', (message, isModern) => {
  expect(summarizeMessage(message).isModern).toBe(isModern)
})
