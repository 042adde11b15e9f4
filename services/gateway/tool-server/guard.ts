import type { Request } from 'express'
import ipaddr from 'ipaddr.js'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { trustsProxies } from '../server/client-address.ts'
import { crossOriginSettings } from '../server/cross-origin.ts'
import { publicUrl, publicUrlSettings } from '../request/public-url.ts'

type Asking = Pick<Request, 'headers' | 'protocol' | 'socket'>

/**
 * Keeps pages of other sites from the tool server, also those that reach it by a name of theirs that leads to this machine
 * (DNS rebinding). Throws `forbidden`.
 */
export const requireOwnSite = (request: Asking, env: Environment): void => {
  const { origin } = request.headers
  if (origin !== undefined && !isOwn(origin, request, env)) {
    throw new ServiceError(
      'forbidden',
      'pages of this origin may not use the tool server; SVC_CORS_ORIGINS names who may',
    )
  }
  if (!isMisled(request)) return
  const isKnown = trustsProxies(env) || read(publicUrlSettings, env).SVC_PUBLIC_URL?.host === request.headers.host
  if (!isKnown) {
    throw new ServiceError(
      'forbidden',
      'the Host header is none of this machine; SVC_PUBLIC_URL names another that it has',
    )
  }
}

const isOwn = (origin: string, request: Asking, env: Environment): boolean => {
  const { SVC_CORS_ORIGINS: allowed } = read(crossOriginSettings, env)
  return allowed.includes(origin) || allowed.includes('*') || new URL(publicUrl(request, env)).origin === origin
}

/** A memory of a pure function only: a connection mostly names the same host each time. */
const lastNamed = new WeakMap<object, { host: string | undefined; isMisled: boolean }>()

/** Whether a connection within this machine names a host that is none of it. */
const isMisled = ({ headers: { host }, socket }: Asking): boolean => {
  const last = lastNamed.get(socket)
  if (last && last.host === host) return last.isMisled
  const named = { host, isMisled: isLoopback(socket.localAddress) && !isLocal(host) }
  lastNamed.set(socket, named)
  return named.isMisled
}

const isLoopback = (address = ''): boolean => ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'

const isLocal = (host = ''): boolean => {
  const { hostname = '' } = URL.parse(`http://${host}`) ?? {}
  return hostname === 'localhost' || hostname.endsWith('.localhost') || isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'))
}
