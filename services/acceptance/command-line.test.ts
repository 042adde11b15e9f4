import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import packageFile from '../../package.json' with { type: 'json' }
import {
  createGatewayVariables,
  type ScriptedGateway,
  startScriptedGateway,
} from '../agent/testing/scripted-gateway.ts'
import { createClient, type Client } from '../client/client.ts'
import { startSandbox, type Sandbox } from '../sandbox/start.ts'
import { runCommandHere, type CommandResult } from '../testing/command-line.ts'
import { queryClickHouse } from '../testing/fetch-json.ts'
import { type Product, startProduct } from '../testing/product.ts'
import { reserveFreePort } from '../testing/servers/port.ts'

const operatorSecret = 'operator-secret-of-the-command-line-test'
const cronSecret = 'cron-secret-of-the-command-line-test'
const startLimitMs = 180_000

const scope = new AsyncDisposableStack()
const folder = mkdtempSync(join(tmpdir(), 'watchhouse-command-line-'))
scope.defer(() => rmSync(folder, { recursive: true, force: true }))

let product: Product
let gateway: ScriptedGateway
let host: Sandbox
let apiKey: string
let operator: Client
let closedPort: number

beforeAll(async () => {
  closedPort = await reserveFreePort()
  gateway = scope.use(await startScriptedGateway({ script: [{ say: [{ text: 'All is well.' }] }] }))
  host = scope.use(await startSandbox({ label: 'one' }))
  const env = {
    ...createGatewayVariables(gateway),
    SVC_API_KEY_SECRET: operatorSecret,
    CRON_SECRET: cronSecret,
    SVC_STATE_DB_URL: `file:${join(folder, 'state.db')}`,
    SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'the key of the operator, thirty-two',
    SVC_ALLOW_PRIVATE_HOSTS: 'true',
    RATE_LIMIT_AGENT_PER_MIN: '1000',
  }
  const hosts = [
    { url: host.url, name: 'one' },
    { url: `http://127.0.0.1:${closedPort}`, name: 'closed' },
  ]
  product = scope.use(await startProduct({ hosts, env }))
  operator = createClient({ url: product.url, apiKey: operatorSecret })
  apiKey = (await operator.call('POST /api/v1/auth/api-key', { body: { label: 'test' } })).data.apiKey
  const headers = { authorization: `Bearer ${cronSecret}` }
  await createClient({ url: product.url }).call('GET /api/cron/health-sweep', { query: {}, headers })
}, startLimitMs)
afterAll(() => scope.disposeAsync())

let config: string
let count = 0
beforeEach(() => {
  config = join(folder, `config-${(count += 1)}`, 'config.json')
})

/** The variables of a user who is signed in. */
const signedIn = () => ({ WATCHHOUSE_CONFIG: config, WATCHHOUSE_URL: product.url, WATCHHOUSE_API_KEY: apiKey })
const signedOut = () => ({ WATCHHOUSE_CONFIG: config, WATCHHOUSE_URL: product.url })
const run = (...words: string[]): Promise<CommandResult> => runCommandHere(words, { env: signedIn() })
const runJson = async (...words: string[]) => {
  const { stdout, stderr } = await run(...words, '--json')
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}
const linesOf = (text: string) => text.trimEnd().split('\n')

describe('signing in', () => {
  it('with a key from standard input saves it for its owner only, and signing out revokes it', async () => {
    const { data } = await operator.call('POST /api/v1/auth/api-key', { body: { label: 'other' } })
    const env = { WATCHHOUSE_CONFIG: config }
    const login = await runCommandHere(['login', product.url, '--with-key'], { env, input: `${data.apiKey}\n` })
    expect(login).toMatchObject({ code: 0, stderr: '' })
    expect(login.stdout).toContain(`Signed in to ${product.url} as ${data.subject}.`)
    expect(login.stdout).not.toContain(data.apiKey)
    expect(statSync(config).mode & 0o777).toBe(0o600)
    expect((await runCommandHere(['hosts'], { env })).code).toBe(0)
    // The saved key is for this server only.
    const elsewhere = await runCommandHere(['hosts', '--url', product.url.replace('127.0.0.1', 'localhost')], { env })
    expect(elsewhere.code).toBe(4)

    expect(await runCommandHere(['logout'], { env })).toMatchObject({
      code: 0,
      stdout: `Signed out of ${product.url}.\n`,
      stderr: '',
    })
    expect(readFileSync(config, 'utf8')).not.toContain('svc_')
    await expect(
      createClient({ url: product.url, apiKey: data.apiKey }).call('GET /api/v1/hosts'),
    ).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  it.each([
    ['', 2, 'no API key'],
    ['two words', 2, 'not an API key'],
    ['svc_bm8.bm8', 4, 'error'],
  ])('with the key %j exits %i and saves nothing', async (input, code, message) => {
    const result = await runCommandHere(['login', '--with-key'], { env: signedOut(), input })
    expect(result.code).toBe(code)
    expect(result.stderr).toContain(message)
    if (input !== '') expect(result.stdout + result.stderr).not.toContain(input)
    expect(statSync(config, { throwIfNoEntry: false })).toBeUndefined()
  })

  it('is required: exit code 4 with the remedy', async () => {
    const result = await runCommandHere(['hosts'], { env: signedOut() })
    expect(result).toMatchObject({ code: 4, stdout: '' })
    expect(result.stderr).toContain('Run "watchhouse login", or set WATCHHOUSE_API_KEY.')
  })
})

describe('every command', () => {
  it('states version and help, and rejects what it does not know with exit code 2', async () => {
    expect(await run('--version')).toEqual({ code: 0, stdout: `${packageFile.version}\n`, stderr: '' })
    const help = await run('--help')
    expect(help.code).toBe(0)
    expect(help.stdout).toContain('Exit codes:')
    for (const words of [
      ['tap'],
      ['hosts', '--what'],
      ['query', 'SELECT 1', '--format', 'xml'],
      ['ack'],
      ['completion', 'cmd'],
      ['--url', 'ftp://x', 'hosts'],
      ['--url', 'http://u:p@x', 'hosts'],
      ['--timeout', '0', 'hosts'],
    ])
      expect((await run(...words)).code, words.join(' ')).toBe(2)
  })

  it('exits 3 if the server cannot be reached, also with --json', async () => {
    const env = { WATCHHOUSE_CONFIG: config }
    const url = `http://127.0.0.1:${closedPort}`
    const started = performance.now()
    const plain = await runCommandHere(['hosts', '--url', url], { env })
    expect(plain).toEqual({
      code: 3,
      stdout: '',
      stderr: `error: 127.0.0.1:${closedPort}: nothing listens on this port\n`,
    })
    const json = await runCommandHere(['hosts', '--url', url, '--json'], { env })
    expect(JSON.parse(json.stderr)).toEqual({
      error: { code: 'unreachable', message: `127.0.0.1:${closedPort}: nothing listens on this port`, requestId: null },
    })
    expect(performance.now() - started).toBeLessThan(60_000)
  })

  it('reads the hosts', async () => {
    const { code, stdout, stderr } = await run('hosts')
    expect([code, stderr]).toEqual([0, ''])
    const [header = '', first = '', second = ''] = linesOf(stdout)
    expect(header.split('\t').slice(0, 3)).toEqual(['ID', 'NAME', 'STATUS'])
    expect(first.split('\t').slice(0, 3)).toEqual(['0', 'one', 'up'])
    expect(second.split('\t').slice(0, 3)).toEqual(['1', 'closed', 'down'])
    expect(await runJson('hosts')).toMatchObject([
      { id: 0, name: 'one', status: 'up' },
      { id: 1, name: 'closed' },
    ])
  })

  it('reads charts and tables', async () => {
    await queryClickHouse(host.url, 'CREATE TABLE default.cli (a UInt64) ENGINE = MergeTree ORDER BY a')
    expect((await run('charts', '--search', 'query-count')).stdout).toContain('query-count\t')
    expect(await runJson('charts', 'query-count', '--last', '1h')).toMatchObject([{ chart: { name: 'query-count' } }])
    expect((await run('charts', 'query-count', '--last', '1h')).stdout).toMatch(/^time\t/)
    expect((await run('charts', 'no-such-chart')).code).toBe(1)
    expect((await run('charts', 'query-count', '--last', '1 week')).code).toBe(2)
    expect((await run('tables')).stdout).toMatch(/^DATABASE\tTABLE\tENGINE\tROWS\n(.*\n)*default\tcli\tMergeTree\t0\n/)
    expect((await run('tables', '--pages', '--search', 'running')).stdout).toContain('running-queries\t')
    const rows = await runJson('tables', 'running-queries', '--limit', '1')
    expect(Array.isArray(rows)).toBe(true)
    expect((await run('tables', 'running-queries', '--filter', 'user')).code).toBe(1)
    expect((await run('tables', '--limit', '0')).code).toBe(2)
  })

  it('lists, acknowledges, silences and diagnoses alerts', async () => {
    const listed = await run('alerts', '--host', 'closed')
    expect(listed.stdout).toMatch(/^SEVERITY\tHOST\tRULE\t/)
    expect(listed.stdout).toContain('warning\tclosed\thost-unreachable\t')
    expect(await runJson('alerts', '--severity', 'warning')).toEqual(
      expect.arrayContaining([expect.objectContaining({ ruleId: 'host-unreachable', host: 'closed' })]),
    )
    expect(await run('ack', 'host-unreachable', '--for', '15m', '--note', 'known')).toMatchObject({
      code: 0,
      stdout: 'Acknowledged "host-unreachable" on "closed" for 15m.\n',
      stderr: '',
    })
    expect((await run('alerts')).stdout).toContain('acknowledged until')
    expect((await run('ack', 'host-unreachable', '--remove')).code).toBe(0)
    expect(await runJson('silence', 'host-unreachable', '--for', '2h')).toMatchObject({
      kind: 'dismissal',
      ruleId: 'host-unreachable',
    })
    expect((await run('alerts')).stdout).toContain('silenced until')
    expect((await run('silence', 'host-unreachable', '--remove')).code).toBe(0)
    expect((await run('silence', 'host-unreachable', '--for', 'ever')).code).toBe(2)
    expect(await run('ack', 'disk-usage', '--host', 'closed')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no alert of rule "disk-usage" on host "closed"'),
    })
    expect((await run('diagnose', 'disk-usage')).stdout).toMatch(/^disk\ttable\t/)
    expect(await runJson('diagnose', 'disk-usage')).toMatchObject([
      { host: 'one', ruleId: 'disk-usage', unavailable: null },
    ])
    expect((await run('diagnose', 'no-such-rule')).code).toBe(1)
  })

  it('lists changes', async () => {
    expect((await run('changes', '--all')).stdout).toMatch(/^TIME \(UTC\)\tHOST\tKIND\tCHANGE\tDETAIL\n/)
    const alerts = await runJson('changes', '--host', 'closed', '--kind', 'alert')
    expect(alerts).toMatchObject([{ kind: 'alert', host: 'closed' }])
    expect(await runJson('changes', '--around', '2020-01-01T00:00:00Z')).toEqual([])
    const invalid = [
      ['--kind', 'weather'],
      ['--from', 'yesterday'],
      ['--from', '2030-01-01'],
      ['--around', '2026-01-01', '--last', '1h'],
      ['--group', 'eu', '--host', 'closed'],
    ]
    for (const options of invalid) expect([options, (await run('changes', ...options)).code]).toEqual([options, 2])
  })

  it('streams an answer of the agent', async () => {
    gateway.play([{ say: [{ call: 'query', with: { sql: 'SELECT 1' } }] }, { say: [{ text: 'There is one.' }] }])
    const answer = await run('agent', 'How many?')
    expect(answer).toMatchObject({ code: 0, stdout: 'There is one.\n' })
    expect(answer.stderr).toContain('·')
    gateway.play([{ say: [{ text: 'Yes.' }] }])
    const piped = await runCommandHere(['agent', '--json'], { env: signedIn(), input: 'Is it well?' })
    const chunks = linesOf(piped.stdout).map((line) => JSON.parse(line))
    expect(chunks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'text-delta' }),
        expect.objectContaining({ type: 'finish' }),
      ]),
    )
    expect((await run('agent')).code).toBe(2)
  })
})

describe('query', () => {
  const sql = "SELECT number AS n, 'a,\"b' AS text FROM numbers(2)"

  it.each([
    ['table', 'n\ttext\n0\ta,"b\n1\ta,"b\n'],
    ['csv', 'n,text\r\n0,"a,""b"\r\n1,"a,""b"\r\n'],
  ])('prints %s', async (format, expected) => {
    expect(await run('query', sql, '--format', format)).toEqual({ code: 0, stdout: expected, stderr: '' })
  })

  it('prints JSON and NDJSON with big numbers as text', async () => {
    const big = 'SELECT toUInt64(18446744073709551615) AS big, NULL AS nothing'
    expect(await runJson('query', big)).toEqual([{ big: '18446744073709551615', nothing: null }])
    expect((await run('query', big, '--format', 'ndjson')).stdout).toBe(
      '{"big":"18446744073709551615","nothing":null}\n',
    )
  })

  it('reads the statement from standard input or a file, and binds parameters', async () => {
    const statement = 'SELECT {n:UInt8} AS n, {t:String} AS t'
    const words = ['query', '--param', 'n=7', '--param', "t=x' OR 1"]
    const file = join(folder, 'statement.sql')
    writeFileSync(file, statement)
    for (const options of [
      { words, input: statement },
      { words: [...words, '-f', file], input: '' },
    ]) {
      const result = await runCommandHere(options.words, { env: signedIn(), input: options.input })
      expect(result).toEqual({ code: 0, stdout: "n\tt\n7\tx' OR 1\n", stderr: '' })
    }
    for (const wrong of [
      ['query', '--param', 'n'],
      ['query'],
      ['query', sql, '-f', file],
      ['query', '-f', '/no/such/file'],
      ['query', sql, '--max-rows', '0'],
      ['query', sql, '--json', '--format', 'csv'],
      ['query', sql, '--host', 'nope'],
    ])
      expect((await run(...wrong)).code, wrong.join(' ')).toBe(2)
  })

  it('runs on several hosts, and reports those that fail', async () => {
    const all = await run('query', '--all', '--format', 'ndjson', 'SELECT 1 AS a')
    expect(all).toMatchObject({ code: 5, stdout: '{"_host":"one","a":1}\n' })
    expect(all.stderr).toContain('closed: host closed cannot be reached')
    expect(await run('query', '--host', 'one', '--host', '0', 'SELECT 1 AS a')).toMatchObject({ code: 0 })
    expect(await run('query', '--host', 'one,1', 'SELECT 1 AS a')).toMatchObject({
      code: 5,
      stdout: '_host\ta\none\t1\n',
    })
    expect((await run('query', '--host', 'closed', 'SELECT 1')).code).toBe(3)
  })

  it('rejects statements that are wrong or not read-only', async () => {
    expect(await run('query', 'SELECT nothing')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('UNKNOWN_IDENTIFIER'),
    })
    expect(await run('query', 'DROP TABLE default.cli')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('must begin with SELECT'),
    })
    expect((await run('query', 'SELECT number FROM numbers(100)', '--max-rows', '2')).stderr).toContain(
      'truncated to 2 rows',
    )
  })
})

describe('apply', () => {
  const definitions = join(folder, 'definitions')

  it('shows the differences, applies them once, and deletes on request', async () => {
    mkdirSync(join(definitions, 'dashboards'), { recursive: true })
    writeFileSync(
      join(definitions, 'alerts.yaml'),
      "thresholds: { disk-usage: { warning: 70 } }\nrules: [{ id: q, name: Many queries, metric: running-queries, operator: '>', warning: 50 }]\n",
    )
    writeFileSync(
      join(definitions, 'quiet-hours.yaml'),
      "windows: [{ id: night, days: [1], start: '22:00', end: '07:00' }]\n",
    )
    writeFileSync(join(definitions, 'digest.yaml'), 'enabled: true\nwindowMinutes: 45\n')
    const board = { schemaVersion: 1, title: 'From a file', description: '', folder: '', variables: [], panels: [] }
    writeFileSync(join(definitions, 'dashboards/board.json'), JSON.stringify(board))

    const dry = await run('apply', definitions, '--dry-run')
    expect(dry.code).toBe(2)
    expect(dry.stdout).toContain('+ rule disk-usage\n    warning: 70\n')
    expect(dry.stdout).toContain('+ dashboard From a file\n')
    expect(dry.stdout).toMatch(/4 to add, 1 to change, 0 to delete\.\n$/)
    expect((await run('apply', definitions, '--dry-run')).code).toBe(2)
    expect(await run('apply', definitions)).toMatchObject({ code: 2, stderr: expect.stringContaining('pass --yes') })
    expect(await run('apply', definitions, '--yes')).toMatchObject({ code: 0, stderr: '' })
    expect(await run('apply', definitions, '--dry-run')).toMatchObject({ code: 0, stdout: 'No differences.\n' })
    expect(
      (await operator.call('GET /api/v1/health/quiet-hours', { headers: { authorization: `Bearer ${apiKey}` } })).data,
    ).toMatchObject([{ id: 'night' }])

    writeFileSync(
      join(definitions, 'quiet-hours.yaml'),
      "windows: [{ id: day, days: [2], start: '08:00', end: '09:00' }]\n",
    )
    expect(await runJson('apply', definitions, '--prune', '--yes')).toMatchObject({
      applied: true,
      changes: [
        { action: 'add', kind: 'quiet-hours', key: 'day' },
        { action: 'delete', kind: 'quiet-hours', key: 'night' },
      ],
    })
  })

  it('saves channels with secrets from variables, and shows only their last characters', async () => {
    const folderOfChannels = join(folder, 'channels')
    mkdirSync(folderOfChannels)
    const file = (name: string, text: string) => writeFileSync(join(folderOfChannels, name), text)
    file(
      'channels.yaml',
      'channels: [{ channel: webhook, enabled: true, secretEnv: { url: HOOK } }]\nwebhookTargets: [{ name: team, urlEnv: HOOK }]\n',
    )
    file('routing.yaml', 'routes: [{ id: all, target: team }]\n')
    const apply = (variables: Record<string, string>, ...words: string[]) =>
      runCommandHere(['apply', folderOfChannels, ...words], { env: { ...signedIn(), ...variables } })
    expect(await apply({}, '--yes')).toMatchObject({ code: 1, stderr: expect.stringContaining('"HOOK" is not set') })

    const hook = { HOOK: `http://127.0.0.1:${closedPort}/secret-of-the-team` }
    const applied = await apply(hook, '--yes')
    expect(applied).toMatchObject({ code: 0, stderr: '' })
    expect(applied.stdout).toContain('+ webhook-target team\n')
    expect(applied.stdout).toContain('url: null → ••••team\n')
    expect(applied.stdout).not.toContain('secret-of')
    expect(await apply(hook, '--yes')).toMatchObject({ code: 0, stdout: 'No differences.\n' })
    expect((await apply(hook, '--yes', '--update-secrets')).stdout).toContain('2 to change')
  })

  it('changes nothing if a file is invalid', async () => {
    writeFileSync(join(definitions, 'digest.yaml'), 'enabled: true\nwindowMinutes: 9999\n')
    writeFileSync(join(definitions, 'dashboards/bad.json'), '{')
    const result = await run('apply', definitions, '--yes')
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.stderr).toContain('digest.yaml: windowMinutes must be at most 1440')
    expect(result.stderr).toContain('dashboards/bad.json: ')
    expect((await run('apply', join(folder, 'missing'))).code).toBe(2)
  })
})
