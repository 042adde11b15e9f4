import { expect, it } from 'vitest'
import { callOf } from './conformance/probe.suite.ts'
import { questionHeaders, readQuestionHeaders } from './question.ts'

it('sends the time that is left, so that the clocks of two machines may differ', () => {
  const headers = questionHeaders(callOf({ deadline: 0 }), 1_500)
  expect(readQuestionHeaders(headers, 1_000_000).deadline).toBe(1_001_500)
})

it('takes a priority of a newer release for that of a sweep', () => {
  const headers = { ...questionHeaders(callOf(), 1), priority: 'robot' }
  expect(readQuestionHeaders(headers, 0).priority).toBe('sweep')
})

it.each([
  ['identity', undefined],
  ['identity', '{'],
  ['identity', '{"kind":"god","subject":"a","features":"all"}'],
  ['time-left-ms', undefined],
  ['time-left-ms', 'soon'],
])('refuses a question whose %s is %s', (name, value) => {
  const { [name]: _removed, ...rest } = questionHeaders(callOf(), 1)
  const headers = value === undefined ? rest : { ...rest, [name]: value }
  expect(() => readQuestionHeaders(headers, 0)).toThrow()
})

it('takes along the connections that the caller brought, by their host key', () => {
  const brought = { key: 'user:owner:id', name: 'Größe', sealed: 'sealed' }
  const headers = questionHeaders(callOf({ connections: new Map([[brought.key, brought]]) }), 1)
  expect(readQuestionHeaders(headers, 0).connections).toEqual(new Map([[brought.key, brought]]))
  expect(questionHeaders(callOf({ connections: new Map() }), 1)).not.toHaveProperty('connections')
})
