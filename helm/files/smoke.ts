// Run by `helm test`: health, the OpenAPI document, one chart and one call of the tool server.
const { GATEWAY_URL = '', HOST_ID = '0', API_KEY } = process.env
const authorization: Record<string, string> = API_KEY ? { authorization: `Bearer ${API_KEY}` } : {}
const withinMs = 30_000

const ask = async (path: string, init: RequestInit = {}): Promise<unknown> => {
  const headers = { ...authorization, ...init.headers }
  const answer = await fetch(`${GATEWAY_URL}${path}`, { ...init, headers, signal: AbortSignal.timeout(withinMs) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path} answers ${answer.status}: ${text.slice(0, 500)}`)
  console.log(`ok  ${init.method ?? 'GET'} ${path}`)
  return JSON.parse(text)
}

/** The value under these names, one within the other. */
const at = (value: unknown, ...names: string[]): unknown =>
  names.reduce<unknown>((inner, name) => (inner instanceof Object ? Reflect.get(inner, name) : undefined), value)

const require = (isSo: boolean, sentence: string): void => {
  if (!isSo) throw new Error(sentence)
}

require(Array.isArray(at(await ask('/api/healthz'), 'hosts')), 'health names no hosts')
require(typeof at(await ask('/api/v1/openapi.json'), 'openapi') === 'string', 'the OpenAPI document says no version')
const chart = await ask(`/api/v1/charts/query-count?hostId=${HOST_ID}`)
require(at(chart, 'success') === true, 'the chart query-count cannot be drawn')

const listed = await ask('/api/mcp', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
})
const tools = at(listed, 'result', 'tools')
require(Array.isArray(tools) && tools.length > 0, 'the tool server lists no tools')
