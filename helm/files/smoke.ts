// Run by `helm test`: requests health, the OpenAPI document, a chart and the tools of the MCP server. Without an API key,
// it skips the requests that the installation does not accept from anonymous callers.
const { GATEWAY_URL = '', HOST_ID = '0', API_KEY, READY_WITHIN_SECONDS = '90' } = process.env
const authorization: Record<string, string> = API_KEY ? { authorization: `Bearer ${API_KEY}` } : {}
const attemptMs = 10_000
const retryMs = 1_000
const deadlineMs = performance.now() + Number(READY_WITHIN_SECONDS) * 1_000

/**
 * Requests a path. Repeats the request while the gateway is unreachable or reports 503: NetworkPolicies and DNS can take
 * effect some seconds after the start of a pod, and a release may still be starting.
 */
const request = async (path: string, init: RequestInit): Promise<Response> => {
  const headers = { ...authorization, ...init.headers }
  for (;;) {
    const attempt = fetch(`${GATEWAY_URL}${path}`, { ...init, headers, signal: AbortSignal.timeout(attemptMs) })
    const outcome = await attempt.catch((error: unknown) => new Error(`${path}: ${describe(error)}`))
    const isFinal = outcome instanceof Response && outcome.status !== 503
    if (isFinal || performance.now() > deadlineMs) {
      if (outcome instanceof Response) return outcome
      throw outcome
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}

const describe = (error: unknown): string =>
  error instanceof Error ? String(error.cause ?? error) : 'the request failed'

/** Returns the parsed response; undefined if the request needs an API key and there is none, or a disabled feature. */
const fetchOk = async (path: string, init: RequestInit = {}): Promise<unknown> => {
  const response = await request(path, init)
  const text = await response.text()
  const name = `${init.method ?? 'GET'} ${path}`
  if (response.ok) {
    console.log(`ok       ${name}`)
    return JSON.parse(text)
  }
  const isDisabled = response.status === 404 && text.includes('feature-disabled')
  const isClosed = response.status === 401 && !API_KEY
  if (!isDisabled && !isClosed) throw new Error(`${path} returned ${response.status}: ${text.slice(0, 500)}`)
  console.log(
    `skipped  ${name}: ${isClosed ? 'requires an API key; set tests.existingSecret' : 'the feature is disabled'}`,
  )
  return undefined
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
require(chart === undefined || at(chart, 'success') === true, 'chart "query-count" failed')

const toolList = await fetchOk('/api/mcp', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
})
const tools = at(toolList, 'result', 'tools')
require(toolList === undefined || (Array.isArray(tools) && tools.length > 0), '/api/mcp: no tools')
