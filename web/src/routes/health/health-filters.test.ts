import { describe, expect, it } from 'vitest'
import { containsSearchText, readHealthFilters, readScope, formatDiagnosedCondition } from './health-filters.ts'

const read = (search: string) => readHealthFilters(new URLSearchParams(search))

describe('filters in the URL', () => {
  it('have defaults', () => {
    expect(read('')).toEqual({ search: '', status: 'all', day: null, kind: null, diagnosed: null })
  })

  it('are parsed, and ignored if invalid', () => {
    expect(read('status=unknown&day=2026-06-01&kind=fire&search=disk')).toMatchObject({
      status: 'unknown',
      day: '2026-06-01',
      kind: 'fire',
      search: 'disk',
    })
    expect(read('status=purple&day=yesterday&diagnose=x')).toMatchObject({ status: 'all', day: null, diagnosed: null })
  })

  it('contain the diagnosed condition with any rule id', () => {
    const ruleId = 'custom:too.many-1f'
    const search = new URLSearchParams({ diagnose: formatDiagnosedCondition(3, ruleId) })
    expect(readHealthFilters(search).diagnosed).toEqual({ host: 3, ruleId })
  })
})

describe('scope', () => {
  it.each([
    ['host=2', 2],
    ['host=2&hosts=all', 'all'],
    ['', 'all'],
  ])('of %s is %s', (search, scope) => {
    expect(readScope(new URLSearchParams(search), 2)).toBe(scope)
  })
})

describe('search', () => {
  it('matches any part case-insensitively, and everything when empty', () => {
    expect(containsSearchText('DISK', [null, 'a disk is full'])).toBe(true)
    expect(containsSearchText('disk', ['memory', null])).toBe(false)
    expect(containsSearchText(' ', [])).toBe(true)
  })
})
