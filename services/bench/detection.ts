import { pino } from 'pino'
import { query } from '#proto/query.ts'
import { openBus, openMemoryHub } from '#shared/bus/open.ts'
import { systemClock } from '#shared/time/clock.ts'
import { openStore } from '#shared/store/open.ts'
import { queryClickHouse } from '../testing/fetch-json.ts'
import { openTestService, createSilentTelemetry } from '../query/testing/test-service.ts'
import { scanHost } from '../report/insights/scan-host.ts'
import { startSandbox } from '../sandbox/start.ts'
import type { Benchmark } from './benchmark.ts'
import { logTtlRemovalStatements, buildSeedStatements } from './detection/seed.ts'
import { scenarios, tableStatements, type ExpectedScenario } from './detection/scenarios.ts'

const minScore = 0.9

/** Measures precision and recall of the insight detectors, on scenarios with known insights. */
export const detectionQuality: Benchmark = {
  name: 'detect',
  async run() {
    await using opened = new AsyncDisposableStack()
    const sandbox = opened.use(await startSandbox())
    for (const statement of ['SYSTEM FLUSH LOGS', ...logTtlRemovalStatements, ...tableStatements])
      await queryClickHouse(sandbox.url, statement)
    const look = await openScan(opened, sandbox.url)
    const score = { right: 0, found: 0, wanted: 0 }
    for (const [index, scenario] of scenarios.entries()) {
      for (const statement of buildSeedStatements(scenario, index + 1)) await queryClickHouse(sandbox.url, statement)
      for (const statement of scenario.refused ?? []) await expectFailure(sandbox.url, statement)
      const found = await look()
      for (const statement of scenario.after ?? []) await queryClickHouse(sandbox.url, statement)
      reportMismatch(scenario, found)
      score.right += scenario.expected.filter((each) => found.includes(each)).length
      score.found += found.length
      score.wanted += scenario.expected.length
    }
    const { right, found, wanted } = score
    const quiet = scenarios.filter(({ expected }) => expected.length === 0).length
    const of = `${scenarios.length} hosts, ${quiet} of them quiet`
    return [
      { name: `precision over ${of}`, unit: 'insights', ours: [right], reference: [found], bar: { atLeast: minScore } },
      { name: `recall over ${of}`, unit: 'insights', ours: [right], reference: [wanted], bar: { atLeast: minScore } },
    ]
  },
}

/** Returns a function that scans the host like the product, through the `query` service on the bus. */
const openScan = async (opened: AsyncDisposableStack, url: string): Promise<() => Promise<string[]>> => {
  const parts = opened.use(await openTestService({ COLUMNDB_HOST: url, COLUMNDB_NAME: 'box' }))
  const hub = openMemoryHub()
  const open = async (caller: 'query' | 'report') => {
    const telemetry = { ...createSilentTelemetry(), log: pino({ level: 'silent' }) }
    return opened.use(await openBus({ hub, caller, instance: caller, version: '1', telemetry, clock: systemClock }))
  }
  opened.use(await (await open('query')).serve(query, parts.handlers))
  const client = (await open('report')).client(query)
  const store = opened.use(await openStore({ env: {}, busIsShared: false }))
  return async () => {
    const call = {
      identity: { kind: 'service' as const, subject: 'report', features: 'all' as const },
      deadline: performance.now() + 60_000,
      signal: new AbortController().signal,
      priority: 'report' as const,
    }
    const { insights } = await scanHost({ query: client, store, call, hostKey: 'box', nowMs: Date.now() })
    return insights.map(({ kind, subject }) => `${kind} ${subject}`).toSorted()
  }
}

/** Runs a statement that must fail. Throws if it succeeds. */
const expectFailure = async (url: string, statement: string): Promise<void> => {
  const isRefused = await queryClickHouse(url, statement).then(
    () => false,
    () => true,
  )
  if (!isRefused) throw new Error(`expected the statement to fail: ${statement}`)
}

/** Prints the differences between the expected and the found insights. */
const reportMismatch = ({ name, expected }: ExpectedScenario, found: readonly string[]): void => {
  const missed = expected.filter((each) => !found.includes(each))
  const wrong = found.filter((each) => !expected.includes(each))
  if (missed.length + wrong.length === 0) return
  process.stdout.write(`  ${name}: missed ${missed.join(', ') || 'nothing'}; wrong ${wrong.join(', ') || 'nothing'}\n`)
}
