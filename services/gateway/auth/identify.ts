import type { IncomingHttpHeaders } from 'node:http'
import type { Request } from 'express'
import type { Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { BuildFacts } from '#proto/http/build.ts'
import type { Environment } from '#shared/config/environment.ts'
import { bearerOf } from '../request/bearer.ts'
import { anonymous } from './identity.ts'
import { publicUrl } from '../request/public-url.ts'
import type { Provider } from './config.ts'
import { cookieOf, keyCookie, isCrossSiteWrite } from './cookies.ts'
import type { IdpSessions } from './idp/sessions.ts'
import type { ApiKeys } from './keys/keys.ts'
import { looksLikeKey } from './keys/key-token.ts'
import { providerOf } from './provider.ts'
import { type EdgeAccess, proxiedPerson } from './proxy/proxy.ts'
import { trustedPerson } from './proxy/trusted.ts'

/**
 * Who sends a request. Credentials that a program states in a header hold or are refused with `unauthenticated`; those that a browser
 * adds by itself hold or count for nothing, since it sends them long after they have ended.
 * Throws `forbidden` for a write that another site's page made a browser send, and for a person whom the operator keeps out.
 */
export type Identify = (request: Request) => Promise<Identity>

interface IdentifyOptions {
  env: Environment
  build: BuildFacts | undefined
  keys: ApiKeys
  idp: IdpSessions
  edgeAccess: EdgeAccess
}

export const openIdentify = ({ env, build, keys, idp, edgeAccess }: IdentifyOptions): Identify => {
  const byProvider: Record<Provider, (request: Request) => Promise<Identity | undefined>> = {
    none: async () => undefined,
    idp: (request) => idp.ofBrowser(request),
    proxy: (request) => proxiedPerson(request, env, edgeAccess),
    trusted: async (request) => trustedPerson(request, env),
  }

  const byKeyCookie = async ({ headers }: Request): Promise<Identity | undefined> => {
    const key = cookieOf(headers, keyCookie)
    const identity = key === undefined ? undefined : await keys.verify(key)
    return identity && { ...identity, isBrowserSession: true }
  }

  return async (request) => {
    const provider = providerOf(env, build)
    const { authorization, 'x-api-key': key } = request.headers
    const states = authorization !== undefined || key !== undefined
    const stated = states ? await byStated(request.headers, provider, { keys, idp }) : undefined
    if (stated !== undefined) return stated
    const added = (await byProvider[provider](request)) ?? (await byKeyCookie(request))
    if (added === undefined) return anonymous
    if (isCrossSiteWrite(request, publicUrl(request, env))) {
      throw new ServiceError('forbidden', 'a page of another site may not change things here in your name')
    }
    return added
  }
}

/** Whom a program names in a header; undefined when it names nobody, or in a way that nothing here asks for. */
const byStated = async (
  headers: IncomingHttpHeaders,
  provider: Provider,
  { keys, idp }: Pick<IdentifyOptions, 'keys' | 'idp'>,
): Promise<Identity | undefined> => {
  const bearer = bearerOf(headers)
  const key = keyOf(headers, bearer)
  if (key !== undefined && keys.enabled()) return held(await keys.verify(key), 'the API key is not valid')
  if (key !== undefined && provider !== 'none') throw refused('API keys are off here')
  if (bearer === undefined) return undefined
  if (provider === 'idp') return held(await idp.ofToken(bearer), 'the session token is not valid')
  if (provider === 'none' && keys.enabled()) throw refused('the bearer is no API key')
  // A proxy may send tokens of its own along, and where nobody is asked for credentials none can be wrong.
  return undefined
}

const keyOf = ({ 'x-api-key': header }: IncomingHttpHeaders, bearer: string | undefined): string | undefined => {
  if (typeof header === 'string') return header
  return bearer !== undefined && looksLikeKey(bearer) ? bearer : undefined
}

const held = (identity: Identity | undefined, sentence: string): Identity => {
  if (identity === undefined) throw refused(sentence)
  return identity
}

const refused = (sentence: string): ServiceError => new ServiceError('unauthenticated', sentence)
