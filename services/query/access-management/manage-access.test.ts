import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ManagementOperation } from '#proto/management.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createCall, openTestService } from '../testing/test-service.ts'
import { sendResultRows, startHttpStub } from '../testing/stub-host.ts'
import { buildManagementStatement } from './manage-access.ts'

const password = { hash: 'a'.repeat(64), salt: 'b'.repeat(32) }
const odd = 'o`d\'d"\\ -- ;'
const onTable = { privilege: 'SELECT', database: 'shop', table: 'orders', to: 'ada' }

const operations: [object, string][] = [
  [
    { operation: 'create_user', params: { user: 'ada', password } },
    `CREATE USER \`ada\` IDENTIFIED WITH sha256_hash BY '${password.hash}' SALT '${password.salt}'`,
  ],
  [
    {
      operation: 'create_user',
      params: {
        user: odd,
        password,
        allowedHosts: [{ kind: 'ip', value: '10.0.0.0/8' }, { kind: 'name', value: 'db.example' }, { kind: 'local' }],
        defaultRoles: ['reader'],
      },
    },
    `CREATE USER \`o\\\`d'd"\\\\ -- ;\` IDENTIFIED WITH sha256_hash BY '${password.hash}' SALT '${password.salt}' HOST IP '10.0.0.0/8', NAME 'db.example', LOCAL DEFAULT ROLE \`reader\``,
  ],
  [{ operation: 'alter_user', params: { user: 'ada', allowedHosts: [] } }, 'ALTER USER `ada` HOST ANY'],
  [{ operation: 'alter_user', params: { user: 'ada', defaultRoles: [] } }, 'ALTER USER `ada` DEFAULT ROLE NONE'],
  [{ operation: 'drop_user', params: { user: 'ada' } }, 'DROP USER `ada`'],
  [{ operation: 'create_role', params: { role: 'reader' } }, 'CREATE ROLE `reader`'],
  [{ operation: 'drop_role', params: { role: 'reader' } }, 'DROP ROLE `reader`'],
  [
    { operation: 'grant_role', params: { role: 'reader', to: 'ada', adminOption: true } },
    'GRANT `reader` TO `ada` WITH ADMIN OPTION',
  ],
  [{ operation: 'revoke_role', params: { role: 'reader', to: 'ada' } }, 'REVOKE `reader` FROM `ada`'],
  [
    { operation: 'grant_privilege', params: { ...onTable, columns: ['id'], grantOption: true } },
    'GRANT SELECT(`id`) ON `shop`.`orders` TO `ada` WITH GRANT OPTION',
  ],
  [
    { operation: 'revoke_privilege', params: { ...onTable, privilege: 'alter update', database: null, table: null } },
    'REVOKE ALTER UPDATE ON *.* FROM `ada`',
  ],
]

describe('the statement of an operation', () => {
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await startSandbox()
  }, 180_000)
  afterAll(() => sandbox?.[Symbol.asyncDispose]())

  it.each(operations)('%j is parsed correctly by the engine', async (given, sql) => {
    const statement = buildManagementStatement(ManagementOperation.parse(given))
    expect(statement).toBe(sql)
    const answer = await fetch(sandbox.url, { method: 'POST', body: `EXPLAIN AST ${statement}` })
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching(/user|role|grant/i)])
  })

  it.each([
    [{ operation: 'drop_table', params: {} }],
    [{ operation: 'alter_user', params: { user: 'ada' } }],
    [{ operation: 'create_user', params: { user: 'ada', password: { hash: "'", salt: 'b'.repeat(32) } } }],
    [{ operation: 'create_user', params: { user: 'ada', password, allowedHosts: [{ kind: 'ip', value: "1' " }] } }],
    [{ operation: 'grant_privilege', params: { ...onTable, privilege: 'SELECT ON *.* TO eve; --' } }],
    [{ operation: 'grant_privilege', params: { ...onTable, columns: [''] } }],
    [{ operation: 'drop_user', params: { user: 'ada', cluster: 'x' } }],
  ])('is not made of %j', (given) => {
    expect(ManagementOperation.safeParse(given).success).toBe(false)
  })
})

/** Starts a host with the user `ada`, the role `reader` and the privilege SELECT. It records changes. */
const startManagedHost = async () => {
  const changes: { sql: string; readonly: string | null }[] = []
  const host = await startHttpStub(({ sql, url }, response) => {
    if (!sql.startsWith('SELECT')) {
      changes.push({ sql, readonly: url.searchParams.get('readonly') })
      response.end()
      return
    }
    const requested = new Set([...url.searchParams].map(([, value]) => value))
    const known = [
      ['user', 'ada'],
      ['role', 'reader'],
      ['privilege', 'SELECT'],
    ]
    sendResultRows(
      response,
      known.filter(([, name]) => requested.has(name ?? '')),
      ['kind', 'name'],
    )
  })
  return { changes, host }
}

describe('an operation on a host', () => {
  const enabled = { COLUMNDB_MANAGEMENT_ENABLED: 'true', COLUMNDB_NAME: 'db' }
  const manage = async (given: object, env: Record<string, string> = enabled) => {
    const { changes, host } = await startManagedHost()
    await using stub = host
    await using parts = await openTestService({ COLUMNDB_HOST: stub.url, ...env })
    const outcome = parts.handlers.manage({ hostKey: 'db', management: ManagementOperation.parse(given) }, createCall())
    return { outcome: await outcome.then(({ ddl }) => ddl).catch((error: unknown) => error), changes }
  }

  it('is sent when it matches the current state, and returned without secrets', async () => {
    const { outcome, changes } = await manage({ operation: 'alter_user', params: { user: 'ada', password } })
    expect(outcome).toBe("ALTER USER `ada` IDENTIFIED WITH sha256_hash BY '[HIDDEN]' SALT '[HIDDEN]'")
    expect(changes).toEqual([{ sql: expect.stringContaining(password.hash), readonly: null }])
  })

  it.each([
    [
      { operation: 'create_user', params: { user: 'ada', password } },
      'conflict',
      'the user "ada" already exists on host db',
    ],
    [
      { operation: 'create_role', params: { role: 'reader' } },
      'conflict',
      'the role "reader" already exists on host db',
    ],
    [{ operation: 'drop_user', params: { user: 'eve' } }, 'not-found', 'unknown user "eve" on host db'],
    [
      { operation: 'grant_role', params: { role: 'writer', to: 'ada' } },
      'not-found',
      'unknown role "writer" on host db',
    ],
    [
      { operation: 'create_user', params: { user: 'eve', password, defaultRoles: ['reader', 'writer'] } },
      'not-found',
      'unknown role "writer" on host db',
    ],
    [
      { operation: 'alter_user', params: { user: 'ada', defaultRoles: ['ada'] } },
      'not-found',
      'unknown role "ada" on host db',
    ],
    [
      { operation: 'grant_role', params: { role: 'reader', to: 'eve' } },
      'not-found',
      'unknown user or role "eve" on host db',
    ],
    [
      { operation: 'grant_privilege', params: { ...onTable, privilege: 'EAT' } },
      'invalid',
      'unknown privilege "EAT" on host db; see system.privileges',
    ],
  ])('%j is refused', async (given, code, message) => {
    const { outcome, changes } = await manage(given)
    expect(outcome).toMatchObject({ code, message })
    expect(changes).toEqual([])
  })

  it('grants existing roles to a user', async () => {
    const { changes } = await manage({ operation: 'alter_user', params: { user: 'ada', defaultRoles: ['reader'] } })
    expect(changes).toHaveLength(1)
  })

  it('fails with an explanation if the host stores users in files only', async () => {
    await using box = await startSandbox()
    await using parts = await openTestService({ ...enabled, COLUMNDB_HOST: box.url })
    const manage = (given: object) =>
      parts.handlers.manage({ hostKey: 'db', management: ManagementOperation.parse(given) }, createCall())
    await expect(manage({ operation: 'create_role', params: { role: 'reader' } })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('user_directories'),
    })
    const params = { user: 'eve', password, defaultRoles: [odd, 'reader'] }
    await expect(manage({ operation: 'create_user', params })).rejects.toMatchObject({
      code: 'not-found',
      message: `unknown role "${odd}" on host db`,
    })
  }, 180_000)

  it.each(['', 'TRUE', '1', 'yes', 'on'])('is forbidden when COLUMNDB_MANAGEMENT_ENABLED is %j', async (value) => {
    const env = { COLUMNDB_NAME: 'db', COLUMNDB_MANAGEMENT_ENABLED: value }
    const { outcome, changes } = await manage({ operation: 'drop_user', params: { user: 'ada' } }, env)
    expect(outcome).toMatchObject({ code: 'forbidden' })
    expect(changes).toEqual([])
  })
})
