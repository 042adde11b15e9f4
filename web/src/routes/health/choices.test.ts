import { describe, expect, it } from 'vitest'
import { matches, readChoices, readScope, writeDiagnosed } from './choices.ts'

const read = (search: string) => readChoices(new URLSearchParams(search))

describe('the choices in the URL', () => {
  it('are none by themselves', () => {
    expect(read('')).toEqual({ search: '', status: 'all', day: null, kind: null, diagnosed: null })
  })

  it('are read when they can be understood, and left out otherwise', () => {
    expect(read('status=unknown&day=2026-06-01&kind=fire&search=disk')).toMatchObject({
      status: 'unknown',
      day: '2026-06-01',
      kind: 'fire',
      search: 'disk',
    })
    expect(read('status=purple&day=yesterday&diagnose=x')).toMatchObject({ status: 'all', day: null, diagnosed: null })
  })

  it('name what is diagnosed, whatever its id', () => {
    const ruleId = 'custom:too.many-1f'
    const search = new URLSearchParams({ diagnose: writeDiagnosed(3, ruleId) })
    expect(readChoices(search).diagnosed).toEqual({ host: 3, ruleId })
  })
})

describe('whose health is shown', () => {
  it.each([
    ['host=2', 2],
    ['host=2&hosts=all', 'all'],
    ['', 'all'],
  ])('by %s is %s', (search, scope) => {
    expect(readScope(new URLSearchParams(search), 2)).toBe(scope)
  })
})

describe('a search', () => {
  it('finds parts of any text in whatever case, and everything when it is empty', () => {
    expect(matches('DISK', [null, 'a disk is full'])).toBe(true)
    expect(matches('disk', ['memory', null])).toBe(false)
    expect(matches(' ', [])).toBe(true)
  })
})
