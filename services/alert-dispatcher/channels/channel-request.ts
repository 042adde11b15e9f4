import { z } from 'zod'
import { NetFailure } from '#shared/net/failure.ts'
import type { Send } from '#shared/net/net.ts'
import { retryAfterOf } from '#shared/net/retry-after.ts'
import type { OutgoingRequest } from '#shared/net/send.ts'
import { parseJson } from '#shared/text/strings.ts'
import { type SendResult, sendWithinMs } from './channel.ts'

/** Fields in which chat services state the wait in seconds. */
const Body = z.object({
  retry_after: z.number().optional(),
  /** Used by Matrix, in milliseconds. */
  retry_after_ms: z.number().optional(),
  parameters: z.object({ retry_after: z.number().optional() }).optional(),
})

/** Returns how long the server wants no requests, in milliseconds: from the headers, else from the body. */
export const parseRetryAfterMs = (headers: Pick<Headers, 'get'>, body: unknown): number | undefined =>
  retryAfterOf(headers) ?? fromBody(body)

const fromBody = (body: unknown): number | undefined => {
  const parsed = Body.safeParse(body)
  if (!parsed.success) return undefined
  const { parameters, retry_after: plain, retry_after_ms: ms } = parsed.data
  const seconds = parameters?.retry_after ?? plain ?? (ms === undefined ? undefined : ms / 1_000)
  return seconds === undefined || seconds < 0 ? undefined : seconds * 1_000
}

/** A complete response. */
export interface ChannelResponse {
  status: number
  headers: Headers
  text: string
  /** The text parsed as JSON; undefined if it is not JSON. */
  body: unknown
  /** How long the server wants no requests, in milliseconds. */
  afterMs: number | undefined
}

const maxResponseBytes = 64 * 1024

interface ChannelRequest extends OutgoingRequest {
  url: string
  /** Classifies responses whose status alone is not enough; undefined leaves it to the status. */
  classify?: (response: ChannelResponse) => SendResult | undefined
}

/** Sends one request and classifies the response, by status unless the channel overrides it. */
export const sendRequest = async (way: Send, { url, classify, ...outgoing }: ChannelRequest): Promise<SendResult> => {
  try {
    const bounds = { timeoutMs: outgoing.timeoutMs ?? sendWithinMs, maxBytes: maxResponseBytes }
    const response = await read(await way(url, { method: 'POST', ...outgoing, ...bounds }))
    return classify?.(response) ?? classifyStatus(response)
  } catch (error) {
    if (error instanceof NetFailure) return classifyFailure(error)
    throw error
  }
}

const read = async (response: Response): Promise<ChannelResponse> => {
  const text = await response.text().catch(nothingIfTooLong)
  const { status, headers } = response
  const body = parseJson(text)
  return { status, headers, text, body, afterMs: parseRetryAfterMs(headers, body) }
}

/** A server that accepts the message and responds with a whole page must not receive it again. */
const nothingIfTooLong = (error: unknown): string => {
  if (error instanceof NetFailure && error.reason === 'too-large') return ''
  throw error
}

/** Temporary failures. */
const passing: ReadonlySet<number> = new Set([408, 425, 429])
/** Unauthorized or not found: the address or its secret is wrong. */
const setUp: ReadonlySet<number> = new Set([401, 403, 404, 410])

/** Classifies a response by its status. */
const classifyStatus = ({ status, afterMs }: ChannelResponse): SendResult => {
  const reason = `answered ${status}`
  if (status >= 200 && status < 300) return { kind: 'ok' }
  if (passing.has(status) || status >= 500) return { kind: 'retry', reason, afterMs }
  return setUp.has(status) ? { kind: 'config', reason } : { kind: 'permanent', reason }
}

const reasons = {
  'not-allowed': 'its address is not allowed',
  redirect: 'answered with a redirect, which is not followed',
  unreachable: 'cannot be reached',
  timeout: 'did not answer in time',
  'too-large': 'response too large',
} as const

/** Error messages contain the host, which is part of the secret for some channels, so they are not used. */
export const classifyFailure = ({ reason, rule, systemCode }: NetFailure): SendResult => {
  const words = rule === 'userinfo' ? 'its URL contains a user or password, which are never sent' : reasons[reason]
  const sentence = systemCode === undefined ? words : `${words} (${systemCode})`
  if (reason === 'not-allowed' || reason === 'redirect') return { kind: 'config', reason: sentence }
  // A refused connection transferred nothing; an interrupted one may have.
  const mayHaveArrived = !neverConnected.has(systemCode ?? '')
  return { kind: 'retry', reason: sentence, mayHaveArrived }
}

const neverConnected: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'ETIMEDOUT',
])

/** User and password from the URL of a service. */
export interface Login {
  user: string
  pass: string
}

/** Returns user and password of a URL; empty if there are none. */
export const parseLogin = ({ username, password }: URL): Login => ({
  user: decodePart(username),
  pass: decodePart(password),
})

/** Decodes a URL part; passwords are often pasted without encoding, percent signs included. */
export const decodePart = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
