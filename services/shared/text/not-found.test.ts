import { expect, it } from 'vitest'
import { findNearestNames, createNotFoundError } from './not-found.ts'

const known = ['query-count', 'merge-count', 'Query-Kinds', 'disk-size']

it.each([
  ['query-cout', 'unknown chart "query-cout"; did you mean "query-count"?'],
  ['QUERY-COUNT', 'unknown chart "QUERY-COUNT"; did you mean "query-count"?'],
  ['query-kinds', 'unknown chart "query-kinds"; did you mean "Query-Kinds"?'],
  ['zzz', 'unknown chart "zzz"'],
])('%s is rejected with suggestions', (name, message) => {
  expect(createNotFoundError('chart', name, known)).toMatchObject({ code: 'not-found', message })
})

it('ranks a name that contains the given text above a short name with other letters', () => {
  const pages = [
    'grants',
    'users',
    'merges',
    'part-log',
    'detached_parts',
    'recent-queries',
    'slow-queries',
    'replicas',
  ]
  expect(findNearestNames('part', pages)[0]).toBe('part-log')
  expect(findNearestNames('Queries', pages)[0]).toBe('slow-queries')
  expect(findNearestNames('slow-query', ['slow-query-patterns', ...pages])[0]).toBe('slow-queries')
})
