import { describe, expect, it, vi } from 'vitest'
import { formatGrantsScript, passwordPlaceholder } from '#proto/grants-script.ts'
import type { HostCheck } from '#proto/managed-hosts.ts'
import { encryptForTransit } from '#shared/seal/transit.ts'
import { createCall, openTestService } from '../../query/testing/test-service.ts'
import { queryClickHouse } from '../../testing/fetch-json.ts'

vi.setConfig({ testTimeout: 120_000 })

const [url = ''] = process.env.TEST_CLICKHOUSE_REPLICAS?.split(',') ?? []
const run = (sql: string) => queryClickHouse(url, sql)
const password = "it's long"

const check = async (user: string): Promise<HostCheck> => {
  await using parts = await openTestService({ SVC_ALLOW_PRIVATE_HOSTS: 'true', COLUMNDB_DATABASE: 'kept' })
  const { key } = await parts.handlers.managedHostSetup({}, createCall())
  const encryptedTarget = await encryptForTransit(key, { url, user, password })
  return parts.handlers.checkHost({ encryptedTarget, isCallerLocal: false }, createCall())
}
const listGranted = (result: HostCheck) =>
  result.ok ? result.rights.filter(({ isGranted }) => isGranted).map(({ right }) => right) : result.message

const monitoring = ['system', 'objects', 'access', 'remote']

describe('a grants script', () => {
  it.each([
    ['for reading', { withFindings: false, withKill: false }, monitoring, 2],
    ['with findings', { withFindings: true, withKill: false }, [...monitoring, 'findings'], 0],
    ['with kill', { withFindings: false, withKill: true }, [...monitoring, 'kill-query'], 0],
    ['with both', { withFindings: true, withKill: true }, [...monitoring, 'findings', 'kill-query'], 0],
  ])('%s grants what the check of the host then finds', async (name, options, rights, readonly) => {
    const user = `watch \`${name}\``
    const [server] = await run('SELECT version() AS version')
    const version = String(server?.version)
    const script = formatGrantsScript({ user, version, database: 'kept', ...options })
    const text = script.replace(passwordPlaceholder, password.replaceAll("'", String.raw`\'`))
    for (const statement of text.split('\n').filter(Boolean)) await run(statement.replace(/;$/, ''))
    try {
      const result = await check(user)
      expect([listGranted(result), result]).toEqual([rights, expect.objectContaining({ ok: true, version, readonly })])
    } finally {
      await run(`DROP USER \`${user.replaceAll('`', '\\`')}\``)
    }
  })

  it('is needed: a user without grants has no right', async () => {
    await run(`CREATE USER OR REPLACE poor IDENTIFIED BY '${password.replaceAll("'", String.raw`\'`)}'`)
    expect(listGranted(await check('poor'))).toEqual([])
    await run('DROP USER poor')
  })
})
