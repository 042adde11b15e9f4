import { X509Certificate, verify, type KeyObject } from 'node:crypto'
import type { Logger } from 'pino'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { RequestSender } from '#shared/net/net.ts'
import { NetFailure } from '#shared/net/failure.ts'
import { parseJson } from '#shared/text/strings.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { IngestRequest } from './accept.ts'

interface SnsDeps {
  send: RequestSender
  clock: Clock
  log: Logger
}

/** The signed fields of each SNS message type, in the order in which AWS signs them. */
const signedFields = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const

const Envelope = z.object({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  MessageId: z.string(),
  TopicArn: z.string(),
  Message: z.string(),
  Timestamp: z.string(),
  Subject: z.string().nullish(),
  Token: z.string().optional(),
  SubscribeURL: z.string().optional(),
  SignatureVersion: z.enum(['1', '2']),
  Signature: z.string(),
  SigningCertURL: z.string(),
})
type Envelope = z.infer<typeof Envelope>

const digests = { '1': 'sha1', '2': 'sha256' } as const

/**
 * Returns a function that verifies and unwraps messages of AWS SNS and returns other requests unchanged. It throws
 * `unauthenticated` if a signature is invalid, and `unavailable` if AWS cannot be reached. It confirms subscriptions.
 * A notification in JSON becomes the request body. The message id is passed in `x-webhook-id`.
 */
export const createSnsReader = (deps: SnsDeps): ((request: IngestRequest) => Promise<IngestRequest>) => {
  const loadKey = createKeyCache(deps)
  return async (request) => {
    const sent = parseMessage(request.body)
    if (sent === undefined) return request
    const { success, data: message } = Envelope.safeParse(sent)
    if (!success) throw new ServiceError('invalid', 'the body is not a valid message of AWS SNS')
    await requireSignature(message, loadKey)
    if (message.Type === 'SubscriptionConfirmation') await confirmSubscription(deps, message)
    const headers = { ...request.headers, 'content-type': 'application/json', 'x-webhook-id': message.MessageId }
    const body = message.Type === 'Notification' && isJsonContainer(message.Message) ? message.Message : request.body
    return { body, headers }
  }
}

/** Returns the body if it has the fields of an SNS message; undefined for other bodies. */
const parseMessage = (body: string): object | undefined => {
  if (!body.includes('"TopicArn"')) return undefined
  const sent = parseJson(body)
  const isMessage = typeof sent === 'object' && sent !== null && 'TopicArn' in sent && 'MessageId' in sent
  return isMessage ? sent : undefined
}

const isJsonContainer = (text: string): boolean => {
  const value = parseJson(text)
  return typeof value === 'object' && value !== null
}

const requireSignature = async (message: Envelope, loadKey: KeyLoader): Promise<void> => {
  const lines = signedFields[message.Type].flatMap((name) => {
    const value = message[name]
    return value === undefined || value === null ? [] : [`${name}\n${value}\n`]
  })
  const key = await loadKey(message.SigningCertURL)
  const signature = Buffer.from(message.Signature, 'base64')
  if (verify(digests[message.SignatureVersion], Buffer.from(lines.join('')), key, signature)) return
  throw new ServiceError('unauthenticated', 'the signature of the SNS message is not valid')
}

/** Returns the URL if it is an https URL of SNS, in a region of AWS or AWS China; undefined otherwise. */
const parseSnsUrl = (text: string | undefined): URL | undefined => {
  const url = URL.parse(text ?? '')
  if (url?.protocol !== 'https:' || url.port !== '' || url.username !== '' || url.password !== '') return undefined
  return /^sns\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$/.test(url.hostname) ? url : undefined
}

const confirmSubscription = async ({ send, log }: SnsDeps, message: Envelope): Promise<void> => {
  const url = parseSnsUrl(message.SubscribeURL)
  if (url?.searchParams.get('Action') !== 'ConfirmSubscription')
    throw new ServiceError('invalid', 'SubscribeURL must be the address of SNS that confirms the subscription')
  await fetchText(send, url)
  log.info({ topic: message.TopicArn }, 'SNS subscription confirmed')
}

type KeyLoader = (url: string) => Promise<KeyObject>

/** AWS uses one certificate per region and replaces it about once a year. */
const maxCertificates = 32
const certificateTtlMs = 24 * 60 * 60_000

/** Returns a function that loads the public key of a certificate, and keeps it for a day. */
const createKeyCache = ({ send, clock }: SnsDeps): KeyLoader => {
  const cached = new Map<string, { key: KeyObject; atMs: number }>()
  return async (text) => {
    const url = parseSnsUrl(text)
    if (!url || !/^\/SimpleNotificationService-[\w-]+\.pem$/.test(url.pathname) || url.search !== '')
      throw new ServiceError('unauthenticated', 'SigningCertURL must be the address of a certificate of SNS')
    const known = cached.get(url.href)
    if (known && clock.elapsedMs() - known.atMs < certificateTtlMs) return known.key
    const key = readPublicKey(await fetchText(send, url), clock.now())
    if (cached.size >= maxCertificates) cached.clear()
    cached.set(url.href, { key, atMs: clock.elapsedMs() })
    return key
  }
}

const readPublicKey = (text: string, nowMs: number): KeyObject => {
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(text)
  } catch {
    throw new ServiceError('unavailable', 'the certificate of SNS cannot be parsed')
  }
  const isValid = certificate.validFromDate.getTime() <= nowMs && nowMs <= certificate.validToDate.getTime()
  if (!isValid) throw new ServiceError('unauthenticated', 'the certificate of SNS is not valid at this time')
  return certificate.publicKey
}

const fetchTimeoutMs = 5_000
const maxResponseBytes = 64 * 1024
/** SNS itself retries after about 20 seconds. */
const retryAfterMs = 20_000

const fetchText = async (send: RequestSender, url: URL): Promise<string> => {
  const unavailable = (reason: string) =>
    new ServiceError('unavailable', `the request to SNS failed: ${reason}`, { retryAfterMs })
  try {
    const response = await send(url, { timeoutMs: fetchTimeoutMs, maxBytes: maxResponseBytes })
    const text = await response.text()
    if (response.status === 200) return text
    throw unavailable(`${url.hostname} returned status ${response.status}`)
  } catch (error) {
    if (error instanceof NetFailure) throw unavailable(error.message)
    throw error
  }
}
