import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import packageFile from '../../package.json' with { type: 'json' }
import { createClient, type Client } from '../client/client.ts'
import { startSandbox, type Sandbox } from '../sandbox/start.ts'
import {
  buildCommandLine,
  findTerminal,
  startCommand,
  startOnTerminal,
  startProgramOnTerminal,
  type CommandResult,
  type RunningCommand,
} from '../testing/command-line.ts'
import { queryClickHouse, retryUntil } from '../testing/fetch-json.ts'
import { type Product, startProduct } from '../testing/product.ts'
import { installServers } from '../testing/servers/install.ts'
import { reserveFreePort } from '../testing/servers/port.ts'
import { findProgram } from '../testing/servers/server-source.ts'

const operatorSecret = 'operator-secret-of-the-command-line-test'
const startLimitMs = 180_000

const scope = new AsyncDisposableStack()
const folder = mkdtempSync(join(tmpdir(), 'watchhouse-command-line-'))
scope.defer(() => rmSync(folder, { recursive: true, force: true }))

let product: Product
let host: Sandbox
let closedPort: number
let operator: Client
let apiKey: string
beforeAll(async () => {
  buildCommandLine()
  closedPort = await reserveFreePort()
  host = scope.use(await startSandbox({ label: 'one' }))
  const hosts = [
    { url: host.url, name: 'one' },
    { url: `http://127.0.0.1:${closedPort}`, name: 'closed' },
  ]
  product = scope.use(
    await startProduct({ hosts, env: { SVC_API_KEY_SECRET: operatorSecret, SVC_DEVICE_LOGIN: 'true' } }),
  )
  operator = createClient({ url: product.url, apiKey: operatorSecret })
  apiKey = (await operator.call('POST /api/v1/auth/api-key', { body: { label: 'test' } })).data.apiKey
}, startLimitMs)
afterAll(() => scope.disposeAsync())

const signedOut = () => ({ WATCHHOUSE_CONFIG: join(folder, 'config.json'), WATCHHOUSE_URL: product.url })
const env = () => ({ ...signedOut(), WATCHHOUSE_API_KEY: apiKey })
const run = (...words: string[]): Promise<CommandResult> => startCommand(words, { env: env() }).ended
const runJson = async (...words: string[]) => JSON.parse((await run(...words, '--json')).stdout)

describe('the command line as a process', { tags: ['long'] }, () => {
  it('compares schemas', async () => {
    const same = await run('schema-diff', 'one', 'one')
    expect([same.code, same.stderr]).toEqual([1, expect.stringContaining('must differ from the base')])
    expect((await run('schema-diff', 'one', '--base-time', 'yesterday')).code).toBe(2)
    expect((await run('schema-diff', 'one', 'group:none')).stderr).toContain('unknown group "none"')
  })

  it('signs in with a code once a user approves it', async () => {
    const running = startCommand(['login'], { env: signedOut() })
    const code = await retryUntil(
      async () => /user_code=(?<code>[A-Z]{4}-[A-Z]{4})/.exec(running.output())?.groups?.['code'],
      (found) => found !== undefined,
    )
    await operator.call('POST /api/v1/auth/device/approve', { body: { user_code: code ?? '' } })
    expect(await running.ended).toMatchObject({ code: 0 })
    expect((await startCommand(['hosts'], { env: signedOut() }).ended).code).toBe(0)
  })

  it('is cancelled on the host by Ctrl-C', async () => {
    const marker = 'SELECT count() AS cancelled_by_test FROM system.numbers'
    const running = startCommand(['query', marker], { env: env() })
    await retryUntil(
      () => countRunning('cancelled_by_test'),
      (found) => found > 0,
    )
    running.child.kill('SIGINT')
    expect(await running.ended).toMatchObject({ code: 130, stdout: '' })
    expect(
      await retryUntil(
        () => countRunning('cancelled_by_test'),
        (found) => found === 0,
      ),
    ).toBe(0)
  })

  it('ends quietly when the reader of a pipe has enough', () => {
    const command = `"${process.execPath}" services/build/cli/watchhouse.mjs query 'SELECT * FROM numbers(9000)' | head -1`
    const { stdout, stderr } = spawnSync('sh', ['-c', command], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '', ...env() },
    })
    expect([stdout, stderr]).toEqual(['number\n', ''])
  })

  it('uses colours on a terminal only, and never with NO_COLOR', async () => {
    const words = ['alerts', '--host', 'one']
    const size = { columns: 100, rows: 20 }
    const colored = await startOnTerminal(words, { env: env(), ...size }).ended
    expect(colored.stdout).toContain('\u001B[')
    const variants: Record<string, string>[] = [{ NO_COLOR: '1' }, { TERM: 'dumb' }]
    for (const variables of variants)
      expect((await startOnTerminal(words, { env: { ...env(), ...variables }, ...size }).ended).stdout).not.toContain(
        '\u001B[',
      )
    expect((await startOnTerminal([...words, '--no-color'], { env: env(), ...size }).ended).stdout).not.toContain(
      '\u001B[',
    )
  })
})

const countRunning = async (text: string): Promise<number> => {
  const [row] = await queryClickHouse(
    host.url,
    'SELECT count() AS n FROM system.processes WHERE position(query, {text:String}) > 0 AND query_id != queryID()',
    { text },
  )
  return Number(row?.['n'])
}

describe('top', { tags: ['long'] }, () => {
  const clear = (text: string) =>
    text
      .split('\u001B[')
      .map((part) => part.replace(/^[\d;?]*[A-Za-z]/, ' '))
      .join('')
  const start = () => startOnTerminal(['top', '--interval', '0.5'], { env: env(), columns: 100, rows: 20 })
  const shows = (running: RunningCommand, pattern: RegExp) =>
    retryUntil(
      async () => clear(running.output()),
      (text) => pattern.test(text),
    )
  const restored = '\u001B[?25h\u001B[?1049l'

  it('lists the running queries in a pipe', async () => {
    expect((await run('top', '--host', 'one')).stdout).toMatch(/^HOST\tELAPSED\tUSER\tMEMORY\tROWS\tQUERY ID\tQUERY\n/)
    expect(Array.isArray(await runJson('top'))).toBe(true)
    expect((await run('top', '--interval', '0')).code).toBe(2)
    expect(await run('top', '--all')).toMatchObject({ code: 5, stderr: expect.stringContaining('closed: ') })
  })

  it('shows queries live, filters, and kills after a confirmation', async () => {
    const victim = fetch(`${host.url}/?query_id=killed-by-test`, {
      method: 'POST',
      body: 'SELECT sleepEachRow(1) AS killed_by_test FROM numbers(100) SETTINGS max_block_size = 1',
    })
    const running = start()
    const { device } = await findTerminal(running)
    await shows(running, /killed_by_test/)
    running.child.stdin?.write('/killed_by')
    await shows(running, /Filter: killed_by/)
    running.child.stdin?.write('\r')
    running.child.stdin?.write('x')
    await shows(running, /Kill query killed-by-test of default on one\? y\/N/)
    spawnSync('stty', ['-F', device, 'rows', '10', 'cols', '60'])
    running.child.stdin?.write('y')
    expect(await (await victim).text()).toContain('QUERY_WAS_CANCELLED')
    await retryUntil(
      () => countRunning('killed_by_test'),
      (found) => found === 0,
    )
    await shows(running, /No running queries match the filter/)
    running.child.stdin?.write('q')
    expect((await running.ended).code).toBe(0)
    expect(running.output()).toContain(restored)
  })

  it('restores the terminal when it is ended', async () => {
    const running = start()
    const { pid } = await findTerminal(running)
    await shows(running, /q quit/)
    expect(running.output()).not.toContain(restored)
    process.kill(pid, 'SIGTERM')
    expect((await running.ended).code).toBe(130)
    expect(running.output()).toContain(restored)
  })
})

describe('doctor and check-config', { tags: ['long'] }, () => {
  it('doctor checks a host, and names the grant that is missing', async () => {
    const env = { CLICKHOUSE_PASSWORD: '' }
    const healthy = await startCommand(['doctor', host.url, '--json'], { env }).ended
    const { score, findings, version } = JSON.parse(healthy.stdout)
    expect(version).toMatch(/^\d+\.\d+/)
    expect(findings.length).toBeGreaterThanOrEqual(26)
    const worst = findings.some(({ status }: { status: string }) => status === 'critical')
    expect(healthy.code).toBe(worst ? 1 : 0)
    expect(score).toBeGreaterThan(0)
    const plain = await startCommand(['doctor', host.url], { env }).ended
    expect(plain.stdout).toMatch(/^STATUS\tCHECK\tTITLE\tRESULT\n/)
    expect(plain.stderr).toContain('Score: ')
  })

  it('doctor exits 2, 3 and 4 for wrong addresses, closed ports and rejected passwords', async () => {
    expect((await startCommand(['doctor', 'clickhouse-1']).ended).code).toBe(2)
    const secret = await startCommand(['doctor', 'http://u:hunter2@localhost']).ended
    expect(secret.code).toBe(2)
    expect(secret.stderr).not.toContain('hunter2')
    expect((await startCommand(['doctor', `http://127.0.0.1:${closedPort}`]).ended).code).toBe(3)
    const env = { CLICKHOUSE_PASSWORD: 'wrong-password' }
    const refused = await startCommand(['doctor', host.url, '--user', 'watchhouse'], { env }).ended
    expect(refused.code).toBe(4)
    expect(refused.stdout + refused.stderr).not.toContain('wrong-password')
  })

  it('check-config reports problems of a folder', async () => {
    const valid = join(folder, 'valid')
    mkdirSync(valid)
    writeFileSync(join(valid, 'digest.yaml'), 'enabled: true\nwindowMinutes: 15\n')
    expect(await run('check-config', valid)).toMatchObject({ code: 0, stdout: 'digest.yaml: valid\n' })
    writeFileSync(join(valid, 'digest.yaml'), 'enabled: true\nwindowMinutes: 9999\n')
    expect(await run('check-config', valid)).toMatchObject({
      code: 1,
      stderr: 'digest.yaml: windowMinutes must be at most 1440\n',
    })
    expect(await runJson('check-config', valid)).toMatchObject({ isValid: false })
    expect((await run('check-config')).code).toBe(2)
  })
})

describe('completion', { tags: ['long'] }, () => {
  const programs = ['zsh', 'fish'].map((name) => ({
    title: name,
    debian: name,
    isThere: () => findProgram(name) !== undefined,
  }))
  beforeAll(() => {
    installServers(programs)
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    symlinkSync(buildCommandLine(), join(bin, 'watchhouse'))
  }, startLimitMs)

  const loading = {
    'bash --norc -i': 'source <(watchhouse completion bash); echo loaded $((1 + 1))',
    'zsh -f -i': 'autoload -Uz compinit; compinit -D -u; source <(watchhouse completion zsh); echo loaded $((1 + 1))',
    'fish --no-config -i': 'watchhouse completion fish | source; echo loaded (math 1 + 1)',
  }

  it('completes commands, hosts, choices and table pages in bash, zsh and fish', async () => {
    const variables = {
      ...env(),
      PATH: `${join(folder, 'bin')}:${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
      HOME: folder,
      TERM: 'xterm',
    }
    const complete = async ([shell, load]: [shell: string, load: string]) => {
      const { child, output, ended } = startProgramOnTerminal(shell, { env: variables, columns: 200, rows: 40 })
      const type = (keys: string) => child.stdin?.write(keys)
      const shows = (text: string) =>
        retryUntil(
          async () => output(),
          (shown) => shown.includes(text),
        )
      type(`${load}\n`)
      await shows('loaded 2')
      // The statement runs only if command, host and format are completed.
      type("watchhouse que\t--host o\t--format nd\t'SELECT 6 + 1 AS n'\n")
      await shows('{"n":7}')
      type('watchhouse tables running-quer\t--json | sed s/^/rows:/\n')
      await shows('rows:[')
      type('exit\n')
      return (await ended).code
    }
    expect(await Promise.all(Object.entries(loading).map(complete))).toEqual([0, 0, 0])
  })
})

it('is an npm package without dependencies that runs without the repository', { tags: ['long'] }, () => {
  const install = join(folder, 'install')
  mkdirSync(install)
  writeFileSync(join(install, 'package.json'), '{"private":true}')
  const run = (program: string, ...words: string[]) =>
    spawnSync(program, words, {
      cwd: install,
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '', HOME: install, ...env(), CLICKHOUSE_PASSWORD: '' },
    })
  expect(run('npm', 'pack', join(import.meta.dirname, '../build/cli'), '--silent').status).toBe(0)
  const file = `watchhouse-${packageFile.version}.tgz`
  const installed = run('npm', 'install', '--offline', '--no-audit', '--no-fund', `./${file}`)
  expect(installed.stdout).toContain('added 1 package')
  const version = run('npx', '--no-install', 'watchhouse', '--version')
  expect([version.status, version.stdout]).toEqual([0, `${packageFile.version}\n`])

  const command = (...words: string[]) =>
    run(process.execPath, join(install, 'node_modules/watchhouse/watchhouse.mjs'), ...words)
  expect(command('query', 'SELECT 7 AS n', '--json').stdout).toBe('[{"n":7}]\n')
  // These use files of the services, which the package contains: rules, definitions and prompts.
  expect(JSON.parse(command('doctor', host.url, '--json').stdout).findings.length).toBeGreaterThanOrEqual(26)
  writeFileSync(join(install, 'alerts.yaml'), 'thresholds: { disk-usage: { warning: 70 } }\n')
  expect(command('check-config', install)).toMatchObject({ status: 0, stdout: 'alerts.yaml: valid\n' })
  expect(command('apply', install, '--dry-run')).toMatchObject({ status: 2, stderr: '' })
  const server = spawnSync(
    process.execPath,
    [join(install, 'node_modules/watchhouse/watchhouse.mjs'), 'mcp', '--clickhouse-url', host.url],
    {
      cwd: install,
      encoding: 'utf8',
      env: { HOME: install, CLICKHOUSE_PASSWORD: '' },
      input: `${JSON.stringify(initialize)}\n`,
    },
  )
  expect(JSON.parse(server.stdout)).toMatchObject({ id: 1, result: { serverInfo: { name: 'watchhouse' } } })
})

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
