import { startProduct } from '../testing/product.ts'
import type { Benchmark } from './benchmark.ts'
import { runLoad } from './load.ts'
import { readCpuMs } from './cpu-time.ts'
import { startExpressServer } from './start-bare-server.ts'

const repetitions = 5
const warmUpMs = 2_000
const measuredMs = 3_000
const connections = 32
const path = '/api/health'

/** Compares the overhead of the gateway per request with an Express application with the same middleware. */
export const healthCost: Benchmark = {
  name: 'health',
  async run() {
    await using product = await startProduct({ hosts: [{ url: 'http://127.0.0.1:1' }], env: { LOG_LEVEL: 'warn' } })
    await using application = await startExpressServer()
    const ours: number[] = []
    const reference: number[] = []
    const measured = { url: product.url, pid: product.gateway.pid }
    for (const { url } of [measured, application])
      await runLoad({ origin: url, path, method: 'GET' }, connections, warmUpMs)
    for (let repetition = 0; repetition < repetitions; repetition++) {
      reference.push(await perSecond(application))
      ours.push(await perSecond(measured))
    }
    return [{ name: path, unit: 'requests per second of CPU time', ours, reference, bar: { atLeast: 0.8 } }]
  },
}

/** Returns the requests per second of CPU time. Unlike wall-clock time, CPU time does not depend on other load. */
const perSecond = async ({ url, pid }: { url: string; pid: number }): Promise<number> => {
  const before = readCpuMs(pid)
  const answered = await runLoad({ origin: url, path, method: 'GET' }, connections, measuredMs)
  return (answered.perSecond * measuredMs) / (readCpuMs(pid) - before)
}
