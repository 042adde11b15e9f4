import type { Request } from 'express'
import type { Logger } from 'pino'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { processSettings } from '#shared/config/process.ts'
import { parseSettings, urlSetting } from '#shared/config/setting.ts'
import { selectForwardedEntry, readTrustedProxyHops, shouldTrustProxies } from './client-address.ts'

export const publicUrlSettings = {
  SVC_PUBLIC_URL: urlSetting(
    'Public URL of the service. Unset: links use the host of the request, or the host that trusted proxies report.',
    {
      protocols: ['http', 'https'],
    },
  ),
} as const

/** Returns the public URL of the product as the caller sees it, without a trailing slash. */
export const resolvePublicUrl = (request: HostRequest, env: Environment): string => {
  const { SVC_PUBLIC_URL: known } = parseSettings(publicUrlSettings, env)
  if (known !== undefined) return `${known.origin}${known.pathname.replace(/\/+$/, '')}`
  const { protocol, host } = shouldTrustProxies(env)
    ? forwarded(request, readTrustedProxyHops(env))
    : requestedHost(request)
  const address = `${protocol}://${host}`
  if (!hostShape.test(host) || !URL.canParse(address)) {
    throw new ServiceError('invalid', 'invalid Host header')
  }
  return new URL(address).origin
}

/** Returns true if the operator set the public URL; otherwise each response repeats the host of its request. */
export const hasPublicUrl = (env: Environment): boolean =>
  parseSettings(publicUrlSettings, env).SVC_PUBLIC_URL !== undefined

/** Hosts that are safe in links and headers. URL parsers also accept `user@host`, `host/path`, `%68ost` and quotes. */
const hostShape = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/** Warns in production if no public URL is set, because links then use the host of the request. */
export const warnOfMissingPublicUrl = (env: Environment, log: Logger): void => {
  const { SVC_PUBLIC_URL: known, NODE_ENV } = parseSettings(
    { ...publicUrlSettings, NODE_ENV: processSettings.NODE_ENV },
    env,
  )
  if (known !== undefined || NODE_ENV !== 'production') return
  log.warn(
    'SVC_PUBLIC_URL is not set: links use the host of the request, and sessions of other sites of the identity provider are accepted',
  )
}

type HostRequest = Pick<Request, 'protocol' | 'headers'>

const requestedHost = ({ protocol, headers }: HostRequest) => ({ protocol, host: headers.host ?? '' })

/** Returns protocol and host of the request that the outermost trusted proxy received, because it terminates TLS. */
const forwarded = (request: HostRequest, hops: number) => {
  const { protocol, host } = requestedHost(request)
  const { 'x-forwarded-proto': forwardedProtocol, 'x-forwarded-host': forwardedHost } = request.headers
  return {
    protocol: selectForwardedEntry(forwardedProtocol, hops) === 'https' ? 'https' : protocol,
    host: selectForwardedEntry(forwardedHost, hops) ?? host,
  }
}
