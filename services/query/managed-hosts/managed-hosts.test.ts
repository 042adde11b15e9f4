import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hostRights } from '#proto/managed-hosts.ts'
import { encryptForTransit } from '#shared/seal/transit.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'
import { sendResultRows, startHttpStub } from '../testing/stub-host.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchhouse-managed-hosts-'))
})
afterAll(() => rm(directory, { recursive: true }))

const configured = { COLUMNDB_HOST: 'http://127.0.0.1:9', COLUMNDB_NAME: 'first' }
const createEnv = (name: string, more: Record<string, string> = {}) => ({
  ...configured,
  SVC_ALLOW_PRIVATE_HOSTS: 'true',
  SVC_STATE_DB_URL: `file:${directory}/${name}.db`,
  SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'the key of the operator',
  ...more,
})
const idOf = (letter: string) => letter.repeat(22)
const startHost = () =>
  startHttpStub(({ sql }, response) => {
    if (sql.includes('uptime()')) return sendResultRows(response, [['25.8.1.1', 60, 'machine', 'UTC', '0']])
    response.writeHead(500).end()
  })

interface AddOptions {
  id?: string
  label?: string
  isUncheckedAllowed?: boolean
  isCallerLocal?: boolean
}

const encrypt = async ({ handlers }: TestService, url: string) => {
  const { key } = await handlers.managedHostSetup({}, createCall())
  return encryptForTransit(key, { url, user: 'ada', password: 'very secret' })
}
const add = async (parts: TestService, url: string, options: AddOptions = {}) => {
  const { id = idOf('a'), label = 'own', isUncheckedAllowed = false, isCallerLocal = false } = options
  const encryptedTarget = await encrypt(parts, url)
  const input = { id, label, group: 'eu', tags: ['hot'], encryptedTarget, isCallerLocal, isUncheckedAllowed }
  return parts.handlers.addHost(input, createCall())
}
const labels = ({ hosts }: TestService) => hosts.list().map(({ id, name }) => `${id} ${name}`)

describe('an added host', () => {
  it('follows the configured hosts, is stored encrypted and survives a restart', async () => {
    await using host = await startHost()
    const env = createEnv('restart')
    {
      await using parts = await openTestService(env)
      expect(await add(parts, host.url)).toEqual({ hostId: 1, host: new URL(host.url).host })
      expect(await parts.handlers.hosts({}, createCall())).toMatchObject([
        { id: 0, name: 'first' },
        { id: 1, key: 'own', name: 'own', group: 'eu', tags: ['hot'], managedId: idOf('a') },
      ])
      expect(parts.hosts.get('own')).toMatchObject({ user: 'ada', password: 'very secret' })
    }
    for (const suffix of ['', '-wal']) {
      const text = await readFile(`${directory}/restart.db${suffix}`, 'latin1').catch(() => '')
      expect(text).not.toMatch(/very secret|"ada"/)
    }
    await using again = await openTestService(env)
    expect(labels(again)).toEqual(['0 first', '1 own'])
    expect(again.hosts.get('own')).toMatchObject({ password: 'very secret' })
  })

  it('is noticed, changed and removed by another process', async () => {
    await using host = await startHost()
    await using other = await startHost()
    const env = createEnv('processes')
    await using parts = await openTestService(env)
    await using second = await openTestService(env)
    await add(parts, host.url)
    await expect.poll(() => labels(second)).toEqual(['0 first', '1 own'])
    const same = parts.hosts.get('own')
    await add(parts, other.url, { id: idOf('b'), label: 'other' })
    // An unchanged host stays the same object, because caches use it as their key.
    expect(parts.hosts.get('own')).toBe(same)
    await expect.poll(() => labels(second)).toEqual(['0 first', '1 own', '2 other'])

    const change = { id: idOf('a'), label: 'renamed', group: null, tags: [], isCallerLocal: false }
    await second.handlers.changeHost({ ...change, isUncheckedAllowed: false }, createCall())
    await expect.poll(() => labels(parts)).toEqual(['0 first', '1 renamed', '2 other'])
    expect(parts.hosts.get('renamed')).toMatchObject({ user: 'ada', password: 'very secret' })

    expect(await parts.handlers.removeHost({ id: idOf('a') }, createCall())).toEqual({ label: 'renamed' })
    await expect.poll(() => labels(second)).toEqual(['0 first', '1 other'])
    await expect(second.handlers.removeHost({ id: idOf('a') }, createCall())).rejects.toMatchObject({
      code: 'not-found',
    })
  })

  it('is rejected with a used label or URL', async () => {
    await using host = await startHost()
    await using parts = await openTestService(createEnv('used'))
    await add(parts, host.url)
    const again = { id: idOf('b') }
    await expect(add(parts, 'http://127.0.0.1:1', { ...again, label: 'first' })).rejects.toMatchObject({
      code: 'conflict',
      message: 'label "first" is used by another host; choose another label',
    })
    await expect(add(parts, `${host.url}/`, { ...again, label: 'other' })).rejects.toMatchObject({
      code: 'conflict',
      message: 'url is already monitored as "own"',
    })
  })

  it('is saved without a connection only after a confirmation', async () => {
    await using parts = await openTestService(createEnv('unreachable'))
    const url = 'http://127.0.0.1:1'
    await expect(add(parts, url)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('nothing listens on its port'),
      details: { reason: 'unreachable' },
    })
    expect(labels(parts)).toEqual(['0 first'])
    expect(await add(parts, url, { isUncheckedAllowed: true })).toMatchObject({ hostId: 1 })
  })

  it('is shown with the reason if the encryption key was replaced', async () => {
    await using host = await startHost()
    {
      await using parts = await openTestService(createEnv('key'))
      await add(parts, host.url)
    }
    const env = createEnv('key', { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'another key of the operator' })
    await using parts = await openTestService(env)
    expect(labels(parts)).toEqual(['0 first', '1 own'])
    await expect(parts.handlers.overview({ hostKey: 'own' }, createCall())).rejects.toThrow(
      'cannot be decrypted with the current key',
    )
  })

  it('needs a database and an encryption key', async () => {
    await using withoutDatabase = await openTestService(configured)
    const { problem } = await withoutDatabase.handlers.managedHostSetup({}, createCall())
    expect(problem).toContain('SVC_DATA_DIRECTORY')
    const { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: _key, ...env } = createEnv('no-key')
    await using withoutKey = await openTestService(env)
    await expect(add(withoutKey, 'http://127.0.0.1:1')).rejects.toMatchObject({
      code: 'not-implemented',
      message: expect.stringContaining('SVC_USER_CONNECTIONS_ENCRYPTION_KEY'),
    })
  })
})

describe('a private address', () => {
  const local = { SVC_DATA_DIRECTORY: '/var/lib/watchhouse' }
  const check = async (parts: TestService, url: string, isCallerLocal: boolean) =>
    parts.handlers.checkHost({ encryptedTarget: await encrypt(parts, url), isCallerLocal }, createCall())

  it.each([
    ['from another machine', local, false],
    ['without a data directory', {}, true],
    ['in cloud mode', { ...local, SVC_CLOUD_MODE: 'true' }, true],
    ['with several processes', { ...local, NATS_URL: 'nats://bus' }, true],
  ])('is rejected %s', async (_where, env, isCallerLocal) => {
    await using host = await startHost()
    await using parts = await openTestService({ ...configured, ...env })
    await expect(check(parts, host.url, isCallerLocal)).rejects.toThrow('may connect to')
    expect(host.most).toBe(0)
  })

  it('is allowed for callers on this machine, also for their own connections, except metadata services', async () => {
    await using host = await startHost()
    await using parts = await openTestService({ ...configured, ...local })
    expect(await check(parts, host.url, true)).toMatchObject({
      ok: true,
      version: '25.8.1.1',
      rights: hostRights.map((right) => ({ right, isGranted: true })),
    })
    const target = { url: host.url, user: 'ada', password: '' }
    const { handlers } = parts
    expect(await handlers.testConnection({ target, isCallerLocal: true }, createCall())).toMatchObject({ ok: true })
    await expect(check(parts, 'http://169.254.169.254', true)).rejects.toThrow('may connect to')
  })
})
