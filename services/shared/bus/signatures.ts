import { type KeyObject, createHmac, createSecretKey, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Identity, type ServiceName, isServiceName, serviceDependencies, serviceNames } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { type CallSubject, guestToken, listKeyHolders } from './subject.ts'
import type { WireHeaders, WireMessage } from './wire.ts'

/** A text to sign, with the service that signs it. */
interface SignedText {
  signer: ServiceName
  text: string
}

/** Returns the MACs of a text for these key holders; none for a holder with which the signer shares no key. */
type Signer = (statement: SignedText, holders: readonly string[]) => string[]
/** Returns whether one of these MACs of a text is valid for this service. */
type Verifier = (service: ServiceName, statement: SignedText, proofs: readonly string[]) => boolean

/**
 * Signs requests and verifies their signatures, which prove the caller and the identity authenticated by the gateway.
 */
export interface RequestSigner {
  sign: Signer
  verify: Verifier
  /** Returns the digest of the content of a request; the signature covers the digest. */
  digest(content: Uint8Array | string): string
  /** Returns whether requests must be signed; false during an update from a release without signatures. */
  isRequired(): boolean
}

/** The key with which a service signs its requests to another service or to its guest process. */
export interface CallKey {
  callee: string
  /** The key, in hexadecimal digits. */
  key: string
}

/** Keys of the bus, read for each request because their files may change. The first of each list is the current one. */
export interface BusKeys {
  /** Secrets of the gateway, from which all other keys are derived. */
  secrets: readonly string[]
  /** Keys of the services of this process, in hexadecimal digits. */
  own: readonly string[]
  /** Keys for calls of other services, current and previous ones. */
  calls: readonly CallKey[]
}

/**
 * Derives a key in hexadecimal digits. The key of a service or of its guest process is derived from the secret of the
 * gateway. The key of a caller is derived from the key of the called service. The name precedes the secret to prevent
 * length extension: otherwise the owner of a key could compute the keys of longer names.
 */
export const deriveKey = (holder: string, secret: string): string => hashText(formatDerivation(holder, secret))

const formatDerivation = (holder: string, secret: string): string => `${holder}:${secret}`

const hashText = (text: string): string => hash('sha256', text)

/**
 * Creates a signer with keys. The gateway shares a key with each other service. A caller shares with the called service
 * a key that is derived from the key of the called service. A signature consists of one MAC (HMAC-SHA-256) for each
 * service that may act on the request, so a service can forge only requests to itself.
 */
export const createKeySigner = (keys: () => BusKeys, isRequired: () => boolean): RequestSigner => {
  const imported = new LRUCache<string, KeyObject>({ max: 64, memoMethod: (key) => createSecretKey(key, 'hex') })
  const derivedKeys = new LRUCache<string, string>({ max: 64, memoMethod: hashText })
  const derived = (holder: string, secret: string) => derivedKeys.memo(formatDerivation(holder, secret))
  const mac = (text: string, key: string) => createHmac('sha256', imported.memo(key)).update(text).digest()
  const signingKeys = (signer: ServiceName, holder: string): string[] => {
    const { secrets, calls } = keys()
    const ofHolder = secrets.map((secret) => derived(holder, secret))
    if (signer === 'gateway') return ofHolder.slice(0, 1)
    // During a key rotation, the called service may only have the previous key.
    const given = calls.filter(({ callee }) => callee === holder).map(({ key }) => key)
    return [...given, ...ofHolder.map((key) => derived(signer, key))]
  }
  return {
    sign: ({ signer, text }, holders) =>
      holders.flatMap((holder) => signingKeys(signer, holder)).map((key) => mac(text, key).toString('base64url')),
    verify: (service, { signer, text }, proofs) => {
      const { secrets, own } = keys()
      const given = proofs.map((proof) => Buffer.from(proof, 'base64url'))
      return [...own, ...secrets.map((secret) => derived(service, secret))].some((key) => {
        const made = mac(text, signer === 'gateway' ? key : derived(signer, key))
        return given.some((each) => each.length === made.length && timingSafeEqual(each, made))
      })
    },
    digest: (content) => hash('sha256', content, 'base64url'),
    isRequired,
  }
}

/** Creates a signer without keys, for services of one process. The same rules apply, but no MAC is computed. */
export const createLocalSigner = (): RequestSigner => ({
  sign: () => ['local'],
  verify: (_service, _statement, proofs) => proofs.includes('local'),
  digest: () => 'local',
  isRequired: () => true,
})

/**
 * For each service, the key holders that may act on a request to it: the service itself and every service up to two
 * calls further down the chain.
 */
const actingHolders = Object.fromEntries(
  serviceNames.map((service) => {
    const called = [service, ...serviceDependencies[service]]
    return [
      service,
      [...new Set([...called, ...called.flatMap((each) => serviceDependencies[each])])].flatMap(listKeyHolders),
    ]
  }),
)

/**
 * Returns the key holders that need a MAC of a request: its receivers, and for requests of the gateway all services
 * that may act on it.
 */
const listSignatureHolders = (subject: string): readonly string[] => {
  const [, service = '', caller, , part] = subject.split('.')
  if (!isServiceName(service)) throw new Error(`unknown service "${service}" in subject "${subject}"`)
  if (caller === 'gateway' && serviceDependencies[service].length > 0) return actingHolders[service] ?? []
  return part === guestToken ? listKeyHolders(service) : [service]
}

/** Maximum age of a signed request, and maximum clock difference between two machines. */
const maxRequestAgeMs = 2 * 60_000
/** Maximum age of a delegation to the agent: an answer takes up to an hour, and approvals may add waiting time. */
const maxAgentDelegationMs = 2 * 3_600_000
/** Maximum number of signatures of unsafe requests that are remembered to reject repeated requests. */
const maxRememberedSignatures = 20_000

/** The signed parts of a request. */
export interface SignedRequest {
  subject: string
  reply: string
  headers: WireHeaders
  body: Uint8Array
}

/** Returns the headers of a request with the signature of its caller, if the caller has a key. */
export const signHeaders = (signatures: RequestSigner | undefined, request: SignedRequest): WireHeaders => {
  const signature = signatures && createSignature(signatures, request)
  return signature === undefined ? request.headers : { ...request.headers, signature }
}

/**
 * Returns the `signature` header of a request. It binds the identity to the subject, the reply inbox, the content and
 * the time. Undefined if the caller has no key.
 */
export const createSignature = (
  { sign, digest }: Pick<RequestSigner, 'sign' | 'digest'>,
  request: SignedRequest,
  readings = readSystemClocks,
): string | undefined => {
  const { subject, reply, headers } = request
  const [, , signer = ''] = subject.split('.')
  if (!isServiceName(signer)) return undefined
  const at = readings().map(Math.round).join('/')
  const nonce = randomBytes(9).toString('base64url')
  const content = digestContent(request, digest)
  const claims = `${at} ${headers['time-left-ms'] ?? 0} ${nonce} ${content} ${subject} ${reply}`
  const proofs = sign({ signer, text: formatSignedText(claims, headers.identity) }, listSignatureHolders(subject))
  return proofs.length === 0 ? undefined : `${claims} ${proofs.join(',')}`
}

/** A received request with the facts that its signature must prove. */
export interface SignatureCheck {
  service: ServiceName
  called: CallSubject
  /** Whether the request may be executed twice. */
  isSafe: boolean
  identity: Identity
  message: WireMessage
}

/**
 * Returns the signature check of a process. It throws `forbidden` for an unsigned request and for an unproven identity.
 * The gateway may call for any user. A service may call for itself. It may call for a user if the gateway signed a
 * request to that service or to one of its callers.
 */
export const openSignatureCheck = (
  { verify, digest, isRequired }: RequestSigner,
  readings = readSystemClocks,
): ((checking: SignatureCheck) => void) => {
  const isFirst = createReplayFilter()
  const problemOf = ({
    service,
    called: { caller },
    isSafe,
    identity,
    message,
  }: SignatureCheck): string | undefined => {
    const { signature, delegation, identity: text } = message.headers
    const proofProblem = ({ claims, proofs }: ParsedSignature, signer: ServiceName) =>
      verify(service, { signer, text: formatSignedText(claims, text) }, proofs)
        ? undefined
        : `its signature is not that of ${signer}`
    if (signature === undefined) return isRequired() ? 'it is not signed' : undefined
    const own = parseSignature(signature)
    if (!own) return 'its signature cannot be read'
    const ownProblem =
      findRequestProblem(own, message, digest) ??
      findAgeProblem(own, readings(), maxRequestAgeMs) ??
      proofProblem(own, caller)
    if (ownProblem !== undefined) return ownProblem
    if (!isSafe && !isFirst(own.claims, maxRequestAgeMs)) return 'it was already received'
    if (caller === 'gateway' || isOwnIdentity(identity, caller)) return undefined
    if (delegation === undefined) return isRequired() ? 'it has no delegation by gateway for its identity' : undefined
    const given = parseSignature(delegation)
    if (!given) return 'its delegation cannot be read'
    return (
      findDelegationProblem(given, caller) ??
      findAgeProblem(given, readings(), computeDelegationMs(given)) ??
      proofProblem(given, 'gateway')
    )
  }
  return (checking) => {
    const problem = problemOf(checking)
    if (problem === undefined) return
    const { service, called } = checking
    throw new ServiceError('forbidden', `service "${service}" rejected a request from "${called.caller}": ${problem}`)
  }
}

interface ParsedSignature {
  claims: string
  at: ClockReadings
  /** The remaining time of the request when it was signed. */
  timeLeftMs: number
  content: string
  subject: string
  reply: string
  proofs: readonly string[]
}

const parseSignature = (header: string): ParsedSignature | undefined => {
  const [at = '', timeLeft, _nonce, content = '', subject = '', reply = '', proofs = '', ...rest] = header.split(' ')
  const [wallMs = Number.NaN, processMs = Number.NaN] = at.split('/').map(Number)
  const timeLeftMs = Number(timeLeft)
  if (proofs === '' || rest.length > 0 || ![wallMs, processMs, timeLeftMs].every(Number.isSafeInteger)) return undefined
  return {
    claims: header.slice(0, header.length - proofs.length - 1),
    at: [wallMs, processMs],
    timeLeftMs,
    content,
    subject,
    reply,
    proofs: proofs.split(','),
  }
}

/** Returns how a request differs from its signature; undefined if they match. */
const findRequestProblem = (
  signed: ParsedSignature,
  message: WireMessage,
  digest: RequestSigner['digest'],
): string | undefined => {
  if (signed.subject !== message.subject || signed.reply !== message.reply)
    return 'its subject or reply inbox differs from the signed one'
  return signed.content === digestContent(message, digest) ? undefined : 'its content differs from the signed one'
}

/** Returns undefined if the gateway signed a request to this caller or to one of its callers; otherwise the problem. */
const findDelegationProblem = (signed: ParsedSignature, caller: ServiceName): string | undefined => {
  const audience = parseAudience(signed)
  const reached = Object.entries(serviceDependencies).find(([name]) => name === audience)?.[1] ?? []
  return audience === caller || reached.includes(caller) ? undefined : `it was signed for a request to "${audience}"`
}

/** Returns how long services may act on a request of the gateway: for its remaining time, or longer for the agent. */
const computeDelegationMs = (signed: ParsedSignature): number =>
  parseAudience(signed) === 'agent' ? maxAgentDelegationMs : signed.timeLeftMs + maxRequestAgeMs

const parseAudience = ({ subject }: ParsedSignature): string | undefined => subject.split('.')[1]

/**
 * Two readings of the current time: the wall clock, and the wall clock at process start plus the elapsed time. A step
 * of the wall clock changes the first reading immediately and the second only after a restart. At least one of them
 * therefore agrees with another process.
 */
export type ClockReadings = readonly [wallMs: number, processMs: number]

const readSystemClocks = (): ClockReadings => [Date.now(), performance.timeOrigin + performance.now()]

const findAgeProblem = ({ at }: ParsedSignature, now: ClockReadings, maxMs: number): string | undefined => {
  const agesMs = [now[0] - at[0], now[1] - at[1]] as const
  if (agesMs.some((ageMs) => ageMs <= maxMs && ageMs >= -maxRequestAgeMs)) return undefined
  return `it was signed ${Math.round(agesMs[0] / 1_000)} s ago; compare the clocks of the machines`
}

const isOwnIdentity = ({ kind, subject }: Identity, caller: string): boolean => kind === 'service' && subject === caller

const formatSignedText = (claims: string, identity: string | undefined): string =>
  `watchhouse request\n${claims}\n${identity}`

const digestContent = (
  { headers: { connections }, body }: Pick<SignedRequest, 'headers' | 'body'>,
  digest: RequestSigner['digest'],
): string => (connections === undefined ? digest(body) : `${digest(body)}.${digest(connections)}`)

/** Returns a function that remembers a key and returns whether it was new. */
const createReplayFilter = (): ((key: string, forMs: number) => boolean) => {
  const until = new Map<string, number>()
  return (key, forMs) => {
    const nowMs = performance.now()
    for (const [oldest, endMs] of until) {
      if (endMs > nowMs && until.size < maxRememberedSignatures) break
      until.delete(oldest)
    }
    if (until.has(key)) return false
    // A signature is valid for `forMs` before and after its timestamp.
    until.set(key, nowMs + 2 * forMs)
    return true
  }
}
