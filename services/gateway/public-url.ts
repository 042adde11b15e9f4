import type { Request } from 'express'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read, url } from '#shared/config/setting.ts'
import { trustsProxies } from './client-address.ts'

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
  const { protocol, host } = trustsProxies(env) ? forwarded(request) : asked(request)
  const address = `${protocol}://${host}`
  if (!URL.canParse(address)) throw new ServiceError('invalid', 'the Host header is not the name of a host')
  return new URL(address).origin
}

type Asking = Pick<Request, 'protocol' | 'headers'>

const asked = ({ protocol, headers }: Asking) => ({ protocol, host: headers.host ?? '' })

/** As the client asked the first proxy, which ends TLS. */
const forwarded = (request: Asking) => {
  const { protocol, host } = asked(request)
  const { 'x-forwarded-proto': forwardedProtocol, 'x-forwarded-host': forwardedHost } = request.headers
  return {
    protocol: firstOf(forwardedProtocol) === 'https' ? 'https' : protocol,
    host: firstOf(forwardedHost) ?? host,
  }
}

const firstOf = (header: string | string[] | undefined): string | undefined =>
  String(header ?? '')
    .split(',')[0]
    ?.trim() || undefined
