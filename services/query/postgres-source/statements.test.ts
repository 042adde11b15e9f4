import { describe, expect, it } from 'vitest'
import { resolveStatementsView } from './statements.ts'

const there = { database: 'shop', isLoaded: true, schema: 'public', version: '1.10' }
const gone = { schema: null, version: null }
const create = 'In the database shop, as a superuser: CREATE EXTENSION pg_stat_statements'
const loading = [expect.stringContaining('shared_preload_libraries'), 'Restart the server.']

describe('pg_stat_statements', () => {
  it.each([
    ['is neither loaded nor set up', { ...there, ...gone, isLoaded: false }, 'missing-table', [...loading, create]],
    ['is set up but not loaded', { ...there, isLoaded: false }, 'missing-table', loading],
    ['is loaded but not set up', { ...there, ...gone }, 'missing-table', [create]],
    [
      'is too old',
      { ...there, version: '1.7' },
      'version',
      ['In the database shop, as a superuser: ALTER EXTENSION pg_stat_statements UPDATE'],
    ],
  ])('returns setup steps when it %s', (_case, extension, reason, steps) => {
    expect(resolveStatementsView(extension)).toMatchObject({ view: null, unavailable: { reason, steps } })
  })

  it.each([
    ['1.8', false],
    ['1.9', true],
    ['1.12', true],
    ['2.0', true],
  ])('is read in version %s, which reports resets: %j', (version, remembersReset) => {
    expect(resolveStatementsView({ ...there, version })).toEqual({
      view: { schema: 'public', remembersReset },
      unavailable: null,
    })
  })
})
