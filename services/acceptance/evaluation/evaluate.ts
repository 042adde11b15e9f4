import {
  evaluationCases,
  type EvaluationCase,
  formatQuestion,
  healthyTableStatements,
  hostNames,
  type HostName,
  symptomQuestions,
} from '../../agent/evaluation/cases.ts'
import { type AnswerScore, scoreAnswer } from '../../agent/evaluation/score.ts'
import { parseChunkStream } from '../../agent/testing/start-agent.ts'
import { startSandbox } from '../../sandbox/start.ts'
import { queryClickHouse, retryUntil } from '../../testing/fetch-json.ts'
import { fakeReplicaStatements, startFakeTablesHost } from '../../testing/fake-tables.ts'
import { startProduct } from '../../testing/product.ts'

/** A model that answers the questions. */
export interface Contestant {
  name: string
  /** Called before each question, such as to select the script of a scripted model. */
  prepare?(): void
}

/** Options of an evaluation. */
export interface EvaluationOptions {
  /** Variables that configure the model. */
  variables: Record<string, string>
  contestants: readonly Contestant[]
  /** Called with each score. */
  onScore?(score: AnswerScore, contestant: Contestant): void
}

/** The user and the settings with which a statement is sent. */
interface StatementOptions {
  user?: string | undefined
  settings?: Readonly<Record<string, string>> | undefined
}

type HostUrls = Readonly<Record<HostName, string>>

const unlogged = { settings: { log_queries: '0' } }
const invented = ['replicas', 'replication_queue']
const logs = ['query_log', 'part_log']
const flushStatement = `SYSTEM FLUSH LOGS ${logs.join(', ')}`
/** Statements that remove the previous fault and its traces. */
const resetStatements = [
  "KILL MUTATION WHERE database = 'shop' SYNC",
  'DROP DATABASE IF EXISTS shop SYNC',
  'CREATE DATABASE shop',
  flushStatement,
  ...logs.map((log) => `TRUNCATE TABLE system.${log}`),
  ...invented.map((table) => `TRUNCATE TABLE invented.${table}`),
]

/**
 * Sets up each case on two hosts and sends its question to all contestants, one after another. Returns the scores of
 * each contestant in the order of the cases.
 */
export const evaluateAgent = async ({
  variables,
  contestants,
  onScore,
}: EvaluationOptions): Promise<Map<Contestant, AnswerScore[]>> => {
  await using scope = new AsyncDisposableStack()
  const [north, south] = await Promise.all(hostNames.map(async () => scope.use(await startSandbox()).url))
  if (north === undefined || south === undefined) throw new Error('a host is missing')
  const urls = { north, south }
  for (const url of [north, south])
    for (const statement of [...fakeReplicaStatements, 'SYSTEM FLUSH LOGS']) await sendStatement(url, statement)
  const hosts = await Promise.all(
    hostNames.map(async (name) => ({ name, url: scope.use(await startFakeTablesHost(urls[name], invented)).url })),
  )
  // The product queries the hosts, but stores nothing on them, so that only writes of the agent are counted.
  const env = {
    RATE_LIMIT_AGENT_PER_MIN: '100000',
    INSIGHTS_STORE_BACKEND: 'memory',
    SVC_AGENT_WEB_CRAWL_MCP: 'false',
    ...variables,
  }
  const { url } = scope.use(await startProduct({ hosts, env }))
  const scores = new Map(contestants.map((contestant) => [contestant, [] as AnswerScore[]]))
  for (const each of evaluationCases) {
    await setUpCase(each, urls)
    for (const [contestant, list] of scores) {
      contestant.prepare?.()
      const score = scoreAnswer(each, {
        chunks: await sendQuestion(url, formatQuestion(each)),
        writes: await countWrites(urls),
      })
      onScore?.(score, contestant)
      list.push(score)
    }
  }
  return scores
}

const setUpCase = async (each: EvaluationCase, urls: HostUrls): Promise<void> => {
  const { hidden = [], statements = [], refused = [], refusedUser, settings, until, expected } = each
  const { decoys, refusedDecoys = [] } = { refusedDecoys: [], ...symptomQuestions[each.symptom] }
  for (const name of hostNames) {
    const url = urls[name]
    const isFaulty = name === expected.host
    const run = async (list: readonly string[], request?: StatementOptions) => {
      for (const statement of list) await sendStatement(url, statement, request)
    }
    await run([...resetStatements, ...(isFaulty ? hidden : []), ...healthyTableStatements], unlogged)
    await run(decoys)
    for (const statement of refusedDecoys) await expectFailure(url, statement)
    if (isFaulty) {
      await run(statements, { settings })
      for (const statement of refused) await expectFailure(url, statement, { user: refusedUser, settings })
      if (until !== undefined) await retryUntil(() => queryClickHouse(url, until), hasRows)
    }
    await run([flushStatement], unlogged)
  }
}

const hasRows = (rows: readonly unknown[]): boolean => rows.length > 0

/** Sends a statement. On an embedded host, the password of each user is the user name. */
const requestHost = (url: string, statement: string, { user, settings }: StatementOptions = {}): Promise<Response> => {
  const parameters = new URLSearchParams({ ...settings, ...(user !== undefined && { user, password: user }) })
  return fetch(`${url}/?${parameters}`, { method: 'POST', body: statement })
}

const sendStatement = async (url: string, statement: string, request?: StatementOptions): Promise<void> => {
  const response = await requestHost(url, statement, request)
  const text = await response.text()
  if (!response.ok) throw new Error(`statement failed: ${statement}: ${text}`)
}

const expectFailure = async (url: string, statement: string, request?: StatementOptions): Promise<void> => {
  const response = await requestHost(url, statement, request)
  await response.text()
  if (response.ok) throw new Error(`expected the statement to fail: ${statement}`)
}

const sendQuestion = async (url: string, question: string): Promise<unknown[]> => {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ message: question })
  const answer = await fetch(`${url}/api/v1/agent`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`agent request failed: status ${answer.status}: ${await answer.text()}`)
  return parseChunkStream(await answer.text())
}

/**
 * Returns the number of statements in the query logs with which the product has changed the hosts. A hypothetical index
 * does not count, because it exists only in its session.
 */
const countWrites = async (urls: HostUrls): Promise<number> => {
  const counts = await Promise.all(
    Object.values(urls).map(async (url) => {
      await sendStatement(url, flushStatement, unlogged)
      const [row] = await queryClickHouse(
        url,
        `SELECT count() AS writes FROM system.query_log
         WHERE type != 'QueryStart' AND http_user_agent = 'watchhouse' AND query_kind NOT IN ('Select', 'Explain', 'Describe', 'Show', 'Exists', 'Check', '')
           AND query NOT LIKE '%HYPOTHETICAL INDEX%' SETTINGS log_queries = 0`,
      )
      return Number(row?.writes)
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}
