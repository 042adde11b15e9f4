import { type ProductProcess, startProcess } from './product/process.ts'
import { startSeeded } from './seeded.ts'
import { startNats, startPostgres, startRedis } from './servers.ts'
import { freePort } from './servers/port.ts'

/**
 * All services in one process on memory; each in its own on real NATS, Redis and PostgreSQL; or on them as the chart says it, with the users,
 * arguments, variables, files and ports of its pods.
 */
export type Topology = 'memory' | 'nats' | 'chart'

/** A host to watch. */
export interface ProductHost {
  url: string
  name?: string
  user?: string
  password?: string
}

export interface ProductOptions {
  /** Default: one process. */
  topology?: Topology
  /** Processes that run `query`; more than one where services are apart. Default: one. */
  queryProcesses?: number
  /** Whether a second process of `query` connects to databases that people bring, where services are apart. Default: no. */
  guest?: boolean
  /** Whether a process runs `alert-dispatcher` too, where services are apart. Default: no. */
  dispatcher?: boolean
  /** Whether a process runs `mcp` and `report` too, where services are apart. Default: no. */
  toolServer?: boolean
  /** Whether a process runs `agent` too, where services are apart. Default: no. */
  agent?: boolean
  /** Processes that run `agent`, where services are apart. Default: one where `agent` is asked for. */
  agentProcesses?: number
  /** Default: two sandboxes with history, which end with the product. An empty list names no host. */
  hosts?: readonly ProductHost[]
  /** Further variables, for every process. */
  env?: Record<string, string>
}

/** The product as an operator runs it: real processes, reached by HTTP only. */
export interface Product extends AsyncDisposable {
  /** The address people open. */
  readonly url: string
  /** Of every process. */
  readonly operationsUrls: readonly string[]
  readonly pids: readonly number[]
  /** The processes by the service they run, of `query` the first; in memory both are the same one. */
  readonly gateway: ProductProcess
  readonly query: ProductProcess
  readonly guest: ProductProcess | undefined
  /** Those that run `agent` alone; none in memory. */
  readonly agents: readonly ProductProcess[]
  /** All that every process has written so far. */
  output(): string
  stop(): Promise<void>
}

/** Starts the product on free ports and resolves when all of it is ready. */
export const startProduct = async (options: ProductOptions = {}): Promise<Product> => {
  await using scope = new AsyncDisposableStack()
  const hosts = options.hosts ?? (await startHosts(scope))
  // What is asked on behalf of one test comes from one address, more often than a person would.
  const env = { RATE_LIMIT_API_PER_MIN: '1000000', ...options.env }
  if (options.topology === 'chart') {
    // It knows the variables of all services, which nobody else has to wait for.
    const { startDeployed } = await import('./product/deployed.ts')
    return await startDeployed({ ...options, env }, hosts, scope)
  }
  const port = await freePort()
  const variables = { HOST: '127.0.0.1', PORT: String(port), ...env }
  const isSplit = options.topology === 'nats'
  const shared = isSplit ? await startServers(scope) : {}
  const start = async (services: readonly string[], own: Record<string, string>): Promise<ProductProcess> => {
    const operationsPort = await freePort()
    return scope.use(await startProcess({ services, variables: { ...shared, ...own, ...variables }, operationsPort }))
  }
  const part: Record<string, string> = options.guest ? { SVC_QUERY_ROLE: 'own' } : {}
  const query = await start(isSplit ? ['query'] : [], { ...hostVariables(hosts), ...part })
  const further: ProductProcess[] = []
  while (further.length + 1 < (options.queryProcesses ?? 1)) further.push(await start(['query'], hostVariables(hosts)))
  const guest = options.guest ? await start(['query'], { SVC_QUERY_ROLE: 'guest' }) : undefined
  if (guest) further.push(guest)
  if (isSplit && options.dispatcher) further.push(await start(['alert-dispatcher'], {}))
  if (isSplit && options.toolServer) further.push(await start(['report', 'mcp'], {}))
  const agents: ProductProcess[] = []
  const agentCount = isSplit ? (options.agentProcesses ?? (options.agent ? 1 : 0)) : 0
  while (agents.length < agentCount) agents.push(await start(['agent'], {}))
  further.push(...agents)
  // The gateway is never told where the hosts are, let alone their passwords.
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
      const sandbox = scope.use(await startSeeded(name))
      return { url: sandbox.url, name }
    }),
  )

const startServers = async (scope: AsyncDisposableStack): Promise<Record<string, string>> => {
  const [nats, redis, postgres] = await Promise.all([
    // Queue groups of two products on one server would mix; so would their state.
    startNats({ private: true }),
    startRedis({ private: true }),
    startPostgres(),
  ])
  for (const server of [nats, redis, postgres]) scope.use(server)
  return { NATS_URL: nats.url, REDIS_URL: redis.url, SVC_STATE_DB_URL: postgres.url }
}

/** The variables that name these hosts. */
export const hostVariables = (hosts: readonly ProductHost[]): Record<string, string> => ({
  COLUMNDB_HOST: hosts.map((host) => host.url).join(','),
  COLUMNDB_USER: hosts.map((host) => host.user ?? 'default').join(','),
  COLUMNDB_PASSWORD: hosts.map((host) => host.password ?? '').join(','),
  COLUMNDB_NAME: hosts.map((host, index) => host.name ?? `host-${index}`).join(','),
})
