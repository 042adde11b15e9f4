// Run by `helm test`: checks health, the OpenAPI document, a chart and a request to the MCP server.
const { GATEWAY_URL = '', HOST_ID = '0', API_KEY } = process.env
const authorization: Record<string, string> = API_KEY ? { authorization: `Bearer ${API_KEY}` } : {}
const withinMs = 30_000

const fetchOk = async (path: string, init: RequestInit = {}): Promise<unknown> => {
  const headers = { ...authorization, ...init.headers }
  const response = await fetch(`${GATEWAY_URL}${path}`, { ...init, headers, signal: AbortSignal.timeout(withinMs) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} returned ${response.status}: ${text.slice(0, 500)}`)
  console.log(`ok  ${init.method ?? 'GET'} ${path}`)
  return JSON.parse(text)
}

/** Returns the nested value at a path of property names; undefined if a property is missing. */
const at = (value: unknown, ...names: string[]): unknown =>
  names.reduce<unknown>((inner, name) => (inner instanceof Object ? Reflect.get(inner, name) : undefined), value)

const require = (condition: boolean, problem: string): void => {
  if (!condition) throw new Error(problem)
}

require(Array.isArray(at(await fetchOk('/api/healthz'), 'hosts')), '/api/healthz: no field "hosts"')
require(typeof at(await fetchOk('/api/v1/openapi.json'), 'openapi') === 'string', '/api/v1/openapi.json: no version')
const chart = await fetchOk(`/api/v1/charts/query-count?hostId=${HOST_ID}`)
require(at(chart, 'success') === true, 'chart "query-count" failed')

const toolList = await fetchOk('/api/mcp', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
})
const tools = at(toolList, 'result', 'tools')
require(Array.isArray(tools) && tools.length > 0, '/api/mcp: no tools')
