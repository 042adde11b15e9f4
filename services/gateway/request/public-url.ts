import type { Request } from 'express'
import type { Logger } from 'pino'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { processSettings } from '#shared/config/process.ts'
import { read, url } from '#shared/config/setting.ts'
import { hopIn, hopsOf, trustsProxies } from './client-address.ts'

export const publicUrlSettings = {
  SVC_PUBLIC_URL: url(
    'Address people and tools reach the product at; without it links repeat the host they asked, or that trusted proxies say they did.',
    {
      protocols: ['http', 'https'],
    },
  ),
} as const

/** The address a caller reaches the product at, without a slash at its end. */
export const publicUrl = (request: Asking, env: Environment): string => {
  const { SVC_PUBLIC_URL: known } = read(publicUrlSettings, env)
  if (known !== undefined) return `${known.origin}${known.pathname.replace(/\/+$/, '')}`
  const { protocol, host } = trustsProxies(env) ? forwarded(request, hopsOf(env)) : asked(request)
  const address = `${protocol}://${host}`
  if (!hostShape.test(host) || !URL.canParse(address)) {
    throw new ServiceError('invalid', 'the Host header is not the name of a host')
  }
  return new URL(address).origin
}

/** Whether the operator has settled the address; without, each answer repeats what its own caller asked. */
export const hasPublicUrl = (env: Environment): boolean => read(publicUrlSettings, env).SVC_PUBLIC_URL !== undefined

/** What a link or a header may repeat: a URL would also take `user@host`, `host/path`, `%68ost` and quotation marks. */
const hostShape = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/** Says once, where it matters, what follows from an address that only requests tell. */
export const warnOfUnknownAddress = (env: Environment, log: Logger): void => {
  const { SVC_PUBLIC_URL: known, NODE_ENV } = read({ ...publicUrlSettings, NODE_ENV: processSettings.NODE_ENV }, env)
  if (known !== undefined || NODE_ENV !== 'production') return
  log.warn(
    'SVC_PUBLIC_URL is not set: links repeat the host that was asked, and sessions of other sites of the identity provider count here',
  )
}

type Asking = Pick<Request, 'protocol' | 'headers'>

const asked = ({ protocol, headers }: Asking) => ({ protocol, host: headers.host ?? '' })

/** As the outermost trusted proxy received it, which ends TLS; further left is what the client wrote. */
const forwarded = (request: Asking, hops: number) => {
  const { protocol, host } = asked(request)
  const { 'x-forwarded-proto': forwardedProtocol, 'x-forwarded-host': forwardedHost } = request.headers
  return {
    protocol: hopIn(forwardedProtocol, hops) === 'https' ? 'https' : protocol,
    host: hopIn(forwardedHost, hops) ?? host,
  }
}
