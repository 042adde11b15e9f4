import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { z } from 'zod'
import { startProduct } from '../testing/product.ts'
import { findChromium } from '../testing/servers/chromium.ts'
import { startSandbox } from '../sandbox/start.ts'
import type { Benchmark, Comparison } from './benchmark.ts'
import { lowerPriority } from './lower-priority.ts'

/** The npm package of Lighthouse. It is too large for a dependency, so npm downloads it to its cache on demand. */
const lighthousePackage = 'lighthouse@13'
const maxOutputBytes = 64 * 2 ** 20
/** Maximum number of repetitions if the browser loses the trace of a load. Such losses do not depend on the page. */
const maxLostLoads = 2
/** Timeout of a load, which usually takes ten seconds. A browser that hangs is killed. */
const loadWithinMs = 45_000
/** Number of loads per page. The benchmark reports the median, because single loads vary. */
const loads = 5

/** Paths of the most used pages. */
const pages = {
  overview: '/overview?host=0',
  fleet: '/fleet?host=0',
  'running queries': '/tables/running-queries?host=0',
}
/** Lighthouse options by emulated device: a mid-range phone on a slow connection, and a desktop on a fast one. */
const devices = { telephone: [], desktop: ['--preset=desktop'] }

/**
 * Minimum benchmark index of the machine. Below it, Lighthouse warns that a slow CPU distorts the performance score.
 */
const minBenchmarkIndex = 1_000

const Report = z.object({
  environment: z.object({ benchmarkIndex: z.number() }),
  categories: z.object({
    performance: z.object({ score: z.number() }),
    accessibility: z.object({ score: z.number() }),
  }),
  audits: z.record(z.string(), z.object({ numericValue: z.number().optional() })),
})
type Report = z.infer<typeof Report>

type Measure = Pick<Comparison, 'name' | 'unit' | 'reference' | 'bar'> & { of: (report: Report) => number }

/** Returns a Lighthouse metric with its threshold for "good". */
const measure = (name: string, good: number, unit = 'ms'): Measure => ({
  name,
  unit,
  reference: [good],
  bar: { atMost: 1 },
  of: ({ audits }) => {
    const figure = audits[name.replaceAll(' ', '-')]?.numericValue
    if (figure === undefined) throw new Error(`Lighthouse did not report the metric "${name}"`)
    return figure
  },
})

/** The measured scores of a page, and the metrics that form the performance score. */
const measures: readonly Measure[] = [
  {
    name: 'performance',
    unit: 'points',
    reference: [100],
    bar: { atLeast: 0.95 },
    of: ({ categories }) => categories.performance.score * 100,
  },
  {
    name: 'accessibility',
    unit: 'points',
    reference: [100],
    bar: { atLeast: 1 },
    of: ({ categories }) => categories.accessibility.score * 100,
  },
  measure('first contentful paint', 1_800),
  measure('speed index', 3_400),
  measure('largest contentful paint', 2_500),
  measure('total blocking time', 200),
  measure('cumulative layout shift', 0.1, ''),
]

/**
 * Runs Lighthouse with simulated throttling on the most used pages. Yields the metrics of each page when they are
 * measured, so that a failed load affects only its page.
 */
export const lighthouseScores: Benchmark = {
  name: 'lighthouse',
  async *run() {
    await using sandbox = await startSandbox({ label: 'one', seed: true })
    await sandbox.seeded
    await using product = await startProduct({ hosts: [{ url: sandbox.url, name: 'one' }], env: { LOG_LEVEL: 'warn' } })
    // Lowers the priority of the servers, because a user's browser does not share its CPU with them.
    for (const pid of [sandbox.pid, ...product.pids]) lowerPriority(pid)
    const failures: unknown[] = []
    for (const [device, options] of Object.entries(devices)) {
      for (const [page, path] of Object.entries(pages)) {
        try {
          yield* comparisons(`${page}, ${device}`, await runLighthouseLoads(`${product.url}${path}`, options))
        } catch (error) {
          failures.push(new Error(`${page}, ${device}: not measured`, { cause: error }))
        }
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Lighthouse failed: some pages were not measured')
  },
}

const comparisons = (page: string, reports: readonly Report[]): Comparison[] => [
  ...measures.map(({ of, name, ...common }) => ({ ...common, name: `${page}, ${name}`, ours: reports.map(of) })),
  {
    name: `${page}, benchmark index of the machine`,
    unit: 'points',
    ours: reports.map(({ environment }) => environment.benchmarkIndex),
    reference: [minBenchmarkIndex],
    bar: { atLeast: 1 },
  },
]

const runLighthouseLoads = async (url: string, options: readonly string[]): Promise<Report[]> => {
  const reports: Report[] = []
  for (let load = 0; load < loads; load += 1) reports.push(await runLighthouse(url, options))
  return reports
}

const runLighthouse = async (url: string, options: readonly string[], lostBefore = 0): Promise<Report> => {
  const program = ['exec', '--yes', '--prefer-offline', `--package=${lighthousePackage}`, '--', 'lighthouse']
  const form = ['--quiet', '--output=json', '--only-categories=performance,accessibility']
  const flags = '--chrome-flags=--headless=new --no-sandbox --disable-gpu'
  try {
    const { stdout } = await promisify(execFile)('npm', [...program, url, ...options, ...form, flags], {
      maxBuffer: maxOutputBytes,
      timeout: loadWithinMs,
      env: { ...process.env, CHROME_PATH: findChromium() },
    })
    return Report.parse(JSON.parse(stdout))
  } catch (error) {
    if (lostBefore < maxLostLoads && isLost(error)) return runLighthouse(url, options, lostBefore + 1)
    throw error
  }
}

const isLost = (error: unknown): boolean => error instanceof Error && error.message.includes('NO_NAVSTART')
