import { ServiceError } from '#proto/errors.ts'
import type { ConnectionTarget } from '#proto/connections.ts'
import { NetFailure, unknownName } from '#shared/net/failure.ts'
import type { Net } from '#shared/net/net.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'

/** What the host list would say of it. */
interface Called {
  key: string
  name?: string
}

/** A host that somebody brought: each of its connections goes through the guard. Throws `invalid` for an address that is refused as it stands. */
export const dialledHost = (
  net: Net,
  { url: given, user, password }: ConnectionTarget,
  { key, name }: Called,
): MonitoredHost => {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url === undefined) throw refusedUrl('must begin with http:// or https://')
  if (url.search !== '' || url.hash !== '') throw refusedUrl('must have neither query nor fragment')
  return { id: -1, key, name: name ?? url.host, url, user, password, group: null, tags: [], connect: net.connect }
}

/** Checks where an address leads, now; its connections are checked again whenever they are made. */
export const requireDiallable = async (net: Net, url: string): Promise<void> => {
  try {
    await net.check(url, 'database')
  } catch (error) {
    if (!(error instanceof NetFailure)) throw error
    throw refusedUrl(error.systemCode === unknownName ? nameUnknown : sentences[error.rule ?? 'address'])
  }
}

const nameUnknown = 'has a host name that the resolver does not know'

const sentences: Readonly<Record<string, string>> = {
  url: 'must be an address that begins with http:// or https://',
  scheme: 'must begin with http:// or https://',
  userinfo: 'must not contain user or password; give them in fields of their own',
  // Where private networks are closed: one sentence for names that do not exist and for those that lead inside, so that nobody can list what is there.
  name: 'leads nowhere that this installation may connect to',
  address: 'leads nowhere that this installation may connect to',
}

const refusedUrl = (sentence = 'cannot be used'): ServiceError =>
  new ServiceError('invalid', `url ${sentence}`, {
    details: { parameter: 'url', problems: [{ parameter: 'url', message: sentence }] },
  })
