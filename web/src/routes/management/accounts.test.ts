import { describe, expect, it } from 'vitest'
import {
  toDatabaseUser,
  parseAllowedHosts,
  toGrant,
  toRole,
  formatGrantTarget,
  findReadOnlyReason,
} from './accounts.ts'

describe('users, roles and grants', () => {
  it('are parsed from table rows', () => {
    const row = { name: 'ada', storage: 'local_directory', auth_types: ['sha256'], addresses: ['::/0'], hosts: ['db'] }
    expect(toDatabaseUser({ ...row, all_roles: 1, roles: ['reader'] })).toEqual({
      name: 'ada',
      storage: 'local_directory',
      authentication: 'sha256',
      addresses: ['anywhere', 'db'],
      hasAllRoles: true,
      roles: ['reader'],
    })
    expect(toRole({ name: 'reader', storage: 's', users: ['ada'], roles: null })).toEqual({
      name: 'reader',
      storage: 's',
      users: ['ada'],
      roles: [],
    })
  })

  it.each([
    [{ database: 'shop', table: 'orders', column: 'id' }, 'shop.orders (id)'],
    [{ database: 'shop', table: null, column: '' }, 'shop.*'],
    [{}, '*.*'],
  ])('format the target of %j as %s', (row, where) => {
    expect(formatGrantTarget(toGrant({ grantee: 'ada', privilege: 'SELECT', ...row }))).toBe(where)
  })

  it('are read-only when defined in files', () => {
    expect(findReadOnlyReason('users_xml')).toContain('file')
    expect(findReadOnlyReason('local_directory')).toBeNull()
  })
})

describe('allowed hosts', () => {
  it.each([
    ['', []],
    [
      '10.0.0.0/8, ::1',
      [
        { kind: 'ip', value: '10.0.0.0/8' },
        { kind: 'ip', value: '::1' },
      ],
    ],
    ['db.example, local', [{ kind: 'name', value: 'db.example' }, { kind: 'local' }]],
  ])('are parsed from %j', (typed, expected) => {
    expect(parseAllowedHosts(typed)).toEqual(expected)
  })
})
