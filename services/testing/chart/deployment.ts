import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { dump } from 'js-yaml'
import { deriveKey } from '#shared/bus/signatures.ts'
import { formatCallKeys } from '#shared/bus/testing/keys.ts'
import { testCertificate } from '../../alert-dispatcher/channels/testing/certificate.ts'
import { type ProductProcess, startProcess } from '../product/product-process.ts'
import { startNats, startPostgres, startRedis, type TestServer } from '../describe-with.ts'
import { reserveFreePort } from '../servers/port.ts'
import { renderObjects, hostsValuesFile } from './helm.ts'
import { buildDeclaredNatsAccounts } from '../../generate/chart/nats.ts'
import { findConfigMap, listRenderedProcesses, type RenderedProcess, type SecretValues } from './processes.ts'
import { operatorSecretName, type PodAddresses, createChartValues, type DeploymentOptions } from './values.ts'

/** The release whose bus contracts a process uses: `present` is the working tree, `last` the last published release. */
export type ContractRelease = 'present' | 'last'

/** The Deployments of the chart, which run as local processes. */
export interface DeployedProduct extends AsyncDisposable {
  /** Returns the address of the gateway that was started last. */
  gateway(): string
  readonly nats: TestServer
  /** Processes by component. The second pod of a component has a suffix, for example `agent-2`. */
  readonly processes: ReadonlyMap<string, ProductProcess>
  /** Replaces a process like a rolling update: the old process stops when the new one is ready. */
  roll(name: string): Promise<void>
  output(): string
}

/** Returns the NATS password of a user. It starts with a letter, because NATS parses a leading digit as a number. */
export const createUserPassword = (user: string): string => `password-of-${user}`

/** The value of `CRON_SECRET` unless a test sets another one. */
export const cronSecret = 'a secret of the scheduler'

const users = Object.keys((await buildDeclaredNatsAccounts()).users)

/**
 * Renders the chart and starts its processes with the rendered arguments, variables, files and ports. Like a pod, each
 * process has its own IP address. NATS uses the configuration of the chart. Until a process is replaced, it uses the
 * contracts of `release`.
 */
export const deployChart = async (
  options: DeploymentOptions,
  release: ContractRelease = 'present',
): Promise<DeployedProduct> => {
  await using opening = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-chart-'))
  opening.defer(() => rm(directory, { recursive: true, force: true }))
  const [nats, redis, postgres] = await Promise.all([
    startChartNats(directory),
    startRedis({ private: true }),
    startPostgres(),
  ])
  for (const server of [nats, redis, postgres]) opening.use(server)

  const ports = { http: await reserveFreePort(), operations: await reserveFreePort() }
  const values = join(directory, 'values.yaml')
  await writeFile(values, dump(await createChartValues(options, { nats: formatNatsAddress(nats), ports })))
  const secrets: SecretValues = new Map<string, Record<string, string>>([
    ['certificate', { 'ca.crt': testCertificate.cert }],
    ['users', { ...Object.fromEntries(users.map((user) => [user, createUserPassword(user)])), ...deriveBusKeys() }],
    [
      operatorSecretName,
      { CRON_SECRET: cronSecret, ...options.variables, REDIS_URL: redis.url, SVC_STATE_DB_URL: postgres.url },
    ],
  ])
  const running = opening.use(
    new RunningDeployment(listRenderedProcesses(await renderObjects([values]), secrets), ports, directory),
  )
  await running.start(release)
  const all = opening.move()
  return {
    nats,
    processes: running.processes,
    gateway: () => running.gateway(),
    roll: (name) => running.roll(name),
    output: () => running.output(),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Returns the bus keys of all services, by the names that the Secret of the chart uses. */
const deriveBusKeys = (): Record<string, string> => {
  const secret = randomBytes(32).toString('hex')
  const holders = users.filter((user) => user !== 'gateway' && !user.endsWith('-streams'))
  const keys = holders.flatMap((holder) => [
    [`verification-key-${holder}`, deriveKey(holder, secret)],
    [`call-keys-${holder}`, formatCallKeys(holder, secret)],
  ])
  return { 'signing-key': secret, ...Object.fromEntries(keys.filter(([, key]) => key !== '')) }
}

/** Returns host:port of a NATS server, with `localhost` because the certificate is issued for that name. */
export const formatNatsAddress = ({ url }: TestServer): string => `localhost:${new URL(url).port}`

/** Starts NATS with the users, permissions and TLS settings of the chart. Passwords come from the environment. */
const startChartNats = async (directory: string): Promise<TestServer> => {
  await writeFile(join(directory, 'tls.crt'), testCertificate.cert)
  await writeFile(join(directory, 'tls.key'), testCertificate.key)
  const values = { 'nats.existingSecret': 'users', 'nats.tls.existingSecret': 'certificate' }
  const { 'nats.conf': whole = '' } = findConfigMap(await renderObjects([hostsValuesFile], values), 'watchhouse-nats')
  const config = whole.slice(whole.indexOf('tls {')).replaceAll('/etc/nats-tls/', `${directory}/`)
  const variable = (user: string) => `NATS_PASSWORD_${user.replaceAll('-', '_').toUpperCase()}`
  const environment = Object.fromEntries(users.map((user) => [variable(user), createUserPassword(user)]))
  // Ports, storage and server name are local; users and permissions come from the chart.
  return startNats({ config, environment })
}

/** The processes of the Deployments. Like pods, they all use the same ports, so each has its own IP address. */
class RunningDeployment implements AsyncDisposable {
  readonly processes = new Map<string, ProductProcess>()
  readonly #rendered: readonly RenderedProcess[]
  readonly #ports: PodAddresses['ports']
  readonly #directory: string
  readonly #started: ProductProcess[] = []
  #addresses = 0
  #gateway = ''

  constructor(rendered: readonly RenderedProcess[], ports: PodAddresses['ports'], directory: string) {
    this.#rendered = rendered
    this.#ports = ports
    this.#directory = directory
  }

  /** Starts the processes one at a time, in order of their names. As in Kubernetes, the order ignores dependencies. */
  async start(release: ContractRelease): Promise<void> {
    for (const one of this.#rendered) {
      for (let replica = 1; replica <= one.replicas; replica++) {
        this.processes.set(replica === 1 ? one.name : `${one.name}-${replica}`, await this.#start(one, release))
      }
    }
  }

  gateway(): string {
    return this.#gateway
  }

  async roll(name: string): Promise<void> {
    const one = this.#rendered.find((process) => process.name === name)
    const old = this.processes.get(name)
    if (!one || !old) throw new Error(`cannot replace process "${name}": the chart renders no such Deployment`)
    this.processes.set(name, await this.#start(one, 'present'))
    await old.stop()
  }

  output(): string {
    return this.#started.map((process) => process.output()).join('\n')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#started.map((process) => process.stop()))
  }

  async #start(pod: RenderedProcess, release: ContractRelease): Promise<ProductProcess> {
    this.#addresses += 1
    const instance = `${pod.name}-${this.#addresses}`
    const host = `127.0.1.${this.#addresses}`
    const variables = {
      ...(await mount(pod, join(this.#directory, instance))),
      OPERATIONS_HOST: host,
      HOST: host,
      SVC_INSTANCE: instance,
    }
    const { operations: operationsPort } = this.#ports
    const spoken = release === 'last' ? { preload: 'services/acceptance/release-compatibility/emulate-release.ts' } : {}
    const started = await startProcess({ services: pod.services, variables, operationsPort, ...spoken })
    this.#started.push(started)
    if (pod.name === 'gateway') this.#gateway = `http://${host}:${this.#ports.http}`
    return started
  }
}

const mountedAt = '/etc/watchhouse/'

/** Writes the mounted files of a pod to a folder and returns its variables, with paths in that folder. */
const mount = async (pod: RenderedProcess, folder: string): Promise<Record<string, string>> => {
  const moved = (text: string) => text.replaceAll(mountedAt, `${folder}${mountedAt}`)
  for (const [path, content] of pod.files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), moved(content))
  }
  const variables = Object.entries(pod.variables).map(([name, value]) => [name, moved(value)])
  // In a pod these files are at the default path, so the chart does not set the variable.
  return { SVC_HEALTH_CONFIG_DIRECTORY: moved('/etc/watchhouse/health.d'), ...Object.fromEntries(variables) }
}
