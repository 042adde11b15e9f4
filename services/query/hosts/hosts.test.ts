import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openHosts } from './hosts.ts'

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

describe('a key', () => {
  it('that the list lacks is not found', async () => {
    await write('hosts:\n  - { url: "http://a:8123", label: one }\n')
    await using watched = await watching()
    expect(() => watched.hosts.get('two')).toThrow(
      expect.objectContaining({ code: 'not-found', details: { reason: 'unknown-host', hostKey: 'two' } }),
    )
  })
})
