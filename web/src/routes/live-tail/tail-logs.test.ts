import { describe, expect, it } from 'vitest'
import { splitHighlights } from './highlight-text.ts'
import { tailLogs, toTableFilters, toTailLine } from './tail-logs.ts'

const [queries, server] = tailLogs
if (!queries || !server) throw new Error('two logs can be followed')

describe('a followed log', () => {
  it('is filtered by the selected columns', () => {
    expect(toTableFilters(queries, { user: 'ada', kind: 'Select', level: 'Error' })).toEqual([
      'user.contains.ada',
      'kind.in.Select',
    ])
    const [, , errors] = server.filters.find(({ name }) => name === 'level')?.choices ?? []
    expect(toTableFilters(server, { level: errors?.value ?? '' })).toEqual(['level.in.Fatal,Critical,Error'])
  })

  it('shows outcomes of queries, and levels of lines', () => {
    const row = { time: 5, type: 'ExceptionWhileProcessing', query_id: 'q', user: 'ada', query: 'SELECT 1' }
    expect(toTailLine(queries, { ...row, exception: 'Code: 241' })).toMatchObject({ word: 'Failed', status: 'failed' })
    expect(toTailLine(queries, { ...row, exception: 'Code: 394. (QUERY_WAS_CANCELLED)' }).word).toBe('Cancelled')
    expect(toTailLine(server, { time: 5, level: 'Critical', message: 'm', logger: 'l' })).toEqual({
      timeMs: 5,
      word: 'Critical',
      status: 'failed',
      origin: 'l',
      text: 'm',
      detail: '',
      queryId: '',
    })
  })
})

it('finds highlighted words regardless of case', () => {
  expect(splitHighlights('Error in error', 'ERROR')).toEqual([
    { text: 'Error', isMatch: true },
    { text: ' in ', isMatch: false },
    { text: 'error', isMatch: true },
  ])
  expect(
    splitHighlights('İ error', 'error')
      .map(({ text }) => text)
      .join(''),
  ).toBe('İ error')
  expect(splitHighlights('', 'x')).toEqual([{ text: '', isMatch: false }])
})
