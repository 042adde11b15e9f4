// Runs in a pod: `node requests.ts <url of the product> <per second> <token>` sends requests at a constant rate, half of
// them over kept connections, until its standard input ends. Prints the results as JSON.
// A page mostly shows charts and tables, and polls the state of alerts once, so `times` differ.
import { Agent, request as send } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

const [url = '', perSecond = '', token = ''] = process.argv.slice(2)
const timeoutMs = 30_000
const maxKeptSockets = 50

interface Kind {
  name: string
  path: string
  method?: string
  headers?: Record<string, string>
  body?: string
  /** Text that a successful response contains. */
  has: string
  /** How many of 20 requests are of this kind. */
  times: number
}

const json = { 'content-type': 'application/json' }
const toolCall = { name: 'list_databases', arguments: {} }
/** One kind for each service, because a request needs the service behind the gateway. */
const kinds: Kind[] = [
  { name: 'query', path: '/api/v1/tables/settings?hostId=0&limit=5', has: '"data":[{', times: 4 },
  { name: 'chart', path: '/api/v1/charts/query-count?hostId=0', has: '"success":true', times: 5 },
  { name: 'agent', path: '/api/v1/agent/skills', has: '"data":[{', times: 1 },
  {
    name: 'mcp',
    path: '/api/mcp',
    method: 'POST',
    headers: { ...json, accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: toolCall }),
    has: 'INFORMATION_SCHEMA',
    times: 3,
  },
  { name: 'alert-dispatcher', path: '/api/v1/health/alert-state', has: '"data":', times: 1 },
  {
    name: 'ingest',
    path: '/api/events/ingest',
    method: 'POST',
    headers: { ...json, authorization: `Bearer ${token}` },
    body: JSON.stringify({ title: 'again' }),
    has: '"data":',
    times: 2,
  },
  { name: 'report', path: '/api/v1/insights?hostId=0', has: '"data":', times: 1 },
  { name: 'web', path: '/', has: '<html', times: 3 },
]

/** The kinds in the order in which they are sent, repeatedly. Those of one service are spread. */
const order = kinds
  .flatMap((kind) => Array.from({ length: kind.times }, (_, index) => ({ kind, at: (index + 0.5) / kind.times })))
  .toSorted((a, b) => a.at - b.at)
  .map(({ kind }) => kind)

const kept = new Agent({ keepAlive: true, maxSockets: maxKeptSockets })
const fresh = new Agent({ keepAlive: false })
const results: { kind: string; atMs: number; tookMs: number; isKept: boolean; problem: string }[] = []

/** Sends a request and resolves to its problem: empty if it succeeded. */
const requestOnce = ({ path, method, headers, body, has }: Kind, agent: Agent): Promise<string> =>
  new Promise((resolve) => {
    const options = { method, headers, agent, timeout: timeoutMs }
    const sent = send(url + path, options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('error', (error) => resolve(String(error)))
      response.on('end', () => {
        const isGood = (response.statusCode ?? 500) < 300 && text.includes(has)
        resolve(isGood ? '' : `${response.statusCode} ${text.slice(0, 200)}`)
      })
    })
    sent.on('timeout', () => sent.destroy(new Error(`no response within ${timeoutMs} ms`)))
    sent.on('error', (error) => resolve(String(error)))
    sent.end(body)
  })

const measure = async (number: number): Promise<void> => {
  const kind = order[number % order.length]
  if (kind === undefined) return
  const isKept = Math.floor(number / order.length) % 2 === 1
  const atMs = Date.now()
  const startedMs = performance.now()
  const problem = await requestOnce(kind, isKept ? kept : fresh)
  results.push({ kind: kind.name, atMs, tookMs: Math.round(performance.now() - startedMs), isKept, problem })
}

const stopping = new AbortController()
process.stdin.on('end', () => stopping.abort()).resume()
const startedMs = performance.now()
const sending: Promise<void>[] = []
for (let number = 0; !stopping.signal.aborted; number++) {
  await wait(Math.max(0, startedMs + (number * 1_000) / Number(perSecond) - performance.now()))
  sending.push(measure(number))
}
await Promise.all(sending)
kept.destroy()
process.stdout.write(JSON.stringify(results))
