import type OpenAI from 'openai'
import type { Logger } from 'pino'
import type { ModelProvider } from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { Net } from '#shared/net/net.ts'
import { retryAfterOf } from '#shared/net/retry-after.ts'
import type { GatewayAccess } from './access.ts'
import { logVerbosely, tookMs } from '../verbose.ts'
import { attributionOf } from './attribution.ts'

interface Parts {
  env: Environment
  net: Pick<Net, 'trusted'>
  log: Logger
}

/** Until an answer begins; how long it may take in all is what the run says. */
const timeout = 45_000
/** One more try after a lost connection, a 408, 409, 429 or 5xx; nothing has been answered yet then. */
const maxRetries = 1
/** Longer than any run, so that whoever reads an answer decides when it is over. */
const wholeTimeoutMs = 3_600_000
const maxBytes = 64 * 1024 * 1024

/** A client of one gateway, whose every request goes to that gateway's address and nowhere else. */
export const openClient = async (parts: Parts, provider: ModelProvider, access: GatewayAccess): Promise<OpenAI> => {
  // Loaded with the first question, as it is the largest of all libraries.
  const { default: Client } = await import('openai')
  return new Client({
    baseURL: access.base.href,
    apiKey: access.key,
    // What the library would read from variables of its own.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    timeout,
    maxRetries,
    fetch: sendTo(parts, provider, access),
  })
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** The way out of the library: through the guard of outgoing requests, which follows no redirect, and without what tells of this machine. */
const sendTo = (parts: Parts, provider: ModelProvider, access: GatewayAccess): Fetch => {
  const { base } = access
  const { env, net } = parts
  return async (input, init = {}) => {
    const address = new URL(input instanceof Request ? input.url : input)
    // The key is that of this gateway; the library is not trusted with where it goes.
    if (address.origin !== base.origin) throw new NetFailure('not-allowed', { host: address.hostname, rule: 'address' })
    const { method, body, signal } = init
    if (body != null && typeof body !== 'string') throw new TypeError('model gateways are sent text')
    const headers = { ...known(new Headers(init.headers)), ...attributionOf(env, provider) }
    const beganMs = performance.now()
    const said = (outcome: Record<string, unknown>) =>
      logVerbosely(parts, { provider, ...outcome, tookMs: tookMs(beganMs) }, 'model provider called')
    try {
      const limits = { timeoutMs: wholeTimeoutMs, maxBytes }
      const answer = await net.trusted(address, { method, headers, body: body ?? undefined, signal, ...limits })
      said({ status: answer.status, sentBytes: body?.length ?? 0 })
      return answer.ok ? answer : await refusalOf(answer, access.key)
    } catch (error) {
      said({ reason: error instanceof NetFailure ? error.message : 'given up' })
      throw error
    }
  }
}

const mostOfRefusal = 16_384
/** Longer nobody is left waiting for a further try: whoever asks is told when to come again, or another model is asked. */
const longestPauseMs = 5_000

/** Gateways repeat keys that they refuse, and the library puts into its errors what they say. */
const refusalOf = async (answer: Response, key: string): Promise<Response> => {
  const text = (await answer.text()).replaceAll(key, '[hidden]').slice(0, mostOfRefusal)
  const { status, statusText } = answer
  const headers = new Headers(answer.headers)
  if ((retryAfterOf(headers) ?? 0) > longestPauseMs) headers.set('x-should-retry', 'false')
  return new Response(text || null, { status, statusText, headers })
}

/** All that a gateway needs; the library adds names and versions of machine and runtime, and what variables of its own say. */
const passedOn = ['accept', 'authorization', 'content-type'] as const

const known = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    passedOn.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
