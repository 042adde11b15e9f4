import type { Setting } from '#shared/config/setting.ts'

const keyShape = /^pk_(?:test|live)_(?<encoded>[A-Za-z0-9+/_-]+={0,2})$/
const hostShape = /^(?<host>[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d{1,5})?)\$$/i

const malformed = 'must be a publishable key: pk_test_ or pk_live_ and the host of the identity provider in base64'

/** The address of the identity provider that a publishable key names: `pk_live_` and base64 of `<host>$`. Throws a sentence. */
export const issuerOfKey = (key: string): URL => {
  const { encoded } = keyShape.exec(key.trim())?.groups ?? {}
  const { host } = hostShape.exec(Buffer.from(encoded ?? '', 'base64').toString())?.groups ?? {}
  if (host === undefined || !URL.canParse(`https://${host}`)) throw new Error(malformed)
  return new URL(`https://${host}`)
}

/** A publishable key, as the address of the provider it names. */
export const publishableKey = (doc: string): Setting<URL | undefined> => ({
  doc,
  audience: 'client',
  fallback: 'none',
  allowed: 'pk_test_… or pk_live_…',
  parse: (given) => (given === undefined ? undefined : issuerOfKey(given)),
})
