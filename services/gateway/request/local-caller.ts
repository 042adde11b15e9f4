import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { publicUrlSettings } from './public-url.ts'

/** Headers that a proxy adds. A request that has one of them can come from another machine. */
const proxyHeader =
  /^(?:forwarded|via|x-forwarded-.+|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|cf-.+|fastly-client-ip)$/

/**
 * Returns whether a request comes from this machine: over loopback, through no proxy, and from no page of another site.
 * A page of another site has a foreign `Origin`, or a foreign `Host` after DNS rebinding. With a public URL, no caller
 * is local, because a proxy on this machine may forward requests without a header.
 */
export const isLocalCaller = (
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  env: Environment,
): boolean => {
  const { SVC_PUBLIC_URL: publicUrl } = parseSettings(publicUrlSettings, env)
  if (publicUrl !== undefined && !isLoopbackName(publicUrl.hostname)) return false
  if (!isLoopbackAddress(socket.remoteAddress)) return false
  if (Object.keys(headers).some((name) => proxyHeader.test(name))) return false
  const { host, origin, 'sec-fetch-site': site } = headers
  if (host === undefined || !isLoopbackName(URL.parse(`http://${host}`)?.hostname)) return false
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  return origin === undefined || URL.parse(origin)?.host === host
}

const isLoopbackAddress = (address: string | undefined): boolean =>
  address !== undefined && ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'

const isLoopbackName = (name: string | undefined): boolean =>
  name !== undefined && (name === 'localhost' || isLoopbackAddress(name.replace(/^\[(.*)\]$/, '$1')))
