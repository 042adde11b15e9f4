import { errors } from 'undici'
import { type ErrorCode, ServiceError } from '#proto/errors.ts'
import { shortenWithEllipsis } from '#shared/text/strings.ts'
import { NetFailure, nameNotFoundCode } from '#shared/net/failure.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

/** Why no valid response arrived from a host. The state of a host has the same reasons. */
type HostFailure = 'unreachable' | 'timeout' | 'refused' | 'garbage'

const sentences: Record<HostFailure, string> = {
  unreachable: 'cannot be reached',
  timeout: 'did not answer in time',
  refused: 'rejected the configured user or password',
  garbage: 'is not a ClickHouse server',
}

/** Returns the error for a host without a valid response. The message contains its label, never its address. */
export const createHostError = (
  host: MonitoredHost,
  reason: HostFailure,
  cause?: unknown,
  sentence = sentences[reason],
): ServiceError =>
  new ServiceError(reason === 'timeout' ? 'timeout' : 'unavailable', `host ${host.name} ${sentence}`, {
    details: { host: host.name, reason },
    cause,
  })

/** Returns the error of a statement on a host that no longer responds to the liveness probe. */
export const createUnresponsiveHostError = (host: MonitoredHost): ServiceError =>
  new ServiceError('unavailable', `host ${host.name} stopped responding; the liveness probe gets no response either`, {
    details: { host: host.name, reason: 'unreachable' },
  })

/** Returns the error of a statement that timed out while the host waited for Keeper. */
export const createKeeperTimeoutError = (host: MonitoredHost): ServiceError =>
  new ServiceError('timeout', `host ${host.name}: timeout while reading from Keeper; check that Keeper is reachable`, {
    details: { host: host.name },
  })

/** Returns why no valid response arrived from the host; undefined for other errors. */
export const findFailureReason = (error: unknown): HostFailure | undefined => {
  const reason = error instanceof ServiceError ? error.details?.reason : undefined
  return isHostFailure(reason) ? reason : undefined
}

const isHostFailure = (reason: unknown): reason is HostFailure =>
  typeof reason === 'string' && Object.hasOwn(sentences, reason)

/** Converts an error of the HTTP client to a `ServiceError` that names the host. */
export const toConnectionError = (host: MonitoredHost, error: unknown): ServiceError => {
  const code = systemCode(error)
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return createHostError(host, 'timeout', error)
  if (isUnreadable(error, code)) return createHostError(host, 'garbage', error)
  const detail = unreachableReasons.get(code)
  return createHostError(host, 'unreachable', error, detail && `${sentences.unreachable}: ${detail}`)
}

/** Returns whether the response is not HTTP. undici's parser errors do not always have a code. */
const isUnreadable = (error: unknown, code: string | undefined): boolean =>
  error instanceof errors.HTTPParserError || /^(?:HPE_|UND_ERR_HEADERS_OVERFLOW$)/.test(code ?? '')

const systemCode = (error: unknown): string | undefined => {
  if (error instanceof NetFailure) return error.systemCode
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/** The code of a connection without credentials, because the encryption key was replaced. */
export const unreadableCredentialsCode = 'UNREADABLE_CREDENTIALS'
const untrustedCertificate = 'its certificate is not signed by a trusted CA'
const noTls = 'its port does not speak TLS'
const closedConnection = 'it closes its connections'
const noRoute = 'there is no route to it'

/** Texts for failed connections, by system error code. */
const unreachableReasons: ReadonlyMap<string | undefined, string> = new Map([
  [nameNotFoundCode, 'its host name does not resolve'],
  [unreadableCredentialsCode, 'its saved credentials cannot be decrypted with the current key; enter them again'],
  ['EAI_AGAIN', 'the DNS server does not respond for its host name'],
  ['ECONNREFUSED', 'nothing listens on its port'],
  ['EHOSTUNREACH', noRoute],
  ['ENETUNREACH', noRoute],
  ['ECONNRESET', closedConnection],
  ['EPIPE', closedConnection],
  ['UND_ERR_SOCKET', closedConnection],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', untrustedCertificate],
  ['SELF_SIGNED_CERT_IN_CHAIN', untrustedCertificate],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', untrustedCertificate],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', untrustedCertificate],
  ['ERR_SSL_WRONG_VERSION_NUMBER', noTls],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', noTls],
  ['EPROTO', noTls],
])

const authenticationCodes = new Set([192, 193, 194, 516])
/** Error codes caused by the statement itself, which the caller can correct. */
const callerErrorCodes = new Set([
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
  735: 'unavailable',
  396: 'too-large',
  497: 'forbidden',
}
const retryAfterMs = 1_000

/** Returns whether the code identifies the cause of the error: the host or the statement. */
export const isClassifiedErrorCode = (code: number): boolean => code in kinds || callerErrorCodes.has(code)

/** Returns the error for an exception that a host reported. */
export const toStatementError = (host: MonitoredHost, exception: Exception): ServiceError => {
  if (authenticationCodes.has(exception.code)) return createHostError(host, 'refused')
  const code = kinds[exception.code] ?? (callerErrorCodes.has(exception.code) ? 'invalid' : 'unavailable')
  const sentence = `${isKeeperUnreachable(exception) ? 'its Keeper does not respond: ' : ''}${withoutUser(host, exception.sentence)}`
  return new ServiceError(code, `host ${host.name}: ${sentence} (${exception.code} ${exception.name})`, {
    details: { host: host.name, clickhouseCode: exception.code, clickhouseName: exception.name },
    ...(code === 'busy' && { retryAfterMs }),
  })
}

const keeperFailed = 999

/** Returns whether Keeper did not respond; other Keeper exceptions are responses of Keeper. */
const isKeeperUnreachable = ({ code, sentence }: Exception): boolean =>
  code === keeperFailed &&
  /Connection loss|Operation timeout|Session expired|All connection tries failed/i.test(sentence)

/** Removes the user name with which ClickHouse prefixes some messages. */
const withoutUser = ({ user }: MonitoredHost, sentence: string): string =>
  sentence.startsWith(`${user}: `) ? sentence.slice(user.length + 2) : sentence

/** Returns the error for an unsuccessful response: an exception, a rejected login, or another kind of server. */
export const toResponseError = (host: MonitoredHost, status: number, text: string): ServiceError => {
  const exception = parseException(text)
  if (exception) return toStatementError(host, exception)
  return createHostError(host, status === 401 || status === 403 ? 'refused' : 'garbage')
}

/** Returns the ClickHouse error code of a failed statement. */
export const findClickhouseErrorCode = (error: unknown): number | undefined => {
  const code = error instanceof ServiceError ? error.details?.clickhouseCode : undefined
  return typeof code === 'number' ? code : undefined
}

/** The start of an exception that a host writes after rows. JSON escapes newlines, so no row contains this text. */
export const exceptionAfterRowsPrefix = '\nCode: '

/** A ClickHouse exception. */
interface Exception {
  code: number
  name: string
  /** The message without the server version, truncated to `maxSentence` characters. */
  sentence: string
}

const maxSentence = 500
/** Keeper client errors are called `Coordination::Exception`. */
const pattern = /Code:\s*(\d+)\.\s*(?:DB|Coordination)::(?:\w+)?Exception:\s*([\s\S]*)/
/** Matches library exceptions: `Poco::Exception. Code: 1000, e.code() = 111, Connection refused (version …)`. */
const libraryExceptionPattern = /(?:Poco::Exception|std::exception|Unknown exception)\. Code:\s*(\d+),\s*([\s\S]*)/
const foreignNames: Readonly<Record<string, string>> = {
  1000: 'POCO_EXCEPTION',
  1001: 'STD_EXCEPTION',
  1002: 'UNKNOWN_EXCEPTION',
}
/** Matches the last name in parentheses, because a message may contain others. */
const nameAtEnd = /^([\s\S]*)\(([A-Z][A-Z0-9_]{2,})\)/

/** Servers before 26 write an exception into the JSON response, as the field `exception`. */
const jsonExceptionPattern = /"exception":\s*("(?:[^"\\]|\\.)*")/

/** Finds and parses `Code: 60. DB::Exception: … (UNKNOWN_TABLE) (version …)` in a text. */
export const parseException = (text: string): Exception | undefined => {
  const plain = asText(text)
  const [, code, rest = ''] = pattern.exec(plain) ?? libraryExceptionPattern.exec(plain) ?? []
  if (code === undefined) return undefined
  const [, named, name] = nameAtEnd.exec(rest) ?? []
  const end = rest.lastIndexOf('(version ')
  const sentence = (named ?? (end < 0 ? rest : rest.slice(0, end))).replace(/\s*__exception__[\s\S]*$/, '').trim()
  return {
    code: Number(code),
    name: name ?? foreignNames[code] ?? 'UNKNOWN',
    sentence: shortenWithEllipsis(sentence.replace(credentials, '://'), maxSentence),
  }
}

const asText = (text: string): string => {
  const [, quoted] = jsonExceptionPattern.exec(text) ?? []
  try {
    // A JSON string always parses to a string.
    return quoted === undefined ? text : (JSON.parse(quoted) as string)
  } catch {
    return text
  }
}

/** Matches the credentials in a URL. A message may contain the URL of an external table. */
const credentials = /:\/\/[^\s/]*@/g
