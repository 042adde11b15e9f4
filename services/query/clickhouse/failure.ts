import { errors } from 'undici'
import { type ErrorCode, ServiceError } from '#proto/errors.ts'
import { cut } from '#shared/text/cut.ts'
import { NetFailure, unknownName } from '#shared/net/failure.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

/** What kept a host from answering; also the reasons of a host state. */
type HostFailure = 'unreachable' | 'timeout' | 'refused' | 'garbage'

const sentences: Record<HostFailure, string> = {
  unreachable: 'cannot be reached',
  timeout: 'did not answer in time',
  refused: 'refused the configured user or password',
  garbage: 'answered something that is not ClickHouse',
}

/** The error of a host that gave no answer; it names the host by its label alone. */
export const hostFailure = (
  host: MonitoredHost,
  reason: HostFailure,
  cause?: unknown,
  sentence = sentences[reason],
): ServiceError =>
  new ServiceError(reason === 'timeout' ? 'timeout' : 'unavailable', `host ${host.name} ${sentence}`, {
    details: { host: host.name, reason },
    cause,
  })

/** The error of a statement whose host does not even answer the probe any more. */
export const silentHost = (host: MonitoredHost): ServiceError =>
  new ServiceError('unavailable', `host ${host.name} has stopped answering; the probe hears nothing from it either`, {
    details: { host: host.name, reason: 'unreachable' },
  })

/** The error of a statement that the host did not answer while it waited for its Keeper. */
export const silentKeeper = (host: MonitoredHost): ServiceError =>
  new ServiceError('timeout', `host ${host.name}: its Keeper does not answer, from which this would be read`, {
    details: { host: host.name },
  })

/** Why a host gave no answer, if that is what an error says. */
export const failureReason = (error: unknown): HostFailure | undefined => {
  const reason = error instanceof ServiceError ? error.details?.reason : undefined
  return isHostFailure(reason) ? reason : undefined
}

const isHostFailure = (reason: unknown): reason is HostFailure =>
  typeof reason === 'string' && Object.hasOwn(sentences, reason)

/** Translates what the HTTP client threw. */
export const connectionFailure = (host: MonitoredHost, error: unknown): ServiceError => {
  const code = systemCode(error)
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return hostFailure(host, 'timeout', error)
  if (isUnreadable(error, code)) return hostFailure(host, 'garbage', error)
  const how = howUnreachable.get(code)
  return hostFailure(host, 'unreachable', error, how && `${sentences.unreachable}: ${how}`)
}

/** Whether what came is no HTTP: both Node's parser and that of undici name what they could not read, the latter not always. */
const isUnreadable = (error: unknown, code: string | undefined): boolean =>
  error instanceof errors.HTTPParserError || /^(?:HPE_|UND_ERR_HEADERS_OVERFLOW$)/.test(code ?? '')

const systemCode = (error: unknown): string | undefined => {
  if (error instanceof NetFailure) return error.systemCode
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

const untrusted = 'its certificate is signed by nobody who is trusted here'
const noTls = 'it does not speak TLS at its port'
const closing = 'it closes its connections'
const noRoute = 'there is no route to it'

/** What the system calls a failed connection, in words that say where to look. */
const howUnreachable: ReadonlyMap<string | undefined, string> = new Map([
  [unknownName, 'the resolver does not know its host name'],
  ['EAI_AGAIN', 'the resolver does not answer for its host name'],
  ['ECONNREFUSED', 'nothing listens at its port'],
  ['EHOSTUNREACH', noRoute],
  ['ENETUNREACH', noRoute],
  ['ECONNRESET', closing],
  ['EPIPE', closing],
  ['UND_ERR_SOCKET', closing],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', untrusted],
  ['SELF_SIGNED_CERT_IN_CHAIN', untrusted],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', untrusted],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', untrusted],
  ['ERR_SSL_WRONG_VERSION_NUMBER', noTls],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', noTls],
  ['EPROTO', noTls],
])

const authenticationCodes = new Set([192, 193, 194, 516])
/** Codes whose cause is what was asked: the caller can mend it. */
const askedWrongly = new Set([
  6, 10, 16, 26, 27, 36, 41, 42, 43, 44, 46, 47, 53, 57, 60, 62, 63, 69, 70, 72, 81, 115, 164, 179, 184, 190, 206, 215,
  349, 352, 386, 456, 457, 467, 620,
])
const kinds: Readonly<Record<number, ErrorCode>> = {
  158: 'too-large',
  159: 'timeout',
  160: 'too-large',
  201: 'busy',
  202: 'busy',
  241: 'unavailable',
  307: 'too-large',
  394: 'unavailable',
  396: 'too-large',
  497: 'forbidden',
}
const retryAfterMs = 1_000

/** Whether a code tells what went wrong; whatever has another may be trouble of the host, or of the statement. */
export const isKnownCode = (code: number): boolean => code in kinds || askedWrongly.has(code)

/** The error of a statement that a host refused or that failed there. */
export const statementFailure = (host: MonitoredHost, exception: Exception): ServiceError => {
  if (authenticationCodes.has(exception.code)) return hostFailure(host, 'refused')
  const code = kinds[exception.code] ?? (askedWrongly.has(exception.code) ? 'invalid' : 'unavailable')
  const sentence = `${isKeeperAway(exception) ? 'its Keeper does not answer: ' : ''}${withoutUser(host, exception.sentence)}`
  return new ServiceError(code, `host ${host.name}: ${sentence} (${exception.code} ${exception.name})`, {
    details: { host: host.name, clickhouseCode: exception.code, clickhouseName: exception.name },
    ...(code === 'busy' && { retryAfterMs }),
  })
}

const keeperFailed = 999

/** Keeper's other failures are answers. */
const isKeeperAway = ({ code, sentence }: Exception): boolean =>
  code === keeperFailed &&
  /Connection loss|Operation timeout|Session expired|All connection tries failed/i.test(sentence)

/** ClickHouse begins some sentences with the name of the user. */
const withoutUser = ({ user }: MonitoredHost, sentence: string): string =>
  sentence.startsWith(`${user}: `) ? sentence.slice(user.length + 2) : sentence

/** The error behind an answer that is no success: an exception in words, a refusal, or nothing that ClickHouse would say. */
export const answerFailure = (host: MonitoredHost, status: number, text: string): ServiceError => {
  const exception = parseException(text)
  if (exception) return statementFailure(host, exception)
  return hostFailure(host, status === 401 || status === 403 ? 'refused' : 'garbage')
}

/** ClickHouse's own code of a failed statement. */
export const clickhouseCode = (error: unknown): number | undefined => {
  const code = error instanceof ServiceError ? error.details?.clickhouseCode : undefined
  return typeof code === 'number' ? code : undefined
}

/** How a failure begins that a host writes behind rows; in JSON no row can hold a newline. */
export const failureBehindRows = '\nCode: '

/** An exception as ClickHouse words it. */
interface Exception {
  code: number
  name: string
  /** Its own sentence, cut to `maxSentence` characters, without the server's version. */
  sentence: string
}

const maxSentence = 500
/** What Keeper's client threw is called `Coordination::Exception`. */
const pattern = /Code:\s*(\d+)\.\s*(?:DB|Coordination)::(?:\w+)?Exception:\s*([\s\S]*)/
/** What ClickHouse did not throw itself, as it words that: `Poco::Exception. Code: 1000, e.code() = 111, Connection refused (version …)`. */
const foreign = /(?:Poco::Exception|std::exception|Unknown exception)\. Code:\s*(\d+),\s*([\s\S]*)/
const foreignNames: Readonly<Record<string, string>> = {
  1000: 'POCO_EXCEPTION',
  1001: 'STD_EXCEPTION',
  1002: 'UNKNOWN_EXCEPTION',
}
/** The last of its kind: a sentence may quote words in parentheses too. */
const nameAtEnd = /^([\s\S]*)\(([A-Z][A-Z0-9_]{2,})\)/

/** Servers before 26 put the exception of an answer in JSON into it, as its member `exception`. */
const inJson = /"exception":\s*("(?:[^"\\]|\\.)*")/

/** Reads `Code: 60. DB::Exception: … (UNKNOWN_TABLE) (version …)`, wherever it stands in a text. */
export const parseException = (text: string): Exception | undefined => {
  const told = asText(text)
  const [, code, rest = ''] = pattern.exec(told) ?? foreign.exec(told) ?? []
  if (code === undefined) return undefined
  const [, named, name] = nameAtEnd.exec(rest) ?? []
  const end = rest.lastIndexOf('(version ')
  const sentence = (named ?? (end < 0 ? rest : rest.slice(0, end))).replace(/\s*__exception__[\s\S]*$/, '').trim()
  return {
    code: Number(code),
    name: name ?? foreignNames[code] ?? 'UNKNOWN',
    sentence: cut(sentence.replace(credentials, '://'), maxSentence),
  }
}

const asText = (text: string): string => {
  const [, quoted] = inJson.exec(text) ?? []
  try {
    // A text in quotes can only become a text.
    return quoted === undefined ? text : (JSON.parse(quoted) as string)
  } catch {
    return text
  }
}

/** Who a table of other data signs in as, where a sentence quotes its address. */
const credentials = /:\/\/[^\s/]*@/g
