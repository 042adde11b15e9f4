import { evaluationScenarios } from '../../agent/evaluation/scenarios.ts'
import { type EvaluationScenario, type AnswerScore, scoreAnswer } from '../../agent/evaluation/score.ts'
import { parseChunkStream } from '../../agent/testing/start-agent.ts'
import { startSandbox } from '../../sandbox/start.ts'
import { queryClickHouse, retryUntil } from '../../testing/fetch-json.ts'
import { fakeReplicaStatements, startFakeTablesHost } from '../../testing/fake-tables.ts'
import { startProduct } from '../../testing/product.ts'

/** Options of an evaluation. */
export interface EvaluationOptions {
  /** Variables that configure the model. */
  variables: Record<string, string>
  /** Called before the question of each scenario. */
  before?(scenario: EvaluationScenario): void
  /** Called with the score of each scenario. */
  onScore?(score: AnswerScore): void
}

const silently = 'SETTINGS log_queries = 0'
/**
 * Log tables whose TTL is removed, because an embedded host keeps them for a week and the scenarios need more history.
 */
const logs = ['query_log', 'asynchronous_metric_log']
/** A statement that flushes only the query log, because flushing all logs takes a second. */
const flushStatement = 'SYSTEM FLUSH LOGS query_log'
const hasRows = (rows: readonly unknown[]): boolean => rows.length > 0
/** Statements that empty the log tables of a host. */
const truncateStatements = logs.map((log) => `TRUNCATE TABLE system.${log} ${silently}`)
const prepared = [
  'CREATE DATABASE IF NOT EXISTS shop',
  ...fakeReplicaStatements,
  'SYSTEM FLUSH LOGS',
  ...logs.map((log) => `ALTER TABLE system.${log} REMOVE TTL ${silently}`),
]

/** Runs each scenario with its own product on a prepared host. Returns the scores. */
export const evaluateAgent = async ({ variables, before, onScore }: EvaluationOptions): Promise<AnswerScore[]> => {
  await using scope = new AsyncDisposableStack()
  const { url: hostUrl } = scope.use(await startSandbox())
  for (const statement of prepared) await queryClickHouse(hostUrl, statement)
  const inventing = scope.use(await startFakeTablesHost(hostUrl, ['replicas', 'replication_queue']))
  // The product queries the host, but stores nothing on it, so that only writes of the agent are counted.
  const env = {
    RATE_LIMIT_AGENT_PER_MIN: '100000',
    INSIGHTS_STORE_BACKEND: 'memory',
    SVC_AGENT_WEB_CRAWL_MCP: 'false',
    ...variables,
  }
  const { url } = scope.use(await startProduct({ hosts: [{ url: inventing.url, name: 'one' }], env }))
  const scores: AnswerScore[] = []
  for (const scenario of evaluationScenarios) {
    before?.(scenario)
    const score = await evaluateOne(scenario, { url, hostUrl })
    onScore?.(score)
    scores.push(score)
  }
  return scores
}

const evaluateOne = async (
  scenario: EvaluationScenario,
  { url, hostUrl }: { url: string; hostUrl: string },
): Promise<AnswerScore> => {
  const { set, refused = [], refusedUser = 'default', after = [], until, question } = scenario
  for (const statement of [...truncateStatements, ...set]) await queryClickHouse(hostUrl, statement)
  for (const statement of refused) await expectFailure(hostUrl, refusedUser, statement)
  if (until !== undefined) await retryUntil(() => queryClickHouse(hostUrl, until), hasRows)
  await queryClickHouse(hostUrl, flushStatement)
  try {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ message: question })
    const answer = await fetch(`${url}/api/v1/agent`, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(`agent request failed: status ${answer.status}: ${await answer.text()}`)
    const chunks = await parseChunkStream(await answer.text())
    return scoreAnswer(scenario, { chunks, writes: await countWrites(hostUrl) })
  } finally {
    for (const statement of after) await queryClickHouse(hostUrl, statement)
  }
}

/** Runs a statement that must fail. On an embedded host, the password of each user is the user name. */
const expectFailure = async (hostUrl: string, user: string, statement: string): Promise<void> => {
  const login = new URLSearchParams({ user, password: user === 'default' ? '' : user })
  const { ok } = await fetch(`${hostUrl}/?${login}`, { method: 'POST', body: statement })
  if (ok) throw new Error(`expected the statement to fail: ${statement}`)
}

/**
 * Returns the number of statements in the query log with which the product has changed the host. A hypothetical index
 * does not count, because it exists only in its session.
 */
const countWrites = async (hostUrl: string): Promise<number> => {
  await queryClickHouse(hostUrl, flushStatement)
  const [row] = await queryClickHouse(
    hostUrl,
    `SELECT count() AS writes FROM system.query_log
     WHERE type != 'QueryStart' AND http_user_agent = 'watchhouse' AND query_kind NOT IN ('Select', 'Explain', 'Describe', 'Show', 'Exists', 'Check', '')
       AND query NOT LIKE '%HYPOTHETICAL INDEX%'`,
  )
  return Number(row?.writes)
}
