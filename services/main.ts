import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import packageFile from '../package.json' with { type: 'json' }
import type { ServiceName } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { exampleHostNames } from '#proto/host.ts'
import type { Bus } from '#shared/bus/bus.ts'
import { createRequestSigner } from '#shared/bus/config.ts'
import { keepStreamsInstalled } from '#shared/bus/durable/installer.ts'
import { installerService } from '#shared/bus/durable/stream-access.ts'
import { openQueueFactory } from '#shared/bus/durable/open.ts'
import { openBus, openMemoryHub, openNatsHub } from '#shared/bus/open.ts'
import { systemClock } from '#shared/time/clock.ts'
import { type Environment, freezeEnvironment, resolveFileVariables } from '#shared/config/environment.ts'
import { processSettings } from '#shared/config/process.ts'
import { InvalidSettings, parseSettings, type SettingProblem, type SettingValues } from '#shared/config/setting.ts'
import {
  describeProblems,
  joinNames,
  collectSecretNames,
  findStartProblems,
  findUnreadVariables,
} from '#shared/lifecycle/start-problems.ts'
import { formatFatalError } from '#shared/lifecycle/fatal-error.ts'
import { startOperationsServer } from '#shared/lifecycle/operations.ts'
import { exportReadiness, openReadiness, type ProcessReadiness, reportProblem } from '#shared/lifecycle/readiness.ts'
import { listenForStop, type StopRequest } from '#shared/lifecycle/stop.ts'
import { openNet } from '#shared/net/net.ts'
import type { ServiceConfig, ServiceStarter } from '#shared/lifecycle/service.ts'
import { findDataDirectory, openDataDirectory } from '#shared/store/data-directory.ts'
import { openStore } from '#shared/store/open.ts'
import {
  chooseInstanceName,
  openTelemetry,
  type ProcessAttributes,
  type ProcessTelemetry,
} from '#shared/telemetry/open.ts'

interface ServiceModules {
  config(): Promise<ServiceConfig>
  service(): Promise<{ start: ServiceStarter }>
}

/** All services, each listed after the services that it calls. They start in this order and stop in reverse order. */
const services = {
  query: { config: () => import('./query/config.ts'), service: () => import('./query/service.ts') },
  report: { config: () => import('./report/config.ts'), service: () => import('./report/service.ts') },
  mcp: { config: () => import('./mcp/config.ts'), service: () => import('./mcp/service.ts') },
  'alert-dispatcher': {
    config: () => import('./alert-dispatcher/config.ts'),
    service: () => import('./alert-dispatcher/service.ts'),
  },
  ingest: { config: () => import('./ingest/config.ts'), service: () => import('./ingest/service.ts') },
  agent: { config: () => import('./agent/config.ts'), service: () => import('./agent/service.ts') },
  gateway: { config: () => import('./gateway/config.ts'), service: () => import('./gateway/service.ts') },
} satisfies Partial<Record<ServiceName, ServiceModules>>

type Target = keyof typeof services
// The cast is safe, because an object literal has exactly the keys of its type.
const targets = Object.keys(services) as Target[]

const root = join(import.meta.dirname, '..')
const usageExitCode = 2
const failureExitCode = 1

/** The selected services and their validated settings. */
interface Plan {
  chosen: readonly Target[]
  /** The environment variables of the process, from which `env` is created. */
  variables: Record<string, string | undefined>
  env: Environment
  settings: SettingValues<typeof processSettings>
  /** Deprecated names that are set but never read. */
  unread: readonly SettingProblem[]
  facts: ProcessAttributes
}

const main = async (names: readonly string[], variables: Plan['variables']): Promise<void> => {
  if (names[0] === 'check-config') return checkConfig(names.slice(1), variables)
  if (names[0] === 'backup' || names[0] === 'restore') return copyState(names[0], names.slice(1), variables)
  const unknown = names.filter((name) => !targets.some((target) => target === name))
  if (unknown.length > 0) {
    return refuse(
      usageExitCode,
      `unknown service "${unknown.join(', ')}"; available: ${joinNames(targets)}; without arguments all services run\n`,
    )
  }
  try {
    const plan = await makePlan(
      targets.filter((target) => names.length === 0 || names.includes(target)),
      variables,
    )
    await using telemetry = await openTelemetry(plan.env, plan.facts)
    for (const { name, sentence } of plan.unread)
      telemetry.log.warn({ variable: name, reason: sentence }, 'invalid setting ignored')
    await serve(plan, telemetry).catch((error: unknown) => {
      if (error instanceof InvalidSettings) throw error
      // A stack trace is logged only for unexpected errors, which indicate a defect.
      telemetry.log.fatal(
        error instanceof ServiceError ? { reason: error.message } : { err: error },
        'stopped by an error',
      )
      process.exitCode = failureExitCode
    })
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error
    refuse(failureExitCode, describeProblems(error.problems))
  }
}

/**
 * Reports all problems in a folder of alert definitions. With `--connect`, also checks the connections to all servers.
 */
const checkConfig = async (parameters: readonly string[], env: Environment) => {
  const isConnecting = parameters.includes('--connect')
  const [directory, ...more] = parameters.filter((argument) => argument !== '--connect')
  if ((directory === undefined && !isConnecting) || directory?.startsWith('-') || more.length > 0) {
    const sentence = 'check-config takes one folder of alert definitions, --connect or both'
    return refuse(usageExitCode, `${sentence}: check-config --connect /etc/watchhouse/health.d\n`)
  }
  const { checkConfig: check } = await import('./cli/check-config.ts')
  const { isValid, text } = await check({ folder: directory, isConnecting }, env)
  if (!isValid) return refuse(failureExitCode, text)
  process.stdout.write(text)
}

/** Backs up the state in a SQLite file to another file, or restores it from one. */
const copyState = async (action: 'backup' | 'restore', [file, ...more]: readonly string[], env: Environment) => {
  if (file === undefined || more.length > 0)
    return refuse(usageExitCode, `${action} takes one file: ${action} /backups/watchhouse.db\n`)
  const { backUpState, restoreState } = await import('#shared/store/sql/file-backup.ts')
  try {
    const copy = action === 'backup' ? backUpState : restoreState
    process.stdout.write(`${await copy(resolveFileVariables(env), file)}\n`)
  } catch (error) {
    if (error instanceof InvalidSettings) return refuse(failureExitCode, describeProblems(error.problems))
    if (!(error instanceof ServiceError)) throw error
    refuse(failureExitCode, `${action} failed: ${error.message}\n`)
  }
}

const refuse = (exitCode: number, sentences: string): void => {
  process.stderr.write(sentences)
  process.exitCode = exitCode
}

/** Validates the settings. Throws `InvalidSettings` with all problems of the process and of the selected services. */
const makePlan = async (chosen: readonly Target[], variables: Plan['variables']): Promise<Plan> => {
  const env = resolveFileVariables(variables)
  const configs = await Promise.all(chosen.map((target) => services[target].config()))
  const elsewhere = targets.filter((target) => !chosen.includes(target))
  const problems = findStartProblems({ configs, chosen, elsewhere }, env)
  if (problems.length > 0) throw new InvalidSettings(problems)
  const settings = parseSettings(processSettings, env)
  const { version } = packageFile
  const facts = {
    instance: chooseInstanceName(settings.SVC_INSTANCE),
    version,
    // A guest process queries no host of the host list, so it does not count as a process of `query`.
    services: chosen.map((target) => (target === 'query' && env.SVC_QUERY_ROLE === 'guest' ? 'query-guest' : target)),
    secretNames: collectSecretNames(configs),
  }
  const known = [processSettings, ...configs.map((config) => config.settings)].flatMap(Object.keys)
  return { chosen, variables, env, settings, unread: findUnreadVariables(known, variables), facts }
}

/** Starts the services with their resources and waits for a stop request. Everything is released on return. */
const serve = async ({ chosen, variables, env, settings, facts }: Plan, telemetry: ProcessTelemetry): Promise<void> => {
  const { log, metrics } = telemetry
  await using scope = new AsyncDisposableStack()
  const stop = scope.use(listenForStop(log))
  const readiness = openReadiness()
  const buses: Bus[] = []
  let started = false
  readiness.require('start', () => started && !stop.isRequested)
  readiness.require('bus', () => buses.every((bus) => bus.connected))
  const { OPERATIONS_HOST: host, OPERATIONS_PORT: port, NATS_REPLICAS: replicas } = settings
  exportReadiness(readiness, metrics)
  const operations = scope.use(await startOperationsServer({ host, port, readiness, metrics }))

  // Embedded hosts take longest to start, so they start while the services load. Awaiting them below reports failures.
  const isFirstLook = chosen.includes('query') && needsExampleHosts(env, settings)
  const state = openDataDirectory(env, log)
  const hosts = isFirstLook && startSandboxes(scope, log, resolve(root, settings.SVC_SANDBOX_DIRECTORY))
  const historyUrl = isFirstLook && !env.SVC_HISTORY_URL ? await reserveHistoryUrl() : undefined
  const modules = Promise.all(chosen.map(async (caller) => ({ caller, ...(await services[caller].service()) })))
  modules.catch(() => {})
  Object.assign(variables, await hosts, state, historyUrl && { SVC_HISTORY_URL: historyUrl.href })
  freezeEnvironment(env)
  const busIsShared = settings.NATS_URL !== undefined
  if (settings.STARTUP_WAIT_MS > 0 && !(await serversRespond(env, log, stop))) return
  const hub = settings.NATS_URL ? openNatsHub({ url: settings.NATS_URL.href, log }) : openMemoryHub()
  const signatures = createRequestSigner(env)
  if (!signatures) log.warn('NATS_VERIFICATION_KEY is not set: requests between services are not authenticated')
  const [url, streamsUrl] = [settings.NATS_URL?.href, settings.NATS_STREAMS_URL?.href]
  if (streamsUrl !== undefined && chosen.includes(installerService)) {
    scope.use(await installStreams({ url: streamsUrl, replicas, log }, facts.instance, readiness))
  }
  const queues = scope.use(openQueueFactory({ url, streamsUrl, replicas, env, log }))
  const store = scope.use(await openStore({ env, busIsShared, log }))
  // Pages, charts and tools need no store, so a process without one still serves most requests.
  reportProblem(readiness, 'store', () => store.problem)
  const net = scope.use(openNet({ env }))

  let door: string | undefined
  for (const { caller, start } of await modules) {
    const own = telemetry.of(caller)
    const bus = scope.use(await openBus({ hub, caller, ...facts, signatures, telemetry: own }))
    buses.push(bus)
    const context = { env, bus, store, net, telemetry: own, clock: systemClock, readiness }
    const openOwnQueue = () => queues.open({ caller, instance: facts.instance }, own)
    const running = scope.use(await start({ ...context, openQueue: openOwnQueue }))
    door ??= running.url
  }
  started = true
  const tookMs = Math.round(performance.now())
  if (!stop.isRequested) log.info({ url: door, operations: operations.url, services: chosen, tookMs }, 'ready')
  if (historyUrl) scope.use(startHistoryServer(log, historyUrl, state.SVC_STATE_DB_URL && findDataDirectory(env)?.path))
  await stop.requested
  stop.bound(settings.SHUTDOWN_GRACE_MS)
}

/** Waits for the servers. Returns false on a stop request. Loaded only if used, because it imports all clients. */
const serversRespond = async (env: Environment, log: Logger, stop: StopRequest): Promise<boolean> => {
  const { waitForServers } = await import('#shared/lifecycle/wait-for-servers.ts')
  await waitForServers(env, log, stop)
  return !stop.isRequested
}

/** Creates the streams in the background. Startup does not wait for them, because many requests do not need them. */
const installStreams = async (
  options: Parameters<typeof keepStreamsInstalled>[0],
  instance: string,
  readiness: ProcessReadiness,
): Promise<AsyncDisposable> => {
  const installation = await keepStreamsInstalled(options, { caller: installerService, instance })
  reportProblem(readiness, 'streams', () => installation.problem)
  return installation
}

/** Returns whether example hosts replace the missing host list. In production, users add the first host. */
const needsExampleHosts = (env: Environment, { NODE_ENV }: Plan['settings']): boolean =>
  NODE_ENV !== 'production' && !env.COLUMNDB_HOST && !env.SVC_HOSTS_FILE && env.SVC_QUERY_ROLE !== 'guest'

/** Starts two embedded hosts, which keep their data between starts. Returns the variables that configure them. */
const startSandboxes = async (
  scope: AsyncDisposableStack,
  log: Logger,
  directory: string,
): Promise<Plan['variables']> => {
  log.info('COLUMNDB_HOST is not set: starting two embedded ClickHouse hosts with sample data')
  const { startSandbox } = await import('./sandbox/start.ts')
  const start = (label: string) => startSandbox({ label, directory: join(directory, label), seed: true })
  // Waits for all hosts, so that none keeps running when another one fails to start.
  const starts = await Promise.allSettled(exampleHostNames.map(start))
  const hosts = starts.filter((result) => result.status === 'fulfilled').map(({ value }) => scope.use(value))
  const failure = starts.find((result) => result.status === 'rejected')
  if (failure) {
    const sentence = `cannot start the embedded hosts in "${directory}"; if another process uses the directory, stop it or choose another directory: ${String(failure.reason)}`
    throw new InvalidSettings([{ name: 'SVC_SANDBOX_DIRECTORY', sentence }])
  }
  const users = hosts.map(({ users }) => users.find(({ user }) => user === 'watchhouse'))
  return {
    COLUMNDB_HOST: hosts.map(({ url }) => url).join(','),
    COLUMNDB_USER: users.map((user) => user?.user).join(','),
    COLUMNDB_PASSWORD: users.map((user) => user?.password).join(','),
    COLUMNDB_NAME: exampleHostNames.join(','),
  }
}

/**
 * Starts the embedded server for the history of the embedded hosts. It starts after the services, because they need it
 * only a minute later, and everything else works without it.
 */
const startHistoryServer = (log: Logger, url: URL, dataDirectory: string | undefined): AsyncDisposable => {
  const port = Number(url.port)
  const directory = dataDirectory && { directory: resolve(dataDirectory, 'history') }
  const starting = import('./sandbox/start.ts')
    .then(({ startSandbox }) => startSandbox({ label: 'history', port, ...directory }))
    .catch((error: unknown) => void log.warn({ err: error }, 'embedded history server failed to start'))
  return { [Symbol.asyncDispose]: async () => (await starting)?.[Symbol.asyncDispose]() }
}

/** Returns the address of an embedded server that starts later, on a port that no process listens on. */
const reserveHistoryUrl = async (): Promise<URL> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The address of a server that listens on a port is an object.
  const { port } = server.address() as AddressInfo
  server.close()
  return new URL(`http://127.0.0.1:${port}`)
}

try {
  await main(process.argv.slice(2), { ...process.env })
} catch (error) {
  refuse(failureExitCode, formatFatalError(error, process.env))
}
