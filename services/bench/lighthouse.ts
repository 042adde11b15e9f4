import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { z } from 'zod'
import { startProduct } from '../acceptance/product.ts'
import { startSandbox } from '../sandbox/start.ts'
import type { Benchmark, Comparison } from './benchmark.ts'

const repetitions = 3
/** npm fetches it into its cache when it is asked for here: too heavy for everybody who installs the product. */
const tool = 'lighthouse@13'
const mostOutputBytes = 64 * 2 ** 20
/** The browser may lose the trace of a load, which says nothing of the page: then it is loaded anew, so often. */
const mostLost = 2
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
  audits: z.object({
    'largest-contentful-paint': z.object({ numericValue: z.number() }),
    'total-blocking-time': z.object({ numericValue: z.number() }),
    'cumulative-layout-shift': z.object({ numericValue: z.number() }),
  }),
})
type Report = z.infer<typeof Report>

/** The scores of each page, and the three figures of which that for speed is mostly made, beside what is called good. */
const told: readonly (Pick<Comparison, 'name' | 'unit' | 'reference' | 'bar'> & { of: (report: Report) => number })[] =
  [
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
    {
      name: 'largest contentful paint',
      unit: 'ms',
      reference: [2_500],
      bar: { atMost: 1 },
      of: ({ audits }) => audits['largest-contentful-paint'].numericValue,
    },
    {
      name: 'total blocking time',
      unit: 'ms',
      reference: [200],
      bar: { atMost: 1 },
      of: ({ audits }) => audits['total-blocking-time'].numericValue,
    },
    {
      name: 'cumulative layout shift',
      unit: '',
      reference: [0.1],
      bar: { atMost: 1 },
      of: ({ audits }) => audits['cumulative-layout-shift'].numericValue,
    },
  ]

/** What Lighthouse says of the pages that are open most, with its own simulated throttling. */
export const lighthouseScores: Benchmark = {
  name: 'lighthouse',
  async run() {
    await using sandbox = await startSandbox({ label: 'one', seed: true })
    await sandbox.seeded
    await using product = await startProduct({ hosts: [{ url: sandbox.url, name: 'one' }], env: { LOG_LEVEL: 'warn' } })
    const comparisons: Comparison[] = []
    const machine: number[] = []
    for (const [device, options] of Object.entries(devices)) {
      for (const [page, path] of Object.entries(pages)) {
        const reports: Report[] = []
        while (reports.length < repetitions) reports.push(await look(`${product.url}${path}`, options))
        machine.push(...reports.map(({ environment }) => environment.benchmarkIndex))
        for (const { of, name, ...common } of told)
          comparisons.push({ ...common, name: `${page}, ${device}, ${name}`, ours: reports.map(of) })
      }
    }
    const about = { name: 'this machine, as Lighthouse rates it meanwhile', unit: 'points' }
    return [...comparisons, { ...about, ours: machine, reference: [fastEnough], bar: { atLeast: 1 } }]
  },
}

const look = async (url: string, options: readonly string[], lostBefore = 0): Promise<Report> => {
  const program = ['exec', '--yes', `--package=${tool}`, '--', 'lighthouse']
  const form = ['--quiet', '--output=json', '--only-categories=performance,accessibility']
  const flags = '--chrome-flags=--headless=new --no-sandbox --disable-gpu'
  try {
    const { stdout } = await promisify(execFile)('npm', [...program, url, ...options, ...form, flags], {
      maxBuffer: mostOutputBytes,
      env: { ...process.env, CHROME_PATH: browser },
    })
    return Report.parse(JSON.parse(stdout))
  } catch (error) {
    if (lostBefore < mostLost && isLost(error)) return look(url, options, lostBefore + 1)
    throw error
  }
}

const isLost = (error: unknown): boolean => error instanceof Error && error.message.includes('NO_NAVSTART')
