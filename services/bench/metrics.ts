import { Pool } from 'undici'
import { type ProductOptions, startProduct } from '../testing/product.ts'
import { type StubFleet, startStubFleet } from '../testing/stub-fleet.ts'
import type { Benchmark, Comparison } from './benchmark.ts'
import { readCpuMs } from './cpu-time.ts'
import { startBareServer } from './start-bare-server.ts'

const hosts = 100
const figuresPerHost = 800
const scrapersAtOnce = 50
const repetitions = 5
const scrapesPerFigure = 400
const path = '/api/v1/metrics'

/** Measures a metrics scrape of a fleet: statements per host without the cache, and CPU time with it. */
export const metricsCost: Benchmark = {
  name: 'metrics',
  async run() {
    await using fleet = await startStubFleet(hosts, figuresPerHost)
    await using product = await startProduct(withHighRateLimit({ topology: 'memory', hosts: fleet.hosts }))
    const inOne = await countColdBatches(product.url, fleet)
    await using server = await startBareServer(await scrape(product.url))
    const warm = await warmCost({ url: product.url, pid: product.query.pid }, server)

    await using otherFleet = await startStubFleet(hosts, figuresPerHost)
    await using split = await startProduct(
      withHighRateLimit({ topology: 'nats', queryProcesses: 2, hosts: otherFleet.hosts }),
    )
    const inSeveral = await countColdBatches(split.url, otherFleet)
    return [
      batches('one process', inOne),
      batches('two query processes', inSeveral),
      { name: 'a warm scrape', unit: 'ms of CPU time', ...warm, bar: { atMost: 3 } },
    ]
  },
}

/** Returns options with a higher rate limit, because all scrapes have the same client address. */
const withHighRateLimit = (options: ProductOptions): ProductOptions => ({
  ...options,
  env: { LOG_LEVEL: 'warn', RATE_LIMIT_API_PER_MIN: '1000000' },
})

const countColdBatches = async (url: string, fleet: StubFleet): Promise<number> => {
  await Promise.all(Array.from({ length: scrapersAtOnce }, () => scrape(url)))
  return fleet.batches().reduce((sum, each) => sum + each, 0)
}

const batches = (where: string, count: number): Comparison => ({
  name: `${scrapersAtOnce} concurrent cold scrapes, ${where}`,
  unit: 'batches',
  ours: [count],
  reference: [hosts],
  bar: { atMost: 1 },
})

interface Measured {
  url: string
  pid: number
}

const warmCost = async (ours: Measured, bare: Measured): Promise<Pick<Comparison, 'ours' | 'reference'>> => {
  for (const warmUp of [bare, ours]) await costOfOne(warmUp)
  const figures: { ours: number[]; reference: number[] } = { ours: [], reference: [] }
  for (let repetition = 0; repetition < repetitions; repetition++) {
    figures.reference.push(await costOfOne(bare))
    figures.ours.push(await costOfOne(ours))
  }
  return figures
}

const costOfOne = async ({ url, pid }: Measured): Promise<number> => {
  // The first scrape refreshes expired metrics, so that the measured scrapes use the cache.
  await scrape(url)
  const pool = new Pool(url, { connections: 1 })
  const before = readCpuMs(pid)
  try {
    for (let done = 0; done < scrapesPerFigure; done++) await scrape(url, pool)
    return (readCpuMs(pid) - before) / scrapesPerFigure
  } finally {
    await pool.close()
  }
}

/** Scrapes the metrics endpoint and returns the compressed body. */
const scrape = async (url: string, kept?: Pool): Promise<Buffer> => {
  const pool = kept ?? new Pool(url, { connections: 1 })
  try {
    const { statusCode, body } = await pool.request({ path, method: 'GET', headers: { 'accept-encoding': 'gzip' } })
    const bytes = Buffer.from(await body.arrayBuffer())
    if (statusCode !== 200)
      throw new Error(`request for ${path} failed: status ${statusCode}: ${bytes.toString('utf8')}`)
    return bytes
  } finally {
    if (pool !== kept) await pool.close()
  }
}
