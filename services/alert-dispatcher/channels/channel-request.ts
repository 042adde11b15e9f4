import { z } from 'zod'
import { NetFailure } from '#shared/net/failure.ts'
import type { RequestSender } from '#shared/net/net.ts'
import { readRetryAfter } from '#shared/net/retry-after.ts'
import type { OutgoingRequest } from '#shared/net/send.ts'
import { parseJson } from '#shared/text/strings.ts'
import { type SendResult, maxSendMs } from './channel.ts'

/** Fields of the response body with the delay that chat services request, in seconds. */
const Body = z.object({
  retry_after: z.number().optional(),
  /** The delay that Matrix requests, in milliseconds. */
  retry_after_ms: z.number().optional(),
  parameters: z.object({ retry_after: z.number().optional() }).optional(),
})

/** Returns the delay that the server requests, in milliseconds: from the headers, else from the body. */
export const parseRetryAfterMs = (headers: Pick<Headers, 'get'>, body: unknown): number | undefined =>
  readRetryAfter(headers) ?? parseBodyDelayMs(body)

const parseBodyDelayMs = (body: unknown): number | undefined => {
  const parsed = Body.safeParse(body)
  if (!parsed.success) return undefined
  const { parameters, retry_after: plain, retry_after_ms: ms } = parsed.data
  const seconds = parameters?.retry_after ?? plain ?? (ms === undefined ? undefined : ms / 1_000)
  return seconds === undefined || seconds < 0 ? undefined : seconds * 1_000
}

/** A response and its text, which is empty if the body was too long. */
export interface ChannelResponse {
  status: number
  headers: Headers
  text: string
  /** The text parsed as JSON; undefined if it is not JSON. */
  body: unknown
  /** The delay that the server requests before the next request, in milliseconds. */
  afterMs: number | undefined
}

const maxResponseBytes = 64 * 1024

interface ChannelRequest extends OutgoingRequest {
  url: string
  /** Classifies responses whose status alone is not enough; undefined if the status is enough. */
  classify?: (response: ChannelResponse) => SendResult | undefined
}

/** Sends one request and classifies the response, by status unless the channel overrides it. */
export const sendChannelRequest = async (
  way: RequestSender,
  { url, classify, ...outgoing }: ChannelRequest,
): Promise<SendResult> => {
  try {
    const bounds = { timeoutMs: outgoing.timeoutMs ?? maxSendMs, maxBytes: maxResponseBytes }
    const response = await readResponse(await way(url, { method: 'POST', ...outgoing, ...bounds }))
    return classify?.(response) ?? classifyStatus(response)
  } catch (error) {
    if (error instanceof NetFailure) return classifyFailure(error)
    throw error
  }
}

const readResponse = async (response: Response): Promise<ChannelResponse> => {
  const text = await response.text().catch(emptyIfTooLong)
  const { status, headers } = response
  const body = parseJson(text)
  return { status, headers, text, body, afterMs: parseRetryAfterMs(headers, body) }
}

/**
 * Returns an empty text for a response that is too long. The server may have accepted the message, so it must not be
 * sent again.
 */
const emptyIfTooLong = (error: unknown): string => {
  if (error instanceof NetFailure && error.reason === 'too-large') return ''
  throw error
}

/** Statuses of temporary failures. */
const temporaryStatuses: ReadonlySet<number> = new Set([408, 425, 429])
/** Statuses that mean an invalid address or secret: unauthorized, forbidden, not found or gone. */
const configStatuses: ReadonlySet<number> = new Set([401, 403, 404, 410])

/** Classifies a response by its status. */
const classifyStatus = ({ status, afterMs }: ChannelResponse): SendResult => {
  const reason = `HTTP ${status}`
  if (status >= 200 && status < 300) return { kind: 'ok' }
  if (temporaryStatuses.has(status) || status >= 500) return { kind: 'retry', reason, afterMs }
  return configStatuses.has(status) ? { kind: 'config', reason } : { kind: 'permanent', reason }
}

const failureReasons = {
  'not-allowed': 'its address is not allowed',
  redirect: 'responded with a redirect, which is not followed',
  unreachable: 'cannot be reached',
  timeout: 'did not answer in time',
  'too-large': 'response too large',
} as const

/**
 * Classifies a request without a response. Error messages are not used, because they contain the host, which is part of
 * the secret for some channels.
 */
export const classifyFailure = ({ reason, rule, systemCode }: NetFailure): SendResult => {
  const words =
    rule === 'userinfo' ? 'its URL contains a user or password, which are never sent' : failureReasons[reason]
  const sentence = systemCode === undefined ? words : `${words} (${systemCode})`
  if (reason === 'not-allowed' || reason === 'redirect') return { kind: 'config', reason: sentence }
  // A refused connection transferred no data. After other failures, the server may have the message.
  const mayHaveArrived = !connectErrorCodes.has(systemCode ?? '')
  return { kind: 'retry', reason: sentence, mayHaveArrived }
}

const connectErrorCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'ETIMEDOUT',
])

/** User name and password from the URL of a service. */
export interface UrlCredentials {
  user: string
  pass: string
}

/** Returns user and password of a URL; empty if there are none. */
export const parseUrlCredentials = ({ username, password }: URL): UrlCredentials => ({
  user: decodeUrlPart(username),
  pass: decodeUrlPart(password),
})

/** Decodes a URL part. Returns invalid encodings unchanged, because passwords are often pasted without encoding. */
export const decodeUrlPart = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
