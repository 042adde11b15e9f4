import type { Setting } from '#shared/config/setting.ts'

const hostShape = /^(?<host>[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d{1,5})?)\$$/i

/** What a key says of its provider. */
export interface PublishableKey {
  /** The address of the provider; undefined for a key that names none, beside which `IDP_OAUTH_ISSUER` is needed. */
  issuer: URL | undefined
}

/** The publishable key in a text; throws a sentence for a text without the prefix, such as a secret key. */
export const readPublishableKey = (text: string): PublishableKey => {
  const key = text.trim()
  if (!/^pk_\S+$/.test(key)) throw new Error('must be a publishable key, which begins with pk_')
  return { issuer: issuerIn(key) }
}

/** A key that names its provider ends in the base64 of `<host>$`, behind `pk_` or `pk_live_`. Base64url may hold underscores too. */
const issuerIn = (key: string): URL | undefined => {
  const ends = [...key.matchAll(/_/g)].map(({ index }) => key.slice(index + 1))
  const hosts = ends.map((end) => hostShape.exec(Buffer.from(end, 'base64').toString())?.groups?.host)
  const url = hosts
    .map((host) => (host === undefined ? null : URL.parse(`https://${host}`)))
    .find((each) => each !== null)
  return url ?? undefined
}

/** A publishable key of any form. */
export const publishableKey = (doc: string): Setting<PublishableKey | undefined> => ({
  doc,
  audience: 'client',
  fallback: 'none',
  allowed: 'pk_…',
  parse: (given) => (given === undefined ? undefined : readPublishableKey(given)),
})
