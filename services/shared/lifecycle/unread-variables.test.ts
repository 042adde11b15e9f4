import { describe, expect, it } from 'vitest'
import { findUnreadVariables } from './start-problems.ts'

const known = ['SVC_AUTH_PROVIDER', 'SVC_DEVICE_LOGIN', 'COLUMNDB_TZ']

describe('an older client-prefixed name', () => {
  it.each([
    ['CLIENT_DEVICE_LOGIN', 'SVC_DEVICE_LOGIN'],
    ['CLIENT_SVC_DEVICE_LOGIN', 'SVC_DEVICE_LOGIN'],
    ['NEXT_PUBLIC_AUTH_PROVIDER', 'SVC_AUTH_PROVIDER'],
    ['VITE_COLUMNDB_TZ', 'COLUMNDB_TZ'],
    ['PUBLIC_TITLE_SHORT', 'CLIENT_TITLE_SHORT'],
    ['VITE_CLIENT_LOGO', 'CLIENT_LOGO'],
  ])('%s is reported, with %s as the name that is read', (name, instead) => {
    expect(findUnreadVariables(known, { [name]: 'text' })).toEqual([
      { name, sentence: `is no longer read; set ${instead} instead` },
    ])
  })

  it.each(['CLIENT_AUTH_PROVIDER', 'CLIENT_TITLE_SHORT', 'SVC_AUTH_PROVIDER', 'VITE_NOTHING_OF_OURS', 'CLIENT_'])(
    'is not %s',
    (name) => {
      expect(findUnreadVariables(known, { [name]: 'text' })).toEqual([])
    },
  )

  it('is reported only when it is set', () => {
    expect(findUnreadVariables(known, { VITE_COLUMNDB_TZ: '' })).toEqual([])
  })
})
