import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'
import { streamScriptedResponse, estimateUsage } from './stream-response.ts'
import { selectDemonstrationResponse } from './demonstration.ts'
import { type ModelScript, selectResponse } from './model-script.ts'
import { ChatRequest } from './strict-request.ts'

/** A fake model gateway on its own port. Its model follows a script. */
export interface ScriptedGateway extends AsyncDisposable {
  /** The value for `LLM_API_BASE`. */
  url: string
  /** All completion requests, in order. */
  requests: ChatRequest[]
  /** The reasons why a strict gateway would have rejected requests. */
  violations: string[]
  /** Number of responses that the client aborted. */
  readonly abandoned: number
  /** Replaces the script. */
  play(script: ModelScript): void
}

interface GatewayOptions {
  script: ModelScript
  /** The only API key that the gateway accepts. */
  key?: string
  port?: number
  /** The models that the gateway lists. */
  models?: readonly string[]
}

/** The default API key. */
export const scriptedApiKey = 'sk-scripted-0123456789'

/** Returns the environment variables that make the agent use this gateway. */
export const createGatewayVariables = ({ url }: Pick<ScriptedGateway, 'url'>): Record<string, string> => ({
  LLM_API_KEY: scriptedApiKey,
  LLM_API_BASE: url,
  LLM_MODEL: 'gateway_a:scripted/model',
  LLM_EXTRA_MODELS: 'gateway_a:scripted/model|128000|Follows a script',
  GATEWAY_A_DYNAMIC_MODELS: 'false',
  SVC_AGENT_WEB_CRAWL_MCP: 'false',
})

/** Starts a scripted gateway. It responds with status 400 to requests that the strictest gateway would reject. */
export const startScriptedGateway = async (options: GatewayOptions): Promise<ScriptedGateway> => {
  const { key = scriptedApiKey, port = 0, models = ['scripted/model'] } = options
  let { script } = options
  let abandoned = 0
  const requests: ChatRequest[] = []
  const violations: string[] = []

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.once('close', () => {
      if (!response.writableFinished) abandoned += 1
    })
    if (request.headers.authorization !== `Bearer ${key}`) return sendError(response, 401, 'invalid_api_key')
    if (request.method === 'GET' && request.url === '/v1/models') {
      return sendJson(response, { data: models.map((id) => ({ id, context_length: 128_000 })) })
    }
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions')
      return sendError(response, 404, 'not_found')
    const parsed = ChatRequest.safeParse(await json(request))
    if (!parsed.success) {
      violations.push(...parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`))
      return sendError(response, 400, 'invalid_request_error')
    }
    requests.push(parsed.data)
    await sendScriptedResponse(response, parsed.data, script)
  }

  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  const { origin, stop } = await listenOnLoopback(server, port)
  return {
    url: `${origin}/v1`,
    requests,
    violations,
    get abandoned() {
      return abandoned
    },
    play: (next) => {
      script = next
    },
    [Symbol.asyncDispose]: stop,
  }
}

const sendScriptedResponse = async (
  response: ServerResponse,
  request: ChatRequest,
  script: ModelScript,
): Promise<void> => {
  const turn = selectResponse(script, request)
  if ('status' in turn) return sendError(response, turn.status, turn.code ?? 'error', turn.headers)
  if ('silent' in turn) return void response.writeHead(200, streamHeaders).flushHeaders()
  if ('raw' in turn) return void response.writeHead(200, streamHeaders).end(turn.raw)
  if (!request.stream) return sendJson(response, createCompletion(turn.say, request))
  response.writeHead(200, streamHeaders).flushHeaders()
  await streamScriptedResponse(response, turn, request)
}

const streamHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }

const sendJson = (response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

/** Responds with an error that quotes the key, as some gateways do. */
const sendError = (response: ServerResponse, status: number, code: string, headers?: Record<string, string>): void =>
  sendJson(
    response,
    { error: { message: `refused, with your key ${scriptedApiKey}`, code, type: code } },
    status,
    headers,
  )

/** Returns a scripted response as one completion, for requests without streaming. */
const createCompletion = (say: readonly object[], request: ChatRequest) => {
  const content = say.map((piece) => ('text' in piece ? piece.text : '')).join('')
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
  return {
    id: 'chat-1',
    object: 'chat.completion',
    model: request.model,
    choices,
    usage: estimateUsage(request, content.length),
  }
}

if (import.meta.main) {
  const [port = '4141'] = process.argv.slice(2)
  await using gateway = await startScriptedGateway({ script: selectDemonstrationResponse, port: Number(port) })
  const variables = Object.entries(createGatewayVariables(gateway)).map(([name, value]) => `${name}='${value}'`)
  process.stdout.write(`${JSON.stringify({ listening: { url: gateway.url } })}\n${variables.join(' ')} npm start\n`)
  await once(process, 'SIGTERM')
}
