import { scenarios } from '../../agent/evaluation/scenarios.ts'
import { type Scenario, type Score, scoreOf } from '../../agent/evaluation/score.ts'
import { chunksOf } from '../../agent/testing/start-agent.ts'
import { startSandbox } from '../../sandbox/start.ts'
import { askEngine, eventually } from '../../testing/ask.ts'
import { inventedReplicas, startInventing } from '../../testing/invented-tables.ts'
import { startProduct } from '../../testing/product.ts'

/** How the questions are asked. */
export interface Evaluated {
  /** With which the product finds its model. */
  variables: Record<string, string>
  /** Called before each question. */
  before?(scenario: Scenario): void
  /** Called with each score as it is known. */
  told?(score: Score): void
}

const silently = 'SETTINGS log_queries = 0'
/** An embedded host keeps its logs for a week, which is less than a history has to be. */
const logs = ['query_log', 'asynchronous_metric_log']
/** Of all logs at once it takes a second. */
const flushed = 'SYSTEM FLUSH LOGS query_log'
const isTold = (rows: readonly unknown[]): boolean => rows.length > 0
/** A host on which nothing happened. */
const emptied = logs.map((log) => `TRUNCATE TABLE system.${log} ${silently}`)
const prepared = [
  'CREATE DATABASE IF NOT EXISTS shop',
  ...inventedReplicas,
  'SYSTEM FLUSH LOGS',
  ...logs.map((log) => `ALTER TABLE system.${log} REMOVE TTL ${silently}`),
]

/** Asks every question of a product of its own, whose host is in the state that the question is about. */
export const evaluate = async ({ variables, before, told }: Evaluated): Promise<Score[]> => {
  await using scope = new AsyncDisposableStack()
  const { url: hostUrl } = scope.use(await startSandbox())
  for (const statement of prepared) await askEngine(hostUrl, statement)
  const inventing = scope.use(await startInventing(hostUrl, ['replicas', 'replication_queue']))
  // Nothing but the host is to be asked, and nothing of ours is to be kept on it.
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
    told?.(score)
    scores.push(score)
  }
  return scores
}

const evaluateOne = async (scenario: Scenario, { url, hostUrl }: { url: string; hostUrl: string }): Promise<Score> => {
  const { set, refused = [], refusedUser = 'default', after = [], until, question } = scenario
  for (const statement of [...emptied, ...set]) await askEngine(hostUrl, statement)
  for (const statement of refused) await beRefused(hostUrl, refusedUser, statement)
  if (until !== undefined) await eventually(() => askEngine(hostUrl, until), isTold)
  await askEngine(hostUrl, flushed)
  try {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ message: question })
    const answer = await fetch(`${url}/api/v1/agent`, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(`the product answers ${answer.status}: ${await answer.text()}`)
    const chunks = await chunksOf(await answer.text())
    return scoreOf(scenario, { chunks, writes: await writesOn(hostUrl) })
  } finally {
    for (const statement of after) await askEngine(hostUrl, statement)
  }
}

/** Statements that fail, and have to. Users of an embedded host are their own passwords. */
const beRefused = async (hostUrl: string, user: string, statement: string): Promise<void> => {
  const login = new URLSearchParams({ user, password: user === 'default' ? '' : user })
  const { ok } = await fetch(`${hostUrl}/?${login}`, { method: 'POST', body: statement })
  if (ok) throw new Error(`was to be refused: ${statement}`)
}

/** What the product did besides reading, as the host itself logged it. An index that is tried out is in no table, and gone with its session. */
const writesOn = async (hostUrl: string): Promise<number> => {
  await askEngine(hostUrl, flushed)
  const [row] = await askEngine(
    hostUrl,
    `SELECT count() AS writes FROM system.query_log
     WHERE type != 'QueryStart' AND http_user_agent = 'watchhouse' AND query_kind NOT IN ('Select', 'Explain', 'Describe', 'Show', 'Exists', '')
       AND query NOT LIKE '%HYPOTHETICAL INDEX%'`,
  )
  return Number(row?.writes)
}
