import { type Client, type ClientOptions, createClient } from '../client/client.ts'
import { type ProductProcess, startProcess } from './product/product-process.ts'
import { startSeededHost } from './seeded-hosts.ts'
import { startNats, startPostgres, startRedis } from './describe-with.ts'
import { reserveFreePort } from './servers/port.ts'

/**
 * How the product runs. `memory`: all services in one process without servers. `nats`: separate processes on real NATS,
 * Redis and PostgreSQL. `chart`: the processes of the Helm chart, with the rendered users, arguments, variables and
 * ports.
 */
export type Topology = 'memory' | 'nats' | 'chart'

/** A host to monitor. */
export interface ProductHost {
  url: string
  name?: string
  user?: string
  password?: string
}

export interface ProductOptions {
  /** How the services run. Default: `memory`. */
  topology?: Topology
  /** Number of `query` processes when services are separate. Default: one. */
  queryProcesses?: number
  /** Whether a second `query` process serves user connections when services are separate. Default: no. */
  guest?: boolean
  /** Whether a process runs `alert-dispatcher` when services are separate. Default: no. */
  dispatcher?: boolean
  /** Whether a process runs `mcp` and `report` when services are separate. Default: no. */
  toolServer?: boolean
  /** Whether a process runs `agent` when services are separate. Default: no. */
  agent?: boolean
  /** Number of `agent` processes when services are separate. Default: one with `agent`. */
  agentProcesses?: number
  /** Monitored hosts. Default: two sandboxes with history, which stop with the product. An empty list means none. */
  hosts?: readonly ProductHost[]
  /** Additional environment variables of every process. */
  env?: Record<string, string>
}

/** The product as real processes, which tests access over HTTP. */
export interface Product extends AsyncDisposable {
  /** The address of the gateway. */
  readonly url: string
  /** The operations address of every process. */
  readonly operationsUrls: readonly string[]
  readonly pids: readonly number[]
  /** The process of the gateway. With the topology `memory`, all services share one process. */
  readonly gateway: ProductProcess
  readonly query: ProductProcess
  readonly guest: ProductProcess | undefined
  /** The `agent` processes. Empty with the topology `memory`. */
  readonly agents: readonly ProductProcess[]
  /** Returns the output of all processes so far. */
  output(): string
  stop(): Promise<void>
}

/** Returns a client of a product. It repeats no request, so that a test sees the first response. */
export const createProductClient = ({ url }: Pick<Product, 'url'>, options: Partial<ClientOptions> = {}): Client =>
  createClient({ url, retry: { maxRetries: 0 }, ...options })

/** Starts the product on free ports and resolves when all processes are ready. */
export const startProduct = async (options: ProductOptions = {}): Promise<Product> => {
  await using scope = new AsyncDisposableStack()
  const hosts = options.hosts ?? (await startHosts(scope))
  // All requests of a test have the same client address and would exceed the default rate limit.
  const env = { RATE_LIMIT_API_PER_MIN: '1000000', ...options.env }
  if (options.topology === 'chart') {
    // A dynamic import, because this module loads the settings of all services.
    const { startChartProduct: startDeployed } = await import('./product/helm-deployment.ts')
    return await startDeployed({ ...options, env }, hosts, scope)
  }
  const port = await reserveFreePort()
  const variables = { HOST: '127.0.0.1', PORT: String(port), ...env }
  const isSplit = options.topology === 'nats'
  const shared = isSplit ? await startServers(scope) : {}
  const start = async (services: readonly string[], own: Record<string, string>): Promise<ProductProcess> => {
    const operationsPort = await reserveFreePort()
    return scope.use(await startProcess({ services, variables: { ...shared, ...own, ...variables }, operationsPort }))
  }
  const part: Record<string, string> = options.guest ? { SVC_QUERY_ROLE: 'own' } : {}
  const query = await start(isSplit ? ['query'] : [], { ...formatHostVariables(hosts), ...part })
  const further: ProductProcess[] = []
  while (further.length + 1 < (options.queryProcesses ?? 1))
    further.push(await start(['query'], formatHostVariables(hosts)))
  const guest = options.guest ? await start(['query'], { SVC_QUERY_ROLE: 'guest' }) : undefined
  if (guest) further.push(guest)
  if (isSplit && options.dispatcher) further.push(await start(['alert-dispatcher'], {}))
  if (isSplit && options.toolServer) further.push(await start(['report', 'mcp'], {}))
  const agents: ProductProcess[] = []
  const agentCount = isSplit ? (options.agentProcesses ?? (options.agent ? 1 : 0)) : 0
  while (agents.length < agentCount) agents.push(await start(['agent'], {}))
  further.push(...agents)
  // The gateway receives neither host addresses nor passwords.
  const gateway = isSplit ? await start(['gateway'], {}) : query
  const processes = [...new Set([query, ...further, gateway])]
  const running = scope.move()
  return {
    url: `http://127.0.0.1:${port}`,
    operationsUrls: processes.map((process) => process.operationsUrl),
    get pids() {
      return processes.map((process) => process.pid)
    },
    gateway,
    query,
    guest,
    agents,
    output: () => processes.map((process) => process.output()).join('\n'),
    stop: () => running.disposeAsync(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const startHosts = (scope: AsyncDisposableStack): Promise<ProductHost[]> =>
  Promise.all(
    (['one', 'two'] as const).map(async (name) => {
      const sandbox = scope.use(await startSeededHost(name))
      return { url: sandbox.url, name }
    }),
  )

const startServers = async (scope: AsyncDisposableStack): Promise<Record<string, string>> => {
  const [nats, redis, postgres] = await Promise.all([
    // NATS and Redis are private, because two products on one server would share queue groups and state.
    startNats({ private: true }),
    startRedis({ private: true }),
    startPostgres(),
  ])
  for (const server of [nats, redis, postgres]) scope.use(server)
  return { NATS_URL: nats.url, REDIS_URL: redis.url, SVC_STATE_DB_URL: postgres.url }
}

/** Returns the `COLUMNDB_*` variables that configure these hosts. */
export const formatHostVariables = (hosts: readonly ProductHost[]): Record<string, string> => ({
  COLUMNDB_HOST: hosts.map((host) => host.url).join(','),
  COLUMNDB_USER: hosts.map((host) => host.user ?? 'default').join(','),
  COLUMNDB_PASSWORD: hosts.map((host) => host.password ?? '').join(','),
  COLUMNDB_NAME: hosts.map((host, index) => host.name ?? `host-${index}`).join(','),
})
