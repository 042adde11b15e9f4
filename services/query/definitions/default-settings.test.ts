import { describe, expect, it } from 'vitest'
import { applyExcludedUsersDefault, resolveZone } from './parameters.ts'

const excluded = { name: 'exclude_users', type: 'String', default: '', doc: 'D.' }
const hours = { name: 'last_hours', type: 'UInt16', default: 24, doc: 'D.' }

describe('defaults from settings', () => {
  it('exclude the users of COLUMNDB_EXCLUDE_USER_DEFAULT on pages with the parameter exclude_users', () => {
    const env = { COLUMNDB_EXCLUDE_USER_DEFAULT: 'monitor, backup' }
    expect(applyExcludedUsersDefault({ parameters: [hours, excluded] }, env).parameters).toEqual([
      hours,
      { ...excluded, default: 'monitor, backup' },
    ])
    expect(applyExcludedUsersDefault({ parameters: [hours] }, env).parameters).toEqual([hours])
    expect(applyExcludedUsersDefault({ parameters: [excluded] }, {}).parameters).toEqual([excluded])
  })

  it('use COLUMNDB_TZ if the request has no time zone', () => {
    expect(resolveZone(undefined, { COLUMNDB_TZ: 'Asia/Tokyo' })).toBe('Asia/Tokyo')
    expect(resolveZone('Europe/Berlin', { COLUMNDB_TZ: 'Asia/Tokyo' })).toBe('Europe/Berlin')
    expect(resolveZone(undefined, {})).toBeUndefined()
    expect(() => resolveZone(undefined, { COLUMNDB_TZ: 'Mars/Olympus' })).toThrow(/COLUMNDB_TZ/)
  })
})
