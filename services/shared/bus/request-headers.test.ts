import { expect, it } from 'vitest'
import { createProbeCall } from './conformance/probe.suite.ts'
import { createRequestHeaders, readRequestHeaders } from './request-headers.ts'

it('sends the remaining time, so that the clocks of two machines may differ', () => {
  const headers = createRequestHeaders(createProbeCall({ deadline: 0 }), 1_500)
  expect(readRequestHeaders(headers, 1_000_000).deadline).toBe(1_001_500)
})

it('treats an unknown priority as that of a sweep', () => {
  const headers = { ...createRequestHeaders(createProbeCall(), 1), priority: 'robot' }
  expect(readRequestHeaders(headers, 0).priority).toBe('sweep')
})

it.each([
  ['identity', undefined],
  ['identity', '{'],
  ['identity', '{"kind":"god","subject":"a","features":"all"}'],
  ['time-left-ms', undefined],
  ['time-left-ms', 'soon'],
])('rejects a request whose %s is %s', (name, value) => {
  const { [name]: _removed, ...rest } = createRequestHeaders(createProbeCall(), 1)
  const headers = value === undefined ? rest : { ...rest, [name]: value }
  expect(() => readRequestHeaders(headers, 0)).toThrow()
})

it('includes the user connections of the caller, by host key', () => {
  const connection = { key: 'user:owner:id', name: 'Größe', sealed: 'sealed' }
  const headers = createRequestHeaders(createProbeCall({ connections: new Map([[connection.key, connection]]) }), 1)
  expect(readRequestHeaders(headers, 0).connections).toEqual(new Map([[connection.key, connection]]))
  expect(createRequestHeaders(createProbeCall({ connections: new Map() }), 1)).not.toHaveProperty('connections')
})
