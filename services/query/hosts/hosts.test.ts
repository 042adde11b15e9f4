import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { openHosts } from './hosts.ts'
import { openLastValidHostStore } from './truncation-guard.ts'

const recheckEveryMs = 20
let directory: string
let path: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchhouse-hosts-'))
  path = join(directory, 'hosts.yaml')
})
afterAll(() => rm(directory, { recursive: true }))

/** Replaces the file atomically, as configuration systems do. */
const write = async (text: string, file = path): Promise<void> => {
  await writeFile(`${file}.new`, text)
  await rename(`${file}.new`, file)
}

const watchHosts = async () => {
  const lines: { level: number; msg: string }[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) })
  const hosts = await openHosts({ env: { SVC_HOSTS_FILE: path }, log, recheckEveryMs })
  return { hosts, lines, [Symbol.asyncDispose]: () => hosts[Symbol.asyncDispose]() }
}

describe('a host file', () => {
  it('lists hosts with group, tags, Keeper metrics and a password file', async () => {
    await writeFile(join(directory, 'secret'), 'a,b\n')
    await write(
      'hosts:\n  - { url: "http://a:8123", label: one, user: u, passwordFile: secret, group: eu, tags: [hot, x], keeperMetrics: "http://k:9363/metrics" }\n',
    )
    await using watched = await watchHosts()
    expect(watched.hosts.list()).toMatchObject([
      { id: 0, key: 'one', name: 'one', user: 'u', password: 'a,b', group: 'eu', tags: ['hot', 'x'] },
    ])
    expect(watched.hosts.list()[0]?.keeperMetrics?.href).toBe('http://k:9363/metrics')
  })

  it('is reloaded when it or a password file changes', async () => {
    await write('hosts:\n  - { url: "http://a:8123", label: one, passwordFile: secret }\n')
    await using watched = await watchHosts()
    await write(
      'hosts:\n  - { url: "http://a:8123", label: one, passwordFile: secret }\n  - { url: "http://b:8123" }\n',
    )
    await expect.poll(() => watched.hosts.list()).toHaveLength(2)
    await write('changed\n', join(directory, 'secret'))
    await expect.poll(() => watched.hosts.get('one').password).toBe('changed')
  })

  it('logs a warning and keeps the last valid list after an invalid change', async () => {
    await write('hosts:\n  - { url: "http://a:8123", label: one }\n')
    await using watched = await watchHosts()
    await write('hosts:\n  - { url: "http://a:8123", lable: two }\n')
    const messages = () => watched.lines.map((line) => line.msg)
    await expect.poll(messages).toContain('host list is invalid; keeping the last valid one')
    expect(watched.hosts.list().map((host) => host.name)).toEqual(['one'])
    await write('hosts:\n  - { url: "http://a:8123", label: two }\n')
    await expect.poll(() => watched.hosts.list().map((host) => host.name)).toEqual(['two'])
  })

  it.each([
    ['an unknown key', 'hosts:\n  - { url: "http://a", passwort: x }\n', /hosts\.0: .*passwort/],
    ['a host without an address', 'hosts:\n  - { label: a }\n', /hosts\.0\.url: is required/],
    ['a list alone', '- { url: "http://a" }\n', /: must be an object/],
    ['no hosts', 'hosts: []\n', /hosts/],
    [
      'an invalid Keeper address',
      'hosts:\n  - { url: "http://a", keeperMetrics: k:9363 }\n',
      /keeperMetrics must be a URL/,
    ],
    ['malformed text', 'hosts: [\n', /cannot be read as YAML/],
    [
      'a missing password file',
      'hosts:\n  - { url: "http://a", passwordFile: nowhere }\n',
      /password file cannot be read \(ENOENT\)/,
    ],
    [
      'two hosts with the same name',
      'hosts:\n  - { url: "http://a", label: x }\n  - { url: "http://b", label: x }\n',
      /both named "x"/,
    ],
  ])('fails at start with %s', async (_, text, sentence) => {
    await write(text)
    await expect(watchHosts()).rejects.toThrow(sentence)
  })
})

describe('a host list that is truncated inside a URL', () => {
  const complete = 'hosts:\n  - url: http://a.example:8123\n  - url: http://clickhouse-17.example:8123\n'
  const truncated = complete.slice(0, complete.indexOf('7.example'))

  const open = async (
    store: Store,
    answering: { hosts: string[] },
    env: Record<string, string> = { SVC_HOSTS_FILE: path },
  ) => {
    const lines: string[] = []
    const log = pino({ level: 'info' }, { write: (line: string) => lines.push(line) })
    const answers = async ({ url }: { url: URL }) => answering.hosts.includes(url.hostname)
    const hosts = await openHosts({ env, log, recheckEveryMs, lastGood: openLastValidHostStore(store, env), answers })
    return { hosts, lines, [Symbol.asyncDispose]: () => hosts[Symbol.asyncDispose]() }
  }
  const names = (hosts: { list(): readonly { url: URL }[] }) => hosts.list().map(({ url }) => url.hostname)

  it('leaves the last valid list in use until the new host responds', async () => {
    await using store = await openStore({ env: {}, busIsShared: false })
    await write(complete)
    const answering = { hosts: [] as string[] }
    await using watched = await open(store, answering)
    await write(truncated)
    await expect.poll(() => watched.lines.join('')).toContain('host skipped')
    expect(watched.lines.join('')).toContain(
      '\\"http://clickhouse-1\\" looks like a truncated \\"http://clickhouse-17.example:8123\\" and does not respond',
    )
    expect(names(watched.hosts)).toEqual(['a.example', 'clickhouse-17.example'])
    answering.hosts.push('clickhouse-1')
    await expect.poll(() => names(watched.hosts)).toEqual(['a.example', 'clickhouse-1'])
  })

  it.each(['http://watch', 'http://watcher', 'http://watcher:90'])(
    'leaves the last valid list in use when a URL ends within its credentials: %s',
    async (cut) => {
      await using store = await openStore({ env: {}, busIsShared: false })
      const withUser = 'hosts:\n  - url: http://a.example:8123\n  - url: http://Watcher:9000x@db.example:8123\n'
      await write(withUser)
      const answering = { hosts: [] as string[] }
      await using watched = await open(store, answering)
      await write(`hosts:\n  - url: http://a.example:8123\n  - url: ${cut}\n`)
      await expect.poll(() => watched.lines.join('')).toContain('host skipped')
      expect(watched.lines.join('')).toContain('looks like a truncated \\"http://db.example:8123\\"')
      expect(watched.lines.join('')).not.toContain(':90')
      expect(names(watched.hosts)).toEqual(['a.example', 'db.example'])
      await write(withUser.replace('Watcher:9000x@', 'Watcher:other@'))
      await write(`hosts:\n  - url: http://a.example:8123\n  - url: http://other.example\n`)
      await expect.poll(() => names(watched.hosts)).toEqual(['a.example', 'other.example'])
    },
  )

  it('starts without the truncated host when the state store has the last valid list, until the file is complete', async () => {
    await using store = await openStore({ env: {}, busIsShared: false })
    await write(complete)
    await (await open(store, { hosts: [] }))[Symbol.asyncDispose]()
    await write(truncated)
    await using watched = await open(store, { hosts: [] })
    expect(names(watched.hosts)).toEqual(['a.example'])
    expect(watched.lines.join('')).toContain('the host is skipped until it responds or the list changes')
    await write(complete)
    await expect.poll(() => names(watched.hosts)).toEqual(['a.example', 'clickhouse-17.example'])
  })

  it('starts without the truncated host when the list is a variable', async () => {
    await using store = await openStore({ env: {}, busIsShared: false })
    const env = { COLUMNDB_HOST: 'http://a.example:8123,http://10.0.12.7:8123' }
    await (await open(store, { hosts: [] }, env))[Symbol.asyncDispose]()
    // The URL parser expands `10.0.12` to the IPv4 address `10.0.0.12`.
    await using watched = await open(store, { hosts: [] }, { COLUMNDB_HOST: 'http://a.example:8123,http://10.0.12' })
    expect(names(watched.hosts)).toEqual(['a.example'])
    expect(watched.lines.join('')).toContain(
      '\\"http://10.0.0.12\\" looks like a truncated \\"http://10.0.12.7:8123\\"',
    )
  })

  it('is detected after a process without hosts has used the same store', async () => {
    await using store = await openStore({ env: {}, busIsShared: false })
    await write(complete)
    await (await open(store, { hosts: [] }))[Symbol.asyncDispose]()
    await (await open(store, { hosts: [] }, {}))[Symbol.asyncDispose]()
    await write(truncated)
    await using watched = await open(store, { hosts: [] })
    expect(names(watched.hosts)).toEqual(['a.example'])
  })

  it('leaves the last valid list in use when the URL belongs to a Keeper node', async () => {
    await using store = await openStore({ env: {}, busIsShared: false })
    const withKeeper = `${complete}    keeperMetrics: http://keeper-17.example:9363/metrics\n`
    const cutKeeper = withKeeper.slice(0, withKeeper.indexOf('7.example:9363'))
    const keepers = (hosts: { list(): readonly { keeperMetrics?: URL | undefined }[] }) =>
      hosts.list().map(({ keeperMetrics }) => keeperMetrics?.hostname)
    await write(withKeeper)
    {
      await using watched = await open(store, { hosts: [] })
      await write(cutKeeper)
      await expect.poll(() => watched.lines.join('')).toContain('host skipped')
      expect(keepers(watched.hosts)).toEqual([undefined, 'keeper-17.example'])
    }
    const answering = { hosts: [] as string[] }
    await using watched = await open(store, answering)
    expect(names(watched.hosts)).toEqual(['a.example', 'clickhouse-17.example'])
    expect(keepers(watched.hosts)).toEqual([undefined, undefined])
    answering.hosts.push('keeper-1')
    await expect.poll(() => keepers(watched.hosts)).toEqual([undefined, 'keeper-1'])
  })

  it('is not suspected when hosts are added, removed or readdressed', async () => {
    await using store = await openStore({ env: {}, busIsShared: false })
    await write(complete)
    await using watched = await open(store, { hosts: [] })
    await write('hosts:\n  - url: http://b.example:8123\n  - url: http://clickhouse-17.example:8124\n')
    await expect.poll(() => names(watched.hosts)).toEqual(['b.example', 'clickhouse-17.example'])
    expect(watched.lines.join('')).not.toContain('host skipped')
  })
})

describe('a host key', () => {
  it('throws not-found when the list has no such host', async () => {
    await write('hosts:\n  - { url: "http://a:8123", label: one }\n')
    await using watched = await watchHosts()
    expect(() => watched.hosts.get('two')).toThrow(
      expect.objectContaining({ code: 'not-found', details: { reason: 'unknown-host', hostKey: 'two' } }),
    )
  })
})
