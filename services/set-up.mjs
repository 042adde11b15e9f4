// `npm start`, `npm test` and `npm run bench` run this file first, on Node 20 or newer. It installs missing packages,
// builds the web UI and the product when their inputs changed, and starts Node 24 from node_modules. It is plain JavaScript, because Node
// 24 and the packages may not be installed yet.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const at = (...parts) => join(root, ...parts)
const node24 = at('node_modules/node/bin/node')
const stillWorkingMs = 15_000
const outputKept = 8_000
const pollMs = 200
const maxWaitMs = 20 * 60_000

/** The programs that run on Node 24 after the set-up. */
const entries = {
  start: 'services/build/main.mjs',
  test: 'services/acceptance/run.ts',
  containers: 'services/acceptance/containers/run.ts',
  clients: 'services/acceptance/clients/run.ts',
  cluster: 'services/acceptance/kubernetes/run.ts',
  'cluster-faults': 'services/acceptance/cluster-faults/run.ts',
  values: 'services/acceptance/values/run.ts',
  faults: 'services/acceptance/faults/run.ts',
  history: 'services/acceptance/history/run.ts',
  attacks: 'services/acceptance/attacks/run.ts',
  deployed: 'services/acceptance/deployment/run.ts',
  image: 'services/acceptance/image/run.ts',
  bench: 'services/bench/run.ts',
  eval: 'services/acceptance/evaluation/run.ts',
  screenshots: 'services/acceptance/screenshots/run.ts',
  mutations: 'services/requirements/mutation-testing/run.ts',
  release: 'release/run.ts',
}

const main = async ([command, ...rest]) => {
  if (Number.parseInt(process.versions.node, 10) < 20)
    throw new Error(`Node ${process.version} is too old; use version 20 or newer`)
  if (!Object.hasOwn(entries, command))
    throw new Error(`usage: node services/set-up.mjs ${Object.keys(entries).join('|')}`)
  handSignalsOn()
  if (!isInstalled() || !isWebBuilt() || !isProductBuilt()) {
    await alone(async () => {
      await installPackages()
      await buildWeb()
      await buildProduct()
    })
  }
  return command === 'start'
    ? handOver([...productOptions(), entries.start, ...rest], productDefaults)
    : handOver([entries[command], ...rest], { TEST_PRODUCT: entries.start })
}

/** Returns the options of Node for the product. The image has the same. */
const productOptions = () => {
  const { nodeOptions = '' } = JSON.parse(readFileSync(at('package.json'), 'utf8')).config ?? {}
  return nodeOptions.split(' ').filter(Boolean)
}

const productDefaults = {
  // State outlives a restart without any setting, and the product schedules its sweeps, because there is no CronJob.
  SVC_DATA_DIRECTORY: at('.watchhouse'),
  // Each memory arena of glibc keeps memory that its threads have freed.
  MALLOC_ARENA_MAX: '2',
}

/** The current child process: npm or the product. */
let child
/** The last received stop signal. */
let stopSignal
/** Whether the child process installs or builds. */
let isPreparing = false
const isTerminal = process.stderr.isTTY
/** Ends the progress line of a terminal. */
const lineEnd = isTerminal ? '\n' : ''

/**
 * Forwards signals to the child process. The handlers are added first, because a child may get a signal before this
 * process runs again. Without a child, signals end this process as usual.
 */
const handSignalsOn = () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    const pass = () => {
      // npm reverts its changes before it ends, unless it gets a second signal.
      if (isPreparing && !stopSignal)
        say(`${lineEnd}Stopping; waiting for npm. Press Ctrl+C again to stop immediately …`)
      stopSignal = signal
      if (child) return child.kill('SIGTERM')
      process.off(signal, pass)
      process.kill(process.pid, signal)
    }
    process.on(signal, pass)
  }
}

const lock = at('.watchhouse/set-up.lock')

/**
 * Runs `work` while holding the lock of this folder. The lock is a symbolic link whose target is the pid, because link
 * and target are created atomically.
 */
const alone = async (work) => {
  mkdirSync(dirname(lock), { recursive: true })
  const until = performance.now() + maxWaitMs
  let reportedPid
  while (!isLocked()) {
    const pid = holder()
    if (pid === undefined) continue
    if (reportedPid !== pid) say(`Waiting for process ${pid}, which is installing or building …`)
    reportedPid = pid
    if (performance.now() > until)
      throw new Error(
        `process ${pid} still holds ${lock}; delete this file if the process does not belong to Watchhouse`,
      )
    await wait(pollMs)
  }
  try {
    await work()
  } finally {
    unlinkSync(lock)
  }
}

const isLocked = () => {
  try {
    symlinkSync(String(process.pid), lock)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

/** Returns the pid that holds the lock, and removes the lock of an ended process. */
const holder = () => {
  try {
    const pid = Number(readlinkSync(lock))
    if (isRunning(pid)) return pid
    unlinkSync(lock)
  } catch (error) {
    // The holder released the lock, or another process removed a stale one.
    if (error.code !== 'ENOENT') throw error
  }
}

const isRunning = (pid) => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // A process of another user rejects signals, but it runs.
    return error.code === 'EPERM'
  }
}

/**
 * Installs the packages if node_modules differs from package-lock.json. Compares the lock file with the record of npm
 * in node_modules, which is faster than running npm. `npm ci` is not used, because it rejects a lock file without the
 * optional binaries of every platform.
 */
const installPackages = async () => {
  if (isInstalled()) return
  if (existsSync(installing)) {
    // npm treats an incomplete package as installed and never repairs it.
    say('Removing an incomplete installation …')
    for (const folder of ['node_modules', 'web/node_modules']) rmSync(at(folder), { recursive: true, force: true })
  }
  writeFileSync(installing, '')
  const npm = npmCommand('install', '--no-save', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error')
  await step('Installing npm packages', npm, 'Check that the package registry is reachable.')
  if (!isInstalled())
    throw new Error('npm did not install Node 24 (package `node`); check that install scripts are enabled')
  unlinkSync(installing)
}

/** Exists during an installation and after a failed one. */
const installing = at('.watchhouse/installing')

const isInstalled = () => {
  if (!existsSync(node24) || !existsSync(at('node_modules/.package-lock.json'))) return false
  const packages = (file) => JSON.parse(readFileSync(at(file), 'utf8')).packages
  const installed = packages('node_modules/.package-lock.json')
  return Object.entries(packages('package-lock.json')).every(([name, wanted]) => {
    if (!name.includes('node_modules/') || wanted.link) return true
    const found = installed[name]
    return found ? found.version === wanted.version : wanted.optional === true
  })
}

/**
 * Returns the command of the current npm with its own Node. With another Node, npm would read a different global
 * configuration.
 */
const npmCommand = (...rest) => {
  const { npm_node_execpath: node, npm_execpath: cli } = process.env
  return node && cli?.endsWith('.js') ? [node, cli, ...rest] : ['npm', ...rest]
}

const buildWeb = async () => {
  if (isWebBuilt()) return
  const inputs = hashWebInputs()
  await step('Building the web UI', npmCommand('run', 'build', '--workspace=web'))
  writeFileSync(webStamp, inputs)
}

const webStamp = at('web/build/.inputs')

/** Returns whether the input files and variables of the web are those of its last build. */
const isWebBuilt = () => existsSync(webStamp) && readFileSync(webStamp, 'utf8') === hashWebInputs()

/**
 * Returns whether the build inlines a variable into the files of the browser. Variables that describe the build itself
 * do not count.
 */
const isWebVariable = (name) =>
  canonicalVariables.has(name) || (name.startsWith('CLIENT_') && !/_(GIT_SHA|GIT_REF|BUILD_TIMESTAMP)$/.test(name))
const canonicalVariables = new Set([
  'SVC_AUTH_PROVIDER',
  'SVC_IDP_PUBLISHABLE_KEY',
  'SVC_CLOUD_MODE',
  'SVC_DEPLOYMENT_MODE',
  'SVC_FEATURE_CONVERSATION_DB',
  'SVC_FEATURE_USER_CONNECTIONS_DB',
  'SVC_EDITION',
  'SVC_ANALYTICS_KEY',
  'SVC_ANALYTICS_HOST',
  'DOCS_CONTENT_ROOT',
  'ENABLE_EDGE_BUILD',
])

const hashWebInputs = () => {
  const single = ['package.json', 'package-lock.json', 'services/shared/config/REFERENCE.md']
  const hash = hashFiles([...single, ...filesOf('web'), ...filesOf('proto'), ...docsOfOwn()])
  const variables = Object.keys(process.env).filter(isWebVariable).toSorted()
  for (const name of variables) hash.update(`${name}=${process.env[name]}\0`)
  return hash.digest('hex')
}

const hashFiles = (files) => {
  const hash = createHash('sha256')
  for (const file of files) {
    hash.update(`${file}\0`)
    hash.update(readFileSync(resolve(root, file)))
  }
  return hash
}

/** Bundles the product and the command line, because a bundle starts faster than its modules. */
const buildProduct = async () => {
  if (isProductBuilt()) return
  const inputs = hashProductInputs()
  await step('Bundling the product', [node24, at('services/bundle.ts')])
  await step('Bundling the command line', [node24, at('services/bundle.ts'), '--command-line'])
  writeFileSync(productStamp, inputs)
}

const productStamp = at('services/build/.inputs')

/** Returns whether the product was bundled from the current modules and packages. */
const isProductBuilt = () => existsSync(productStamp) && readFileSync(productStamp, 'utf8') === hashProductInputs()

const hashProductInputs = () =>
  hashFiles(['package.json', 'package-lock.json', ...filesOf('services'), ...filesOf('proto')]).digest('hex')

/** Returns the Markdown files of the documentation folder of an installation. The build reports a missing folder. */
const docsOfOwn = () => {
  const folder = process.env.DOCS_CONTENT_ROOT && resolve(root, process.env.DOCS_CONTENT_ROOT)
  if (!folder || !existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .toSorted()
    .map((name) => join(folder, name))
}

const filesOf = (folder) => {
  const names = readdirSync(at(folder), { recursive: true }).map((name) => `${folder}/${name}`)
  const inputs = names.filter(
    (name) => !/\/(node_modules|build|tests|pictures|\.svelte-kit)(\/|$)|\.test\.ts$/.test(name),
  )
  return inputs.filter((name) => statSync(at(name)).isFile()).toSorted()
}

/** Runs Node 24 in the foreground and returns its exit code. */
const handOver = (rest, defaults = {}) =>
  new Promise((resolve, reject) => {
    const env = {
      // Caching compiled modules between starts halves their load time.
      NODE_COMPILE_CACHE: at('.watchhouse/compile-cache'),
      ...defaults,
      ...process.env,
      PATH: [at('node_modules/.bin'), process.env.PATH].join(delimiter),
    }
    child = spawn(node24, rest, { cwd: root, stdio: 'inherit', env })
    child.on('error', reject)
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]))
  })

/** Runs a step with a progress line; when it fails, prints the end of its output. */
const step = (title, [program, ...rest], hint = '') =>
  new Promise((resolve, reject) => {
    const began = performance.now()
    const show = (word, end = isTerminal ? '' : '\n') => {
      const seconds = Math.round((performance.now() - began) / 1000)
      process.stderr.write(`${isTerminal ? '\r' : ''}${title} … ${word}${seconds} s${end}`)
    }
    show('')
    const timer = setInterval(show, isTerminal ? 1_000 : stillWorkingMs, '')
    isPreparing = true
    child = spawn(program, rest, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => (output = (output + chunk).slice(-outputKept)))
    }
    const end = (problem) => {
      clearInterval(timer)
      child = undefined
      isPreparing = false
      const word = problem ? 'failed after ' : 'done in '
      show(stopSignal ? 'stopped after ' : word, '\n')
      if (stopSignal) return reject(new Error(`stopped by ${stopSignal}`))
      if (!problem) return resolve()
      reject(new Error(`${output.trimEnd()}\n${title} failed: ${problem}. ${hint}`.trim()))
    }
    child.on('error', (error) => end(error.message))
    child.on('close', (code, signal) => end(code === 0 ? '' : `${program} ended with ${signal ?? code}`))
  })

const say = (line) => process.stderr.write(`${line}\n`)

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!stopSignal) say(error.message)
  process.exitCode = stopSignal ? 128 + constants.signals[stopSignal] : 1
}
