import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith, startNats, startPostgres, startRedis } from '../testing/describe-with.ts'
import { reserveFreePort } from '../testing/servers/port.ts'

const root = join(import.meta.dirname, '../..')
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchhouse-check-config-'))
})
afterAll(() => rm(folder, { recursive: true }))

const check = (...given: string[]) => checkWith({}, ...given)
const checkWith = (variables: Record<string, string>, ...given: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['services/main.ts', 'check-config', ...given], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...variables },
  })
  return { status, stdout, stderr }
}

it('prints every problem of a folder of alert definitions and exits 1', async () => {
  await writeFile(join(folder, 'digest.yaml'), 'enabled: true\nwindowMinutes: 9999\n')
  await writeFile(
    join(folder, 'routing.yaml'),
    'routes: [{ id: a, target: "" }, { id: b, target: webhook, to: hunter2 }]\n',
  )
  const { status, stdout, stderr } = check(folder)
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr.split('\n')).toEqual([
    'digest.yaml: windowMinutes must be at most 1440',
    'routing.yaml: routes[0]: target must not be empty',
    'routing.yaml: routes[1]: to is unknown',
    '',
  ])
})

it('exits 0 without problems', async () => {
  await rm(join(folder, 'routing.yaml'))
  await writeFile(join(folder, 'digest.yaml'), 'enabled: true\nwindowMinutes: 15\n')
  expect(check(folder)).toEqual({ status: 0, stdout: 'digest.yaml: valid\n', stderr: '' })
})

it('names each configured server that cannot be used, with the reason, on request', async () => {
  const file = join(folder, 'folder.db')
  await mkdir(file)
  const variables = {
    SVC_STATE_DB_URL: `file:${file}`,
    NATS_URL: `nats://watchhouse:marked@127.0.0.1:${await reserveFreePort()}`,
  }
  expect(checkWith(variables, folder)).toMatchObject({ status: 0 })
  const { status, stderr } = checkWith(variables, '--connect', folder)
  expect(status).toBe(1)
  expect(stderr).toContain('digest.yaml: valid\n')
  expect(stderr).toContain(`state database "${file}": is a folder; name a file in it\n`)
  expect(stderr).toMatch(
    /^cannot connect to NATS at 127\.0\.0\.1:\d+: connection refused; check that the server is running .*$/m,
  )
  expect(stderr).not.toContain('marked')
  expect(checkWith({ NATS_URL: 'mail' }, '--connect')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^NATS_URL: .*\n$/),
  })
})

it('prints one line about an early failure, and its stack on request', async () => {
  const preload = join(folder, 'broken.mjs')
  await writeFile(preload, brokenEnvironment)
  const variables = { NODE_OPTIONS: `--import=${preload}` }
  expect(checkWith(variables, folder)).toEqual({
    status: 1,
    stdout: '',
    stderr:
      'watchhouse stopped by an error: Error: cannot read postgres://[hidden]@db; set LOG_LEVEL=debug for its stack trace\n',
  })
  const verbose = checkWith({ ...variables, LOG_LEVEL: 'debug' }, folder)
  expect(verbose.stderr).toContain('main.ts:')
  expect(verbose.stderr).not.toContain('marked')
})

/** A module that makes the first enumeration of the environment throw an error with a secret. */
const brokenEnvironment = `
  const whole = process.env
  const ownKeys = () => {
    process.env = whole
    throw new Error('cannot read postgres://watchhouse:marked@db')
  }
  process.env = new Proxy(whole, { ownKeys })
`

describeWith(['nats', 'redis', 'postgres'], 'check-config with servers', () => {
  it('exits 0 when all of them can be used', { tags: ['long'] }, async () => {
    await using nats = await startNats({ private: true })
    await using redis = await startRedis({ private: true })
    await using postgres = await startPostgres()
    const variables = { NATS_URL: nats.url, REDIS_URL: redis.url, SVC_STATE_DB_URL: postgres.url }
    const { status, stdout, stderr } = checkWith(variables, '--connect')
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/^state database ".*": connected$/),
      expect.stringMatching(/^Redis ".*": connected$/),
      expect.stringMatching(/^NATS server ".*": connected$/),
    ])
  })
})

it('exits 2 without a folder', () => {
  expect(check()).toMatchObject({ status: 2, stderr: expect.stringContaining('takes one folder') })
})
