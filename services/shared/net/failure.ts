/** The reason why an outgoing request failed. */
export type NetFailureReason = 'not-allowed' | 'unreachable' | 'timeout' | 'redirect' | 'too-large'

/**
 * The rule of the guard that rejected an address. If private networks are not allowed, `address` also covers names that
 * do not resolve, so that callers cannot distinguish the two.
 */
export type GuardRule = 'url' | 'scheme' | 'userinfo' | 'port' | 'name' | 'address' | 'header'

/** The system error code for a name that does not resolve. */
export const nameNotFoundCode = 'ENOTFOUND'

const sentences: Readonly<Record<NetFailureReason, string>> = {
  'not-allowed': 'is not an allowed address',
  unreachable: 'cannot be reached',
  timeout: 'did not answer in time',
  redirect: 'answered with a redirect, which is not followed',
  'too-large': 'sent a response that is too large',
}

interface NetFailureFacts {
  /** The host of the URL. Path, query and credentials are omitted, because they may contain secrets. */
  host?: string | undefined
  rule?: GuardRule
  /** The system error code, such as ECONNREFUSED. */
  systemCode?: string | undefined
}

/** The error of a failed outgoing request. The message names at most the host, so it may be logged. */
export class NetFailure extends Error {
  override readonly name = 'NetFailure'
  readonly reason: NetFailureReason
  readonly rule: GuardRule | undefined
  readonly systemCode: string | undefined

  constructor(reason: NetFailureReason, { host, rule, systemCode }: NetFailureFacts = {}) {
    const facts = [rule, systemCode].filter((fact) => fact !== undefined).join(', ')
    super(`${host ?? 'the address'} ${sentences[reason]}${facts && ` (${facts})`}`)
    this.reason = reason
    this.rule = rule
    this.systemCode = systemCode
  }
}

/** Converts an error of a client by its code. Its message is not used, because it may contain resolved addresses. */
export const toNetFailure = (host: string, error: unknown): NetFailure => {
  const causes = listCauses(error)
  const own = causes.find((cause) => cause instanceof NetFailure)
  if (own) return own
  const systemCode = causes.map(readSystemCode).find((code) => code !== undefined)
  const isLate = systemCode === 'UND_ERR_CONNECT_TIMEOUT' || systemCode === 'ETIMEDOUT'
  return new NetFailure(isLate ? 'timeout' : 'unreachable', { host, systemCode })
}

const maxCauses = 5

const listCauses = (error: unknown): unknown[] => {
  const causes = [error]
  for (let cause = error; cause instanceof Error && causes.length < maxCauses; cause = cause.cause) {
    causes.push(cause.cause)
  }
  return causes
}

const readSystemCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
