import { scenarios } from '../../agent/evaluation/scenarios.ts'
import { type Scenario, type Score, scoreOf } from '../../agent/evaluation/score.ts'
import { chunksOf } from '../../agent/testing/start-agent.ts'
import { startSandbox } from '../../sandbox/start.ts'
import { queryEngine, eventually } from '../../testing/fetch-json.ts'
import { inventedReplicas, startInventing } from '../../testing/invented-tables.ts'
import { startProduct } from '../../testing/product.ts'

/** Options of an evaluation. */
export interface EvaluationResult {
  /** Variables that configure the model. */
  variables: Record<string, string>
  /** Called before each question. */
  before?(scenario: Scenario): void
  /** Called with each score. */
  onScore?(score: Score): void
}

const silently = 'SETTINGS log_queries = 0'
/** An embedded host keeps its logs for a week, less than the required history. */
const logs = ['query_log', 'asynchronous_metric_log']
/** Flushing all logs takes a second. */
const flushed = 'SYSTEM FLUSH LOGS query_log'
const hasRows = (rows: readonly unknown[]): boolean => rows.length > 0
/** Statements that empty the logs of a host. */
const emptied = logs.map((log) => `TRUNCATE TABLE system.${log} ${silently}`)
const prepared = [
  'CREATE DATABASE IF NOT EXISTS shop',
  ...inventedReplicas,
  'SYSTEM FLUSH LOGS',
  ...logs.map((log) => `ALTER TABLE system.${log} REMOVE TTL ${silently}`),
]

/** Runs every question against its own product, whose host is in the state that the question covers. */
export const evaluate = async ({ variables, before, onScore }: EvaluationResult): Promise<Score[]> => {
  await using scope = new AsyncDisposableStack()
  const { url: hostUrl } = scope.use(await startSandbox())
  for (const statement of prepared) await queryEngine(hostUrl, statement)
  const inventing = scope.use(await startInventing(hostUrl, ['replicas', 'replication_queue']))
  // Only the host is queried, and the product stores nothing on it.
  const env = {
    RATE_LIMIT_AGENT_PER_MIN: '100000',
    INSIGHTS_STORE_BACKEND: 'memory',
    SVC_AGENT_WEB_CRAWL_MCP: 'false',
    ...variables,
  }
  const { url } = scope.use(await startProduct({ hosts: [{ url: inventing.url, name: 'one' }], env }))
  const scores: Score[] = []
  for (const scenario of scenarios) {
    before?.(scenario)
    const score = await evaluateOne(scenario, { url, hostUrl })
    onScore?.(score)
    scores.push(score)
  }
  return scores
}

const evaluateOne = async (scenario: Scenario, { url, hostUrl }: { url: string; hostUrl: string }): Promise<Score> => {
  const { set, refused = [], refusedUser = 'default', after = [], until, question } = scenario
  for (const statement of [...emptied, ...set]) await queryEngine(hostUrl, statement)
  for (const statement of refused) await beRefused(hostUrl, refusedUser, statement)
  if (until !== undefined) await eventually(() => queryEngine(hostUrl, until), hasRows)
  await queryEngine(hostUrl, flushed)
  try {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ message: question })
    const answer = await fetch(`${url}/api/v1/agent`, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(`the product answers ${answer.status}: ${await answer.text()}`)
    const chunks = await chunksOf(await answer.text())
    return scoreOf(scenario, { chunks, writes: await writesOn(hostUrl) })
  } finally {
    for (const statement of after) await queryEngine(hostUrl, statement)
  }
}

/** Runs a statement that must fail. The password of a user of an embedded host is the user name. */
const beRefused = async (hostUrl: string, user: string, statement: string): Promise<void> => {
  const login = new URLSearchParams({ user, password: user === 'default' ? '' : user })
  const { ok } = await fetch(`${hostUrl}/?${login}`, { method: 'POST', body: statement })
  if (ok) throw new Error(`was to be refused: ${statement}`)
}

/** Returns the number of writes of the product in the log of the host. A hypothetical index exists only in its session and does not count. */
const writesOn = async (hostUrl: string): Promise<number> => {
  await queryEngine(hostUrl, flushed)
  const [row] = await queryEngine(
    hostUrl,
    `SELECT count() AS writes FROM system.query_log
     WHERE type != 'QueryStart' AND http_user_agent = 'watchhouse' AND query_kind NOT IN ('Select', 'Explain', 'Describe', 'Show', 'Exists', 'Check', '')
       AND query NOT LIKE '%HYPOTHETICAL INDEX%'`,
  )
  return Number(row?.writes)
}
