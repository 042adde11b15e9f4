import { deployChart } from '../chart/deployment.ts'
import type { Product, ProductHost, ProductOptions } from '../product.ts'
import type { ProductProcess } from './product-process.ts'

/**
 * Starts the processes of the chart. Each variable reaches only the services to which the chart passes it. Stopping the
 * product also disposes `owned`.
 */
export const startChartProduct = async (
  { env: variables, queryProcesses: query = 1, agentProcesses: agent = 1 }: ProductOptions,
  hosts: readonly ProductHost[],
  owned: AsyncDisposableStack,
): Promise<Product> => {
  const deployed = owned.use(await deployChart({ hosts, variables: { ...variables }, replicas: { query, agent } }))
  const running = owned.move()
  const { processes } = deployed
  const all = [...processes.values()]
  const first = (name: string): ProductProcess => {
    const found = processes.get(name)
    if (!found) throw new Error(`the chart renders no process "${name}"`)
    return found
  }
  return {
    url: deployed.gateway(),
    operationsUrls: all.map(({ operationsUrl }) => operationsUrl),
    get pids() {
      return all.map(({ pid }) => pid)
    },
    gateway: first('gateway'),
    query: first('query'),
    guest: processes.get('query-guest'),
    agents: [...processes].filter(([name]) => /^agent(-\d+)?$/.test(name)).map(([, process]) => process),
    output: () => deployed.output(),
    stop: () => running.disposeAsync(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
