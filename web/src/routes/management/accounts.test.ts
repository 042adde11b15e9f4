import { describe, expect, it } from 'vitest'
import { accountOf, allowedHostsOf, grantOf, roleOf, whereOf, whyFixedIn } from './accounts.ts'

describe('users, roles and grants', () => {
  it('are read from the rows of their pages', () => {
    const row = { name: 'ada', storage: 'local_directory', auth_types: ['sha256'], addresses: ['::/0'], hosts: ['db'] }
    expect(accountOf({ ...row, all_roles: 1, roles: ['reader'] })).toEqual({
      name: 'ada',
      storage: 'local_directory',
      provesBy: 'sha256',
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
  ])('are about %j, which is %s', (row, where) => {
    expect(whereOf(grantOf({ grantee: 'ada', privilege: 'SELECT', ...row }))).toBe(where)
  })

  it('cannot be changed where they stand in files', () => {
    expect(whyFixedIn('users_xml')).toContain('file')
    expect(whyFixedIn('local_directory')).toBeNull()
  })
})

describe('where somebody may come from', () => {
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
  ])('is read from %j', (typed, expected) => {
    expect(allowedHostsOf(typed)).toEqual(expected)
  })
})
