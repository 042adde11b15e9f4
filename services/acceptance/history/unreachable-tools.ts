import assert from 'node:assert/strict'
import { z } from 'zod'
import { LastHourResponse } from '#proto/http/history.ts'
import { createGatewayVariables, startScriptedGateway } from '../../agent/testing/scripted-gateway.ts'
import { fetchJson, queryClickHouse, retryUntil } from '../../testing/fetch-json.ts'
import { type Product, startProduct } from '../../testing/product.ts'
import { startQueryLoad } from './query-load.ts'
import { startRealServer } from './real-server.ts'
import type { Report } from './report.ts'

const version = '25.8'
const queriesPerSecond = 20
const recordedWithinMs = 180_000
const fromHistory = /from history, last sample (?:of box )?at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/

/** Kills a loaded server, and calls tools and the agent, which answer from the history. */
export const checkUnreachableTools = async (report: Report): Promise<void> => {
  await using scope = new AsyncDisposableStack()
  const host = scope.use(await startRealServer(version, 'host'))
  const history = scope.use(await startRealServer(version, 'history'))
  const script = [
    { say: [{ call: 'get_metrics', with: {} }], ending: 'tool_calls' as const },
    { say: [{ text: 'The host is down.' }] },
  ]
  const gateway = scope.use(await startScriptedGateway({ script }))
  const product = scope.use(
    await startProduct({
      hosts: [{ url: host.url, name: 'box' }],
      env: { ...createGatewayVariables(gateway), SVC_HISTORY_URL: history.url, SVC_MCP_PUBLIC: 'true' },
    }),
  )
  using _load = startQueryLoad([host.url], queriesPerSecond)
  const readHour = () => readLastHour(product)
  await retryUntil(readHour, ({ lastSampleMs }) => lastSampleMs !== null, recordedWithinMs)
  await queryClickHouse(host.url, 'CREATE TABLE the_change (id UInt64) ENGINE = MergeTree ORDER BY id')
  await retryUntil(readHour, ({ errors }) => errors.some(({ name }) => name === 'UNKNOWN_TABLE'), recordedWithinMs)
  await retryUntil(
    () => readChanges(history.url),
    ([row]) => Number(row?.changes) > 0,
    recordedWithinMs,
  )
  await host.kill()
  await checkTools(product, report)
}

const checkTools = async ({ url }: Product, report: Report): Promise<void> => {
  await report('a killed host: tools answer from the history and say so', async () => {
    const { isError, text } = await callTool(url, 'get_metrics', {})
    assert.equal(isError, false)
    assert.match(text, /^Host unreachable/)
    assert.match(text, fromHistory)
    for (const part of ['load:', 'queries:', 'errors:', 'changes:', 'UNKNOWN_TABLE', 'default.the_change'])
      assert.ok(text.includes(part), `"${part}" is missing in ${text}`)
    return text.split('\n')[0]
  })
  await report('a killed host: the error of a statement names the last sample', async () => {
    const { isError, text } = await callTool(url, 'query', { sql: 'SELECT 1' })
    assert.equal(isError, true)
    assert.match(text, fromHistory)
    return text
  })
  await report('a killed host: the agent reads the history', async () => {
    const question = { role: 'user', parts: [{ type: 'text', text: 'Why is box down?' }] }
    const response = await fetch(`${url}/api/v1/agent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ hostId: 0, messages: [question] }),
    })
    const events = await response.text()
    assert.match(events, /"type":"tool-output-available"/)
    assert.match(events, fromHistory)
  })
}

const ToolResponse = z.object({
  result: z.object({ isError: z.boolean().default(false), content: z.array(z.object({ text: z.string() })) }),
})

const callTool = async (url: string, name: string, given: object): Promise<{ isError: boolean; text: string }> => {
  const { body } = await fetchJson(`${url}/api/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
  })
  const { isError, content } = ToolResponse.parse(body).result
  return { isError, text: content[0]?.text ?? '' }
}

const readLastHour = async ({ url }: Pick<Product, 'url'>) =>
  LastHourResponse.parse((await fetchJson(`${url}/api/v1/history/last-hour?hostId=0`)).body).data

const readChanges = (historyUrl: string) =>
  queryClickHouse(historyUrl, "SELECT count() AS changes FROM watchhouse.objects WHERE name = 'default.the_change'")
