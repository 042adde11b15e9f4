import { describe, expect, it } from 'vitest'
import { accountOf, allowedHostsOf, grantOf, roleOf, whereOf, readOnlyReasonIn } from './accounts.ts'

describe('users, roles and grants', () => {
  it('are parsed from table rows', () => {
    const row = { name: 'ada', storage: 'local_directory', auth_types: ['sha256'], addresses: ['::/0'], hosts: ['db'] }
    expect(accountOf({ ...row, all_roles: 1, roles: ['reader'] })).toEqual({
      name: 'ada',
      storage: 'local_directory',
      authentication: 'sha256',
      addresses: ['anywhere', 'db'],
      hasAllRoles: true,
      roles: ['reader'],
    })
    expect(roleOf({ name: 'reader', storage: 's', users: ['ada'], roles: null })).toEqual({
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
    expect(whereOf(grantOf({ grantee: 'ada', privilege: 'SELECT', ...row }))).toBe(where)
  })

  it('are read-only when defined in files', () => {
    expect(readOnlyReasonIn('users_xml')).toContain('file')
    expect(readOnlyReasonIn('local_directory')).toBeNull()
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
    expect(allowedHostsOf(typed)).toEqual(expected)
  })
})
