import { z } from 'zod'
import { NetFailure } from '#shared/net/failure.ts'
import type { Send } from '#shared/net/net.ts'
import { retryAfterOf } from '#shared/net/retry-after.ts'
import type { Outgoing } from '#shared/net/send.ts'
import { parseJson } from '#shared/text/parse-json.ts'
import { type SendResult, sendWithinMs } from './channel.ts'

/** Where chat services say in the body how long to wait, in seconds. */
const Body = z.object({
  retry_after: z.number().optional(),
  /** Of Matrix, in milliseconds. */
  retry_after_ms: z.number().optional(),
  parameters: z.object({ retry_after: z.number().optional() }).optional(),
})

/** How long a server asks to be left alone, in milliseconds: by its headers, else by what the body says. */
export const retryAfterMs = (headers: Pick<Headers, 'get'>, body: unknown): number | undefined =>
  retryAfterOf(headers) ?? fromBody(body)

const fromBody = (body: unknown): number | undefined => {
  const parsed = Body.safeParse(body)
  if (!parsed.success) return undefined
  const { parameters, retry_after: plain, retry_after_ms: ms } = parsed.data
  const seconds = parameters?.retry_after ?? plain ?? (ms === undefined ? undefined : ms / 1_000)
  return seconds === undefined || seconds < 0 ? undefined : seconds * 1_000
}

/** An answer, read to its end. */
export interface Answer {
  status: number
  headers: Headers
  text: string
  /** The text as JSON; undefined when it is none. */
  body: unknown
  /** How long the server asks to be left alone, in milliseconds. */
  afterMs: number | undefined
}

const maxAnswerBytes = 64 * 1024

interface Exchange extends Outgoing {
  url: string
  /** What an answer means where the status alone does not say; undefined leaves it to the status. */
  judge?: (answer: Answer) => SendResult | undefined
}

/** One request of a channel and what its answer means: the status, unless the channel knows better. */
export const exchange = async (way: Send, { url, judge, ...outgoing }: Exchange): Promise<SendResult> => {
  try {
    const bounds = { timeoutMs: outgoing.timeoutMs ?? sendWithinMs, maxBytes: maxAnswerBytes }
    const answer = await read(await way(url, { method: 'POST', ...outgoing, ...bounds }))
    return judge?.(answer) ?? judgeStatus(answer)
  } catch (error) {
    if (error instanceof NetFailure) return judgeFailure(error)
    throw error
  }
}

const read = async (response: Response): Promise<Answer> => {
  const text = await response.text().catch(nothingIfTooLong)
  const { status, headers } = response
  const body = parseJson(text)
  return { status, headers, text, body, afterMs: retryAfterMs(headers, body) }
}

/** What took the message and answers with a whole page must not be sent it again. */
const nothingIfTooLong = (error: unknown): string => {
  if (error instanceof NetFailure && error.reason === 'too-large') return ''
  throw error
}

/** Too early, too much, or gone for a moment. */
const passing: ReadonlySet<number> = new Set([408, 425, 429])
/** Not let in, or nobody there any more: the address or its secret is wrong. */
const setUp: ReadonlySet<number> = new Set([401, 403, 404, 410])

/** What a status means of itself. */
const judgeStatus = ({ status, afterMs }: Answer): SendResult => {
  const reason = `answered ${status}`
  if (status >= 200 && status < 300) return { kind: 'ok' }
  if (passing.has(status) || status >= 500) return { kind: 'retry', reason, afterMs }
  return setUp.has(status) ? { kind: 'config', reason } : { kind: 'permanent', reason }
}

const reasons = {
  'not-allowed': 'its address may not be asked',
  redirect: 'answered with a redirect, which is not followed',
  unreachable: 'cannot be reached',
  timeout: 'did not answer in time',
  'too-large': 'answered more than may be read',
} as const

/** Failures name the host, which for some channels is part of the secret; here they name nothing. */
export const judgeFailure = ({ reason, rule, systemCode }: NetFailure): SendResult => {
  const words =
    rule === 'userinfo' ? 'its address has a user or a password in it, which are never sent' : reasons[reason]
  const sentence = systemCode === undefined ? words : `${words} (${systemCode})`
  if (reason === 'not-allowed' || reason === 'redirect') return { kind: 'config', reason: sentence }
  // A connection that was refused carried nothing; one that broke or fell silent may have.
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

/** Who asks, as the address of a service says it. */
export interface Login {
  user: string
  pass: string
}

/** User and password that stand in an address; empty where there are none. */
export const loginIn = ({ username, password }: URL): Login => ({ user: decoded(username), pass: decoded(password) })

/** A part of an address as it was meant: passwords are pasted as they are, percent signs and all. */
export const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
