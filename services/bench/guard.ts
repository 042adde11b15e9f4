import { Pool } from 'undici'
import { checkReadOnly } from '../query/read-only/read-only.ts'
import { startSandbox } from '../sandbox/start.ts'
import { calculateMedian, type Benchmark } from './benchmark.ts'

const repetitions = 5
/** Number of checks per measured value, because a single check is too short to measure. */
const checksPerFigure = 20_000
const roundTripsPerFigure = 50
const statementLength = 1_000

/** Returns a realistic statement of a thousand characters. */
const statement = (): string => {
  const condition = "\n  AND (user = 'ada' OR query LIKE '%orders%') /* by person */ AND length(tables) >= 2"
  const start =
    'WITH recent AS (SELECT * FROM system.query_log WHERE event_date >= today() - 1)\n' +
    'SELECT user, count() AS queries, quantile(0.95)(query_duration_ms) AS p95\nFROM recent\nWHERE 1'
  const end = '\nGROUP BY user\nORDER BY p95 DESC\nLIMIT 100'
  const middle = condition.repeat(Math.floor((statementLength - start.length - end.length) / condition.length))
  return start + middle + end
}

/** Compares the time of the SQL guard for a caller's statement with the round trip of `SELECT 1` to a host. */
export const guardCost: Benchmark = {
  name: 'guard',
  async run() {
    await using sandbox = await startSandbox({ seed: false })
    const sql = statement()
    // A warm-up, so that the measured values do not include the JIT compilation of a new process.
    checkMs(sql)
    await roundTripMs(sandbox.url)
    const ours: number[] = []
    const reference: number[] = []
    for (let repetition = 0; repetition < repetitions; repetition++) {
      reference.push(await roundTripMs(sandbox.url))
      ours.push(checkMs(sql))
    }
    return [{ name: `${sql.length} characters, against SELECT 1`, unit: 'ms', ours, reference, bar: { atMost: 0.02 } }]
  },
}

const checkMs = (sql: string): number => {
  const started = performance.now()
  for (let check = 0; check < checksPerFigure; check++) checkReadOnly(sql)
  return (performance.now() - started) / checksPerFigure
}

const roundTripMs = async (origin: string): Promise<number> => {
  const pool = new Pool(origin, { connections: 1 })
  const took: number[] = []
  try {
    for (let trip = 0; trip < roundTripsPerFigure; trip++) {
      const started = performance.now()
      const { statusCode, body } = await pool.request({ path: '/', method: 'POST', body: 'SELECT 1' })
      const answer = await body.text()
      if (statusCode !== 200 || answer !== '1\n')
        throw new Error(`statement "SELECT 1" failed: status ${statusCode}: ${answer}`)
      took.push(performance.now() - started)
    }
    return calculateMedian(took)
  } finally {
    await pool.close()
  }
}
