import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import { openHosts } from './hosts.ts'
import { lastGoodHosts } from './truncated.ts'

const recheckEveryMs = 20
let directory: string
let path: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchhouse-hosts-'))
  path = join(directory, 'hosts.yaml')
})
afterAll(() => rm(directory, { recursive: true }))

/** Written beside and moved over it, as configuration systems do, so that nobody reads half a file. */
const write = async (text: string, file = path): Promise<void> => {
  await writeFile(`${file}.new`, text)
  await rename(`${file}.new`, file)
}

const watching = async () => {
  const lines: { level: number; msg: string }[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) })
  const hosts = await openHosts({ env: { SVC_HOSTS_FILE: path }, log, recheckEveryMs })
  return { hosts, lines, [Symbol.asyncDispose]: () => hosts[Symbol.asyncDispose]() }
}

describe('a host file', () => {
  it('names hosts with group, tags and a password file beside it', async () => {
    await writeFile(join(directory, 'secret'), 'a,b\n')
    await write(
      'hosts:\n  - { url: "http://a:8123", label: one, user: u, passwordFile: secret, group: eu, tags: [hot, x], keeperMetrics: "http://k:9363/metrics" }\n',
    )
    await using watched = await watching()
    expect(watched.hosts.list()).toMatchObject([
      { id: 0, key: 'one', name: 'one', user: 'u', password: 'a,b', group: 'eu', tags: ['hot', 'x'] },
    ])
    expect(watched.hosts.list()[0]?.keeperMetrics?.href).toBe('http://k:9363/metrics')
  })

  it('is read again after a change, also of a password file', async () => {
    await write('hosts:\n  - { url: "http://a:8123", label: one, passwordFile: secret }\n')
    await using watched = await watching()
    await write(
      'hosts:\n  - { url: "http://a:8123", label: one, passwordFile: secret }\n  - { url: "http://b:8123" }\n',
    )
    await expect.poll(() => watched.hosts.list()).toHaveLength(2)
    await write('changed\n', join(directory, 'secret'))
    await expect.poll(() => watched.hosts.get('one').password).toBe('changed')
  })

  it('keeps the last good list and warns when it became broken', async () => {
    await write('hosts:\n  - { url: "http://a:8123", label: one }\n')
    await using watched = await watching()
    await write('hosts:\n  - { url: "http://a:8123", lable: two }\n')
    const messages = () => watched.lines.map((line) => line.msg)
    await expect.poll(messages).toContain('host list is broken, the last good one stays')
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
      'an address of Keeper that is none',
      'hosts:\n  - { url: "http://a", keeperMetrics: k:9363 }\n',
      /keeperMetrics must be a URL/,
    ],
    ['malformed text', 'hosts: [\n', /cannot be read as YAML/],
    [
      'a password file that is not there',
      'hosts:\n  - { url: "http://a", passwordFile: nowhere }\n',
      /password file cannot be read \(ENOENT\)/,
    ],
    [
      'two hosts of one name',
      'hosts:\n  - { url: "http://a", label: x }\n  - { url: "http://b", label: x }\n',
      /both called x/,
    ],
  ])('refuses to start with %s', async (_, text, sentence) => {
    await write(text)
    await expect(watching()).rejects.toThrow(sentence)
  })
})

describe('a host list that was cut off inside a URL', () => {
  const whole = 'hosts:\n  - url: http://a.example:8123\n  - url: http://clickhouse-17.example:8123\n'
  const cutOff = whole.slice(0, whole.indexOf('7.example'))

  const opened = async (
    store: Store,
    answering: { hosts: string[] },
    env: Record<string, string> = { SVC_HOSTS_FILE: path },
  ) => {
    const lines: string[] = []
    const log = pino({ level: 'info' }, { write: (line: string) => lines.push(line) })
    const answers = async ({ url }: { url: URL }) => answering.hosts.includes(url.hostname)
    const hosts = await openHosts({ env, log, recheckEveryMs, lastGood: lastGoodHosts(store, env), answers })
    return { hosts, lines, [Symbol.asyncDispose]: () => hosts[Symbol.asyncDispose]() }
  }
  const names = (hosts: { list(): readonly { url: URL }[] }) => hosts.list().map(({ url }) => url.hostname)

  it('leaves the last good list as it is until the new host answers', async () => {
    await using store = await openStore({ env: {}, busIsShared: false })
    await write(whole)
    const answering = { hosts: [] as string[] }
    await using watched = await opened(store, answering)
    await write(cutOff)
    await expect.poll(() => watched.lines.join('')).toContain('host refused')
    expect(watched.lines.join('')).toContain(
      '\\"http://clickhouse-1\\" looks like \\"http://clickhouse-17.example:8123\\" cut off and does not answer',
    )
    expect(names(watched.hosts)).toEqual(['a.example', 'clickhouse-17.example'])
    answering.hosts.push('clickhouse-1')
    await expect.poll(() => names(watched.hosts)).toEqual(['a.example', 'clickhouse-1'])
  })

  it.each(['http://watch', 'http://watcher', 'http://watcher:90'])(
    'leaves the last good list as it is where the URL ends in its credentials: %s',
    async (cut) => {
      await using store = await openStore({ env: {}, busIsShared: false })
      const withUser = 'hosts:\n  - url: http://a.example:8123\n  - url: http://Watcher:9000x@db.example:8123\n'
      await write(withUser)
      const answering = { hosts: [] as string[] }
      await using watched = await opened(store, answering)
      await write(`hosts:\n  - url: http://a.example:8123\n  - url: ${cut}\n`)
      await expect.poll(() => watched.lines.join('')).toContain('host refused')
      expect(watched.lines.join('')).toContain('looks like \\"http://db.example:8123\\" cut off')
      expect(watched.lines.join('')).not.toContain(':90')
      expect(names(watched.hosts)).toEqual(['a.example', 'db.example'])
      await write(withUser.replace('Watcher:9000x@', 'Watcher:other@'))
      await write(`hosts:\n  - url: http://a.example:8123\n  - url: http://other.example\n`)
      await expect.poll(() => names(watched.hosts)).toEqual(['a.example', 'other.example'])
    },
  )

  it('starts without that host where the state store knows the last good list, and takes the whole file again', async () => {
    await using store = await openStore({ env: {}, busIsShared: false })
    await write(whole)
    await (await opened(store, { hosts: [] }))[Symbol.asyncDispose]()
    await write(cutOff)
    await using watched = await opened(store, { hosts: [] })
    expect(names(watched.hosts)).toEqual(['a.example'])
    expect(watched.lines.join('')).toContain('it is left out until it answers or the list changes')
    await write(whole)
    await expect.poll(() => names(watched.hosts)).toEqual(['a.example', 'clickhouse-17.example'])
  })

  it('starts without that host where the list is a variable, too', async () => {
    await using store = await openStore({ env: {}, busIsShared: false })
    const env = { COLUMNDB_HOST: 'http://a.example:8123,http://10.0.12.7:8123' }
    await (await opened(store, { hosts: [] }, env))[Symbol.asyncDispose]()
    // Three numbers of an address are read as another address.
    await using watched = await opened(store, { hosts: [] }, { COLUMNDB_HOST: 'http://a.example:8123,http://10.0.12' })
    expect(names(watched.hosts)).toEqual(['a.example'])
    expect(watched.lines.join('')).toContain('\\"http://10.0.0.12\\" looks like \\"http://10.0.12.7:8123\\" cut off')
  })

  it('is found out after a process without hosts has run on the same store, too', async () => {
    await using store = await openStore({ env: {}, busIsShared: false })
    await write(whole)
    await (await opened(store, { hosts: [] }))[Symbol.asyncDispose]()
    await (await opened(store, { hosts: [] }, {}))[Symbol.asyncDispose]()
    await write(cutOff)
    await using watched = await opened(store, { hosts: [] })
    expect(names(watched.hosts)).toEqual(['a.example'])
  })

  it('leaves the last good list as it is where the URL is that of a Keeper node', async () => {
    await using store = await openStore({ env: {}, busIsShared: false })
    const withKeeper = `${whole}    keeperMetrics: http://keeper-17.example:9363/metrics\n`
    const cutKeeper = withKeeper.slice(0, withKeeper.indexOf('7.example:9363'))
    const keepers = (hosts: { list(): readonly { keeperMetrics?: URL | undefined }[] }) =>
      hosts.list().map(({ keeperMetrics }) => keeperMetrics?.hostname)
    await write(withKeeper)
    {
      await using watched = await opened(store, { hosts: [] })
      await write(cutKeeper)
      await expect.poll(() => watched.lines.join('')).toContain('host refused')
      expect(keepers(watched.hosts)).toEqual([undefined, 'keeper-17.example'])
    }
    const answering = { hosts: [] as string[] }
    await using watched = await opened(store, answering)
    expect(names(watched.hosts)).toEqual(['a.example', 'clickhouse-17.example'])
    expect(keepers(watched.hosts)).toEqual([undefined, undefined])
    answering.hosts.push('keeper-1')
    await expect.poll(() => keepers(watched.hosts)).toEqual([undefined, 'keeper-1'])
  })

  it('takes over hosts that are new, gone or have another address, without asking them', async () => {
    await using store = await openStore({ env: {}, busIsShared: false })
    await write(whole)
    await using watched = await opened(store, { hosts: [] })
    await write('hosts:\n  - url: http://b.example:8123\n  - url: http://clickhouse-17.example:8124\n')
    await expect.poll(() => names(watched.hosts)).toEqual(['b.example', 'clickhouse-17.example'])
    expect(watched.lines.join('')).not.toContain('host refused')
  })
})

describe('a key', () => {
  it('that the list lacks is not found', async () => {
    await write('hosts:\n  - { url: "http://a:8123", label: one }\n')
    await using watched = await watching()
    expect(() => watched.hosts.get('two')).toThrow(
      expect.objectContaining({ code: 'not-found', details: { reason: 'unknown-host', hostKey: 'two' } }),
    )
  })
})
