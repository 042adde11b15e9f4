import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dump } from 'js-yaml'
import type { ProductHost } from '../product.ts'
import { type ProductProcess, startProcess } from '../product/process.ts'
import { startNats, startPostgres, startRedis, type TestServer } from '../servers.ts'
import { freePort } from '../servers/port.ts'
import { render } from './helm.ts'
import { configMapOf, processesOf, type RenderedProcess } from './processes.ts'

/** The Deployments of the chart as processes of this machine. */
export interface Deployed extends AsyncDisposable {
  /** Where the gateway listens that started last. */
  gateway(): string
  readonly nats: TestServer
  /** Every process by its component. */
  readonly processes: ReadonlyMap<string, ProductProcess>
  /** Starts a second process of a component, and ends the first when that is ready, as a rollout does. */
  roll(name: string): Promise<void>
  output(): string
}

/** Each user's password in the test; a NATS server takes what begins with a digit for a number. */
export const passwordOf = (user: string): string => `password-of-${user}`

const users = ['gateway', 'query', 'query-guest', 'agent', 'mcp', 'alert-dispatcher', 'ingest', 'report']

/**
 * Renders the chart for real servers, and starts what it renders: its arguments, its variables and its ports, each process on an
 * address of its own as pods have. The NATS server has the configuration that the chart gives its own.
 */
export const deploy = async (
  hosts: readonly ProductHost[],
  setEnvironment: (name: string, value: string) => void,
): Promise<Deployed> => {
  await using opening = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-chart-'))
  opening.defer(() => rm(directory, { recursive: true, force: true }))
  const [nats, redis, postgres] = await Promise.all([
    startChartNats(setEnvironment),
    startRedis({ private: true }),
    startPostgres(),
  ])
  for (const server of [nats, redis, postgres]) opening.use(server)

  const ports = { http: await freePort(), operations: await freePort() }
  const values = join(directory, 'values.yaml')
  await writeFile(values, dump(valuesFor({ nats, hosts, ports })))
  const secrets = new Map([
    ['users', Object.fromEntries(users.map((user) => [user, passwordOf(user)]))],
    ['servers', { REDIS_URL: redis.url, SVC_STATE_DB_URL: postgres.url, CRON_SECRET: 'a secret of the scheduler' }],
    ['own', { COLUMNDB_HOST: hosts.map(({ url }) => url).join(','), COLUMNDB_PASSWORD: '' }],
  ])
  const running = opening.use(new Running(processesOf(await render([values]), secrets), ports))
  await running.start()
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

/** NATS with the users and permissions that the chart configures, their passwords from the environment as in its pod. */
const startChartNats = async (setEnvironment: (name: string, value: string) => void): Promise<TestServer> => {
  const objects = await render(['helm/tests/values-hosts.yaml'], { 'nats.existingSecret': 'users' })
  const { 'nats.conf': config = '' } = configMapOf(objects, 'watchhouse-nats')
  for (const user of users) setEnvironment(`NATS_PASSWORD_${user.replaceAll('-', '_').toUpperCase()}`, passwordOf(user))
  // Ports, disk and name are the machine's; all that decides who may do what is the chart's.
  return startNats({ config: config.slice(config.indexOf('authorization {')) })
}

const valuesFor = (given: { nats: TestServer; hosts: readonly ProductHost[]; ports: Ports }) => ({
  ports: given.ports,
  nats: { enabled: false, existingSecret: 'users', external: { server: new URL(given.nats.url).host } },
  redis: { enabled: false, external: { existingSecret: 'servers' } },
  postgresql: { enabled: false, external: { existingSecret: 'servers' } },
  cron: { existingSecret: 'servers' },
  services: {
    gateway: {
      settings: { SVC_MCP_PUBLIC: true, RATE_LIMIT_API_PER_MIN: 1_000_000, RATE_LIMIT_MCP_PER_MIN: 1_000_000 },
    },
    query: {
      settings: { COLUMNDB_NAME: given.hosts.map(({ name }) => name).join(','), SVC_ALLOW_PRIVATE_HOSTS: true },
      secrets: { existingSecret: 'own', keys: ['COLUMNDB_HOST', 'COLUMNDB_PASSWORD'] },
    },
  },
  guest: { settings: { SVC_ALLOW_PRIVATE_HOSTS: true } },
})

interface Ports {
  http: number
  operations: number
}

/** The processes of the Deployments, each on an address of its own, for they have the same ports as pods have. */
class Running implements AsyncDisposable {
  readonly processes = new Map<string, ProductProcess>()
  readonly #rendered: readonly RenderedProcess[]
  readonly #ports: Ports
  readonly #started: ProductProcess[] = []
  #gateway = ''

  constructor(rendered: readonly RenderedProcess[], ports: Ports) {
    this.#rendered = rendered
    this.#ports = ports
  }

  async start(): Promise<void> {
    for (const one of this.#rendered) this.processes.set(one.name, await this.#start(one))
  }

  gateway(): string {
    return this.#gateway
  }

  async roll(name: string): Promise<void> {
    const one = this.#rendered.find((process) => process.name === name)
    const old = this.processes.get(name)
    if (!one || !old) throw new Error(`nothing called ${name} was rendered`)
    this.processes.set(name, await this.#start(one))
    await old.stop()
  }

  output(): string {
    return this.#started.map((process) => process.output()).join('\n')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#started.map((process) => process.stop()))
  }

  async #start({ name, services, variables }: RenderedProcess): Promise<ProductProcess> {
    const number = this.#started.length + 1
    const host = `127.0.1.${number}`
    const own = { ...variables, OPERATIONS_HOST: host, HOST: host, SVC_INSTANCE: `${name}-${number}` }
    const started = await startProcess({ services, variables: own, operationsPort: this.#ports.operations })
    this.#started.push(started)
    if (name === 'gateway') this.#gateway = `http://${host}:${this.#ports.http}`
    return started
  }
}
