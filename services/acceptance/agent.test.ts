import { hash } from 'node:crypto'
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { startSandbox } from '../sandbox/start.ts'
import { parseChunkStream, findLastData, filterChunksByType, joinChunkText } from '../agent/testing/start-agent.ts'
import { extractEvidenceIds, type ModelScript } from '../agent/testing/model-script.ts'
import {
  createGatewayVariables,
  type ScriptedGateway,
  scriptedApiKey,
  startScriptedGateway,
} from '../agent/testing/scripted-gateway.ts'
import { fetchJson, queryClickHouse, retryUntil } from '../testing/fetch-json.ts'
import { type Product, startProduct } from '../testing/product.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

const Evidence = z.object({ statement: z.string(), rows: z.number(), rowHash: z.string(), hostKey: z.string() })
const Approval = z.object({ approvalId: z.string() })
const call = (name: string, input: object = {}) => ({ say: [{ call: name, with: { ...input } }] })
const say = (text: string) => ({ say: [{ text }] })
const headers = { 'content-type': 'application/json' }
const maxPromptTokens = 6_000
const startLimitMs = 180_000

/** URL of the host that both topologies share. */
let hostUrl: string
const host = new AsyncDisposableStack()
beforeAll(async () => {
  hostUrl = host.use(await startSandbox({ label: 'one' })).url
}, startLimitMs)
afterAll(() => host.disposeAsync())

describeOnTopologies('the agent', (topology) => {
  let gateway: ScriptedGateway
  let product: Product
  const scope = new AsyncDisposableStack()
  beforeAll(async () => {
    gateway = scope.use(await startScriptedGateway({ script: [say('yes')] }))
    const env = { ...createGatewayVariables(gateway), RATE_LIMIT_AGENT_PER_MIN: '100000' }
    const hosts = [{ url: hostUrl, name: 'one' }]
    product = scope.use(await startProduct({ topology, toolServer: true, agentProcesses: 2, hosts, env }))
  }, startLimitMs)
  afterAll(() => scope.disposeAsync())

  const begin = async (script: ModelScript, message = 'Is it well?'): Promise<Response> => {
    gateway.play(script)
    return fetch(`${product.url}/api/v1/agent`, { method: 'POST', headers, body: JSON.stringify({ message }) })
  }
  const answer = async (script: ModelScript, message?: string) =>
    parseChunkStream(await (await begin(script, message)).text())

  it('answers with data of the host, and evidence that can be queried again', async () => {
    const sql = 'SELECT name FROM system.databases ORDER BY name'
    const chunks = await answer((request) => {
      const [evidence] = extractEvidenceIds(request)
      return evidence ? say(`There are databases [${evidence}].`) : call('query', { sql })
    })
    const names = (await queryClickHouse(hostUrl, sql)).map(({ name }) => [name])
    const columns = [{ name: 'name', type: 'String' }]
    expect(Evidence.parse(findLastData(chunks, 'data-evidence'))).toMatchObject({
      hostKey: 'one',
      statement: sql,
      rows: names.length,
      rowHash: hash('sha256', JSON.stringify({ columns, rows: names })),
    })
    expect(findLastData(chunks, 'data-claims')).toMatchObject({
      claims: [{ text: 'There are databases.', evidence: [expect.stringMatching(/^e\d+$/)] }],
    })
    expect(gateway.violations).toEqual([])
    expect(product.output()).not.toContain(scriptedApiKey)
  })

  it('sends the model at most six thousand tokens before the question', async () => {
    await answer([say('yes')])
    const request = gateway.requests.at(-1)
    const parts = [request?.messages.filter(({ role }) => role === 'system'), request?.tools]
    expect(request?.tools?.length).toBeGreaterThan(5)
    expect(countTokens(JSON.stringify(parts))).toBeLessThanOrEqual(maxPromptTokens)
    // The default host is the host of the conversation, not the first one.
    expect(JSON.stringify(request?.tools)).not.toContain('"default":0')
  })

  it(
    'answers the fifty-first question of a conversation of the published client, with all its tool results',
    { tags: ['long'] },
    async () => {
      const transport = new DefaultChatTransport<UIMessage>({ api: `${product.url}/api/v1/agent` })
      const sql = "SELECT number, repeat('x', 100) AS text FROM numbers(200)"
      gateway.play((request) => {
        const [evidence] = extractEvidenceIds(request)
        return evidence ? say(`Answer [${evidence}].`) : call('query', { sql })
      })
      const more = { trigger: 'submit-message' as const, messageId: undefined, abortSignal: undefined }
      const messages: UIMessage[] = []
      for (let number = 1; number <= 51; number += 1) {
        const text = `Question ${number}?`
        messages.push({ id: `question-${number}`, role: 'user', parts: [{ type: 'text', text }] })
        const stream = await transport.sendMessages({ chatId: 'fifty-one', messages, ...more })
        const answered = (await Array.fromAsync(readUIMessageStream({ stream }))).at(-1)
        expect(answered?.parts.findLast((part) => part.type === 'text')).toMatchObject({ text: `Answer [e${number}].` })
        if (answered) messages.push(answered)
      }
      expect(JSON.stringify(messages).length).toBeGreaterThan(512 * 1024)
      expect(gateway.violations).toEqual([])
    },
  )

  it('requests approval before it changes a host, and follows the decision', async () => {
    const response = await begin([call('kill_query', { queryId: 'no-such-query' }), say('as you decided')])
    const chunks: string[] = []
    const decoder = new TextDecoder()
    let decision: Promise<{ status: number }> | undefined
    for await (const bytes of response.body ?? []) {
      chunks.push(decoder.decode(bytes, { stream: true }))
      const waiting = /data: (\{"type":"data-approval".*"waiting".*\})/.exec(chunks.join(''))?.[1]
      if (waiting === undefined || decision) continue
      const { approvalId } = Approval.parse(JSON.parse(waiting).data)
      const path = `${product.url}/api/v1/agent/approvals/${approvalId}`
      decision = fetchJson(path, { method: 'POST', headers, body: JSON.stringify({ approved: true }) })
    }
    expect((await decision)?.status).toBe(404)
    const parts = await parseChunkStream(chunks.join(''))
    expect(findLastData(parts, 'data-approval')).toMatchObject({ state: 'failed', host: 'one' })
    expect(joinChunkText(parts)).toBe('as you decided')
    const audit = await fetchJson(`${product.url}/api/v1/audit?action=kill-query`)
    expect(audit.body).toMatchObject({ data: [{ result: 'refused', target: { queryId: 'no-such-query' } }] })
  })

  it('resumes after a lost connection, and stops on request', async () => {
    const slow = [{ say: [{ text: 'word after word '.repeat(500) }], tokensPerSecond: 50 }]
    const abandonedBefore = gateway.abandoned
    const leaving = new AbortController()
    gateway.play(slow)
    const body = JSON.stringify({ message: 'Talk', id: 'long-chat' })
    const first = await fetch(`${product.url}/api/v1/agent`, { method: 'POST', headers, body, signal: leaving.signal })
    const runId = first.headers.get('x-run-id')
    leaving.abort()
    const again = await fetch(`${product.url}/api/v1/agent/${runId}/stream`, { headers: { 'last-event-id': '2' } })
    const events = again.body?.pipeThrough(new TextDecoderStream()).getReader()
    // The run is stopped only after the third event, because an earlier end would leave nothing to resume.
    let text = (await events?.read())?.value ?? ''
    await fetchJson(`${product.url}/api/v1/agent/long-chat/stop`, { method: 'POST', headers, body: '{}' })
    for (let next = await events?.read(); next?.value !== undefined; next = await events?.read()) text += next.value
    expect(text.startsWith('id: 3\n')).toBe(true)
    expect(filterChunksByType(await parseChunkStream(text), 'abort')).toHaveLength(1)
    await expect.poll(() => gateway.abandoned).toBe(abandonedBefore + 1)
  })

  it('ends the statement that runs on the host when it is stopped', async () => {
    const running = async () => {
      const [row] = await queryClickHouse(
        hostUrl,
        "SELECT count() AS statements FROM system.processes WHERE query LIKE '%cityHash64(number)) FROM system.num%' AND query_id != queryID()",
      )
      return row?.statements
    }
    const sql = 'SELECT sum(cityHash64(number)) FROM system.numbers'
    const started = await begin([call('query', { sql })])
    await retryUntil(running, (statements) => statements === 1)
    const stop = `${product.url}/api/v1/agent/${started.headers.get('x-run-id')}/stop`
    expect(await fetchJson(stop, { method: 'POST', headers, body: '{}' })).toMatchObject({ status: 200 })
    expect(filterChunksByType(await parseChunkStream(await started.text()), 'abort')).toHaveLength(1)
    expect(await retryUntil(running, (statements) => statements === 0)).toBe(0)
  })

  if (topology === 'memory') return

  it('shares questions among its processes, and reports an answer whose process is lost', async () => {
    const slow = [{ say: [{ text: 'word after word '.repeat(500) }], tokensPerSecond: 50 }]
    const answers = await Promise.all(Array.from({ length: 12 }, () => begin(slow)))
    const instances = answers.map(({ headers: parts }) => parts.get('x-run-id')?.split('.')[0])
    expect(new Set(instances).size).toBe(2)
    await Promise.all(product.agents.map((process) => process.kill()))
    for (const each of answers) {
      const chunks = await parseChunkStream(await each.text())
      expect(findLastData(chunks, 'data-run-lost')).toMatchObject({ code: 'run-lost', retryable: true })
      expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'error' })
    }
  })
})
