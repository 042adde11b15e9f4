import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JSONWebKeySet,
  type JWK,
  type JWTPayload,
  SignJWT,
} from 'jose'

/** The keys of a token issuer, published as a JWKS. */
export interface SigningKeys {
  published(): JSONWebKeySet
  /** Returns the current public key. */
  current(): JWK
  sign(claims: JWTPayload, header?: { typ?: string; kid?: string }): Promise<string>
  /** Replaces the signing key; only the new and the previous key are published. */
  rotate(): Promise<void>
}

interface KeyPair {
  privateKey: CryptoKey
  jwk: JWK & { kid: string; kty: string }
}

export const openSigningKeys = async (): Promise<SigningKeys> => {
  let made = 0
  const make = async (): Promise<KeyPair> => {
    const { privateKey, publicKey } = await generateKeyPair('RS256')
    const { kty = 'RSA', ...jwk } = await exportJWK(publicKey)
    return { privateKey, jwk: { ...jwk, kty, kid: `key-${++made}`, alg: 'RS256', use: 'sig' } }
  }
  let current = await make()
  let previous: KeyPair | undefined
  return {
    published: () => ({ keys: previous === undefined ? [current.jwk] : [current.jwk, previous.jwk] }),
    current: () => current.jwk,
    sign: async (claims, header = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: current.jwk.kid, ...header })
        .sign(current.privateKey),
    rotate: async () => {
      previous = current
      current = await make()
    },
  }
}
