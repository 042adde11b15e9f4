import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, readlink, rm, symlink, watch, writeFile } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { root } from '../testing/source-file.ts'

/**
 * Files of a minimal repository. Its builds count their runs in files that are not inputs of a build. Its product exits
 * with code 7 if it runs with the Node options of `package.json`.
 */
const files: Record<string, string> = {
  'package.json': JSON.stringify({
    name: 'small',
    private: true,
    workspaces: ['web'],
    config: { nodeOptions: '--max-semi-space-size=2' },
  }),
  'package-lock.json': JSON.stringify({ packages: { '': {}, 'node_modules/zod': { version: '4.0.0' } } }),
  'node_modules/.package-lock.json': JSON.stringify({ packages: { 'node_modules/zod': { version: '4.0.0' } } }),
  'web/package.json': JSON.stringify({
    name: 'web',
    scripts: { build: 'mkdir -p build && echo built >> ../built.log' },
  }),
  'web/src/page.svelte': '<p>1</p>',
  'proto/query.ts': 'export const a = 1',
  'services/shared/config/REFERENCE.md': '# Settings',
  'services/bundle.ts': `
    import { appendFileSync, copyFileSync, mkdirSync } from 'node:fs'
    mkdirSync(import.meta.dirname + '/build', { recursive: true })
    copyFileSync(import.meta.dirname + '/main.ts', import.meta.dirname + '/build/main.mjs')
    const log = process.argv.includes('--command-line') ? 'command-line.log' : 'bundled.log'
    appendFileSync(import.meta.dirname + '/../' + log, 'bundled' + String.fromCharCode(10))`,
  // A module that blocks the parent process until the product has received the stop signal.
  'hold.cjs': `
    const { existsSync } = require('node:fs')
    const processes = require('node:child_process')
    const { spawn } = processes
    processes.spawn = (...rest) => {
      const child = spawn(...rest)
      while (!existsSync(__dirname + '/stopped')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
      return child
    }
    require('node:module').syncBuiltinESMExports()`,
  'services/main.ts': `
    const hasOptions = process.execArgv.join(' ') === '--max-semi-space-size=2'
    process.on('SIGTERM', () => { process.exitCode = hasOptions ? 7 : 8; clearInterval(waiting) })
    const waiting = setInterval(() => {}, 1000)
    console.log('up', process.argv.slice(2).join(' '))`,
}

describe('set-up', () => {
  let directory: string

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'watchhouse-set-up-'))
    for (const [path, text] of Object.entries(files)) await write(path, text)
    await cp(join(root, 'services/set-up.mjs'), join(directory, 'services/set-up.mjs'))
    await mkdir(join(directory, 'node_modules/node/bin'), { recursive: true })
    await symlink(process.execPath, join(directory, 'node_modules/node/bin/node'))
  })
  afterAll(() => rm(directory, { recursive: true }))

  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), text)
  }

  const runsIn = async (log: string) => (await readFile(join(directory, log), 'utf8')).split('\n').length - 1
  const builds = () => runsIn('built.log')
  const bundles = () => runsIn('bundled.log')

  /** Starts the product, sends the signal to set-up, and returns the exit code and the output. */
  const startAndStop = async (signal: NodeJS.Signals, env: Record<string, string> = {}) => {
    const child = run(['start', 'query'], env)
    const said = listen(child)
    while (!said().includes('up query')) await Promise.race([once(child.stdout, 'data'), failWhenEnded(child, said)])
    const closed = once(child, 'close')
    child.kill(signal)
    await writeFile(join(directory, 'stopped'), '')
    await closed
    return { code: child.exitCode, said: said() }
  }

  /** Runs set-up in its own process group, so that no process outlives a failed test. */
  const run = (rest: readonly string[], env: Record<string, string> = {}) => {
    const child = spawn(process.execPath, [join(directory, 'services/set-up.mjs'), ...rest], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    onTestFinished(() => endGroup(child))
    return child
  }

  it('builds the web and the product once, forwards signals and returns the exit code of the product', async () => {
    const first = await startAndStop('SIGTERM')
    expect(first).toEqual({
      code: 7,
      said: expect.stringMatching(/Building the web UI … done[^]*Bundling the product … done/),
    })
    const second = await startAndStop('SIGINT')
    expect(second).toEqual({ code: 7, said: 'up query\n' })
    expect([await builds(), await bundles()]).toEqual([1, 1])
  })

  it('runs the product with the Node options and memory arenas of the image', async () => {
    const { config } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    const image = await readFile(join(root, 'services/Dockerfile'), 'utf8')
    const options = config.nodeOptions.split(' ').map((option: string) => JSON.stringify(option))
    expect(image).toContain(`ENTRYPOINT ["node", ${options.join(', ')}, "services/build/main.mjs"]`)
    // The compile cache is only valid for the Node options with which it was created.
    expect(image).toContain(` node ${config.nodeOptions} services/build/main.mjs\n`)
    const arenas = /MALLOC_ARENA_MAX\W+(\d+)/
    const setUp = await readFile(join(root, 'services/set-up.mjs'), 'utf8')
    expect(arenas.exec(image)?.[1]).toBe(arenas.exec(setUp)?.[1])
  })

  it('rebuilds only if a file or variable of the build changes', async () => {
    const before = await builds()
    await write('web/src/page.svelte', '<p>2</p>')
    await startAndStop('SIGTERM')
    expect(await builds()).toBe(before + 1)
    await startAndStop('SIGTERM', { SVC_EDITION: 'team' })
    expect(await builds()).toBe(before + 2)
    await startAndStop('SIGTERM', { SVC_EDITION: 'team', CLIENT_GIT_SHA: 'abc', COLUMNDB_HOST: 'http://localhost' })
    expect(await builds()).toBe(before + 2)
    const bundledBefore = await bundles()
    await write('services/main.ts', `${files['services/main.ts']} // changed`)
    await startAndStop('SIGTERM', { SVC_EDITION: 'team' })
    expect([await builds(), await bundles()]).toEqual([before + 2, bundledBefore + 1])
  })

  it('forwards a signal that arrives while the product starts', async () => {
    await rm(join(directory, 'stopped'), { force: true })
    // The blocked parent simulates a busy machine on which the signal arrives while the product starts.
    const held = { NODE_OPTIONS: `--require ${join(directory, 'hold.cjs')}` }
    expect(await startAndStop('SIGTERM', { SVC_EDITION: 'team', ...held })).toEqual({ code: 7, said: 'up query\n' })
  })

  it('builds once for two concurrent starts', async () => {
    const before = await builds()
    await write('web/src/page.svelte', '<p>3</p>')
    const both = await Promise.all([startAndStop('SIGTERM'), startAndStop('SIGTERM')])
    expect(both.map(({ code }) => code)).toEqual([7, 7])
    expect(await builds()).toBe(before + 1)
  })

  it('waits for a running process, and ignores a stale lock', async () => {
    const lock = join(directory, '.watchhouse/set-up.lock')
    const ended = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
    await once(ended, 'exit')
    await symlink(String(ended.pid), lock)
    await write('web/src/page.svelte', '<p>4</p>')
    expect(await startAndStop('SIGTERM')).toMatchObject({ code: 7, said: expect.not.stringContaining('Waiting') })
    await symlink(String(process.pid), lock)
    await write('web/src/page.svelte', '<p>5</p>')
    const waiting = run(['start'])
    await once(waiting.stderr, 'data')
    const said = listen(waiting)
    await rm(lock)
    while (!said().includes('up')) await Promise.race([once(waiting.stdout, 'data'), failWhenEnded(waiting, said)])
  })

  it('stops its children on a signal, and leaves no lock', async () => {
    await write('web/package.json', JSON.stringify({ name: 'web', scripts: { build: 'exec tail -f /dev/null' } }))
    const child = run(['start'])
    const said = listen(child)
    while (!said().includes('Building')) await Promise.race([once(child.stderr, 'data'), failWhenEnded(child, said)])
    child.kill('SIGTERM')
    await once(child, 'close')
    expect({ code: child.exitCode, said: said() }).toMatchObject({
      code: 128 + constants.signals.SIGTERM,
      said: expect.stringMatching(
        /^Building the web UI … 0 s\nStopping; .*\nBuilding the web UI … stopped after \d+ s\n$/,
      ),
    })
    await expect(readlink(join(directory, '.watchhouse/set-up.lock'))).rejects.toThrow('ENOENT')
    await write('web/package.json', files['web/package.json'] ?? '')
  })

  it('lists its commands for an unknown one', async () => {
    const child = run(['deploy'])
    const said = listen(child)
    await once(child, 'close')
    expect({ code: child.exitCode, said: said() }).toEqual({
      code: 1,
      said: expect.stringContaining('start|test|containers|'),
    })
  })

  it('installs again after an interrupted installation, because npm would keep partial packages', async () => {
    const lock = JSON.stringify({ packages: { '': {}, 'node_modules/zod': { version: '4.0.1' } } })
    await write('package-lock.json', lock)
    await write('node_modules/zod/half.node', 'cut o')
    // A fake npm that hangs on the first run, so that the test can interrupt it.
    await write(
      'npm.js',
      `const { existsSync, mkdirSync, symlinkSync, writeFileSync } = require('node:fs')
      if (!existsSync('tried')) {
        writeFileSync('tried', '')
        return setInterval(() => {}, 1000)
      }
      if (!process.argv.includes('install')) return
      mkdirSync('node_modules/node/bin', { recursive: true })
      symlinkSync(process.execPath, 'node_modules/node/bin/node')
      writeFileSync('node_modules/.package-lock.json', ${JSON.stringify(lock)})`,
    )
    const npm = { npm_node_execpath: process.execPath, npm_execpath: join(directory, 'npm.js') }
    const changes = watch(directory)
    const child = run(['start'], npm)
    for await (const { filename } of changes) if (filename === 'tried') break
    child.kill('SIGINT')
    await once(child, 'close')
    expect(await startAndStop('SIGTERM', npm)).toMatchObject({
      code: 7,
      said: expect.stringMatching(/^Removing an incomplete installation.*\n(.*\n)*Installing npm packages … done/),
    })
    expect(existsSync(join(directory, 'node_modules/zod/half.node'))).toBe(false)
    expect(existsSync(join(directory, '.watchhouse/installing'))).toBe(false)
  })

  it('fails with an explanation if packages cannot be installed', async () => {
    await write('package-lock.json', JSON.stringify({ packages: { '': {}, 'node_modules/zod': { version: '4.0.2' } } }))
    await write('package.json', JSON.stringify({ name: 'small', dependencies: { zod: '4.0.2' } }))
    const offline = { npm_config_registry: 'http://127.0.0.1:1', npm_config_fetch_retries: '0' }
    const child = run(['start'], { ...offline, npm_config_cache: join(directory, 'cache') })
    const said = listen(child)
    await once(child, 'close')
    expect(child.exitCode).toBe(1)
    expect(said()).toMatch(/Installing npm packages failed: .*Check that the package registry is reachable\./)
  })
})

const listen = (child: ChildProcess): (() => string) => {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  return () => said
}

const endGroup = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // Ignored: all processes of the group have exited.
  }
}

const failWhenEnded = async (child: ChildProcess, said: () => string) => {
  await once(child, 'exit')
  throw new Error(`set-up exited before the product started; output:\n${said()}`)
}
