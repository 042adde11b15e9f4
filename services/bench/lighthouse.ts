import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { z } from 'zod'
import { startProduct } from '../testing/product.ts'
import { startSandbox } from '../sandbox/start.ts'
import type { Benchmark, Comparison } from './benchmark.ts'
import { yieldToOthers } from './yield-to-others.ts'

/** npm fetches it into its cache when it is asked for here: too heavy for everybody who installs the product. */
const tool = 'lighthouse@13'
const mostOutputBytes = 64 * 2 ** 20
/** The browser may lose the trace of a load, which says nothing of the page: then it is loaded anew, so often. */
const mostLost = 2
/** A load takes about ten seconds; a browser that hangs is ended. */
const loadWithinMs = 45_000
/** Of one page; a load is as fast as the machine lets it be, and the middle one speaks for the page. */
const loads = 3
/** Where Debian and Ubuntu put Chromium; `CHROMIUM_PATH` names another place. */
const browser = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'

/** The pages that are open most. */
const pages = {
  overview: '/overview?host=0',
  fleet: '/fleet?host=0',
  'running queries': '/tables/running-queries?host=0',
}
/** What the tool pretends to be: a telephone of the middle on a slow line, or a desktop on a good one. */
const devices = { telephone: [], desktop: ['--preset=desktop'] }

/** Lighthouse's own measure of a processor; below this it warns that the figures of speed are the machine's rather than the page's. */
const fastEnough = 1_000

const Report = z.object({
  environment: z.object({ benchmarkIndex: z.number() }),
  categories: z.object({
    performance: z.object({ score: z.number() }),
    accessibility: z.object({ score: z.number() }),
  }),
  audits: z.record(z.string(), z.object({ numericValue: z.number().optional() })),
})
type Report = z.infer<typeof Report>

type Told = Pick<Comparison, 'name' | 'unit' | 'reference' | 'bar'> & { of: (report: Report) => number }

/** A measure of Lighthouse beside what it calls good. */
const measure = (name: string, good: number, unit = 'ms'): Told => ({
  name,
  unit,
  reference: [good],
  bar: { atMost: 1 },
  of: ({ audits }) => {
    const figure = audits[name.replaceAll(' ', '-')]?.numericValue
    if (figure === undefined) throw new Error(`Lighthouse does not say the ${name}`)
    return figure
  },
})

/** The scores of each page, and the figures of which that for speed is made. */
const told: readonly Told[] = [
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
 * What Lighthouse says of the pages that are open most, with its own simulated throttling. What was measured of a page is
 * said at once: a load that fails takes only the figures of its page with it.
 */
export const lighthouseScores: Benchmark = {
  name: 'lighthouse',
  async *run() {
    await using sandbox = await startSandbox({ label: 'one', seed: true })
    await sandbox.seeded
    await using product = await startProduct({ hosts: [{ url: sandbox.url, name: 'one' }], env: { LOG_LEVEL: 'warn' } })
    // A person's browser has a processor of its own: what the servers compute at the same time is none of its page's work.
    for (const pid of [sandbox.pid, ...product.pids]) yieldToOthers(pid)
    const failures: unknown[] = []
    for (const [device, options] of Object.entries(devices)) {
      for (const [page, path] of Object.entries(pages)) {
        try {
          yield* comparisons(`${page}, ${device}`, await looks(`${product.url}${path}`, options))
        } catch (error) {
          failures.push(new Error(`${page}, ${device}: not measured`, { cause: error }))
        }
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'some loads were not measured')
  },
}

const comparisons = (page: string, reports: readonly Report[]): Comparison[] => [
  ...told.map(({ of, name, ...common }) => ({ ...common, name: `${page}, ${name}`, ours: reports.map(of) })),
  {
    name: `${page}, this machine meanwhile`,
    unit: 'points',
    ours: reports.map(({ environment }) => environment.benchmarkIndex),
    reference: [fastEnough],
    bar: { atLeast: 1 },
  },
]

const looks = async (url: string, options: readonly string[]): Promise<Report[]> => {
  const reports: Report[] = []
  for (let load = 0; load < loads; load += 1) reports.push(await look(url, options))
  return reports
}

const look = async (url: string, options: readonly string[], lostBefore = 0): Promise<Report> => {
  const program = ['exec', '--yes', '--prefer-offline', `--package=${tool}`, '--', 'lighthouse']
  const form = ['--quiet', '--output=json', '--only-categories=performance,accessibility']
  const flags = '--chrome-flags=--headless=new --no-sandbox --disable-gpu'
  try {
    const { stdout } = await promisify(execFile)('npm', [...program, url, ...options, ...form, flags], {
      maxBuffer: mostOutputBytes,
      timeout: loadWithinMs,
      env: { ...process.env, CHROME_PATH: browser },
    })
    return Report.parse(JSON.parse(stdout))
  } catch (error) {
    if (lostBefore < mostLost && isLost(error)) return look(url, options, lostBefore + 1)
    throw error
  }
}

const isLost = (error: unknown): boolean => error instanceof Error && error.message.includes('NO_NAVSTART')
