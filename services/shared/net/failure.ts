/** The reason of a failed outgoing request. */
export type NetReason = 'not-allowed' | 'unreachable' | 'timeout' | 'redirect' | 'too-large'

/**
 * The rule of the guard that refused an address. Where private networks are closed, `address` also covers names that do not resolve, so
 * that callers cannot distinguish the two.
 */
export type NetRule = 'url' | 'scheme' | 'userinfo' | 'port' | 'name' | 'address' | 'header'

/** The system error code of a name without an address. */
export const unknownName = 'ENOTFOUND'

const sentences: Readonly<Record<NetReason, string>> = {
  'not-allowed': 'is not an allowed address',
  unreachable: 'cannot be reached',
  timeout: 'did not answer in time',
  redirect: 'answered with a redirect, which is not followed',
  'too-large': 'sent a response that is too large',
}

interface Facts {
  /** Without path, query and credentials, which may be secrets. */
  host?: string | undefined
  rule?: NetRule
  /** The system error code, such as ECONNREFUSED. */
  systemCode?: string | undefined
}

/** A failed outgoing request. The message names at most the host, so it may be logged. */
export class NetFailure extends Error {
  override readonly name = 'NetFailure'
  readonly reason: NetReason
  readonly rule: NetRule | undefined
  readonly systemCode: string | undefined

  constructor(reason: NetReason, { host, rule, systemCode }: Facts = {}) {
    const facts = [rule, systemCode].filter((fact) => fact !== undefined).join(', ')
    super(`${host ?? 'the address'} ${sentences[reason]}${facts && ` (${facts})`}`)
    this.reason = reason
    this.rule = rule
    this.systemCode = systemCode
  }
}

/** Classifies an error of the HTTP client by its code. Its message may contain resolved addresses and is not used. */
export const failureOf = (host: string, error: unknown): NetFailure => {
  const causes = causesOf(error)
  const own = causes.find((cause) => cause instanceof NetFailure)
  if (own) return own
  const systemCode = causes.map(codeOf).find((code) => code !== undefined)
  const isLate = systemCode === 'UND_ERR_CONNECT_TIMEOUT' || systemCode === 'ETIMEDOUT'
  return new NetFailure(isLate ? 'timeout' : 'unreachable', { host, systemCode })
}

const maxCauses = 5

const causesOf = (error: unknown): unknown[] => {
  const causes = [error]
  for (let cause = error; cause instanceof Error && causes.length < maxCauses; cause = cause.cause) {
    causes.push(cause.cause)
  }
  return causes
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
