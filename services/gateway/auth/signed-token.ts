import type { JWTPayload, JWTVerifyGetKey } from 'jose'

/** Accepted signature algorithms, all asymmetric, so that a published key never works as a shared secret. */
export const signatureAlgorithms = ['RS256', 'ES256']
/** Maximum clock skew of the issuer. */
const toleranceSeconds = 10
/** Maximum length of a token in characters. Tokens that fit into a cookie are shorter. */
const maxTokenLength = 8_192

export interface TokenRules {
  keys: JWTVerifyGetKey
  issuer: string
  audience?: string
  nowMs: number
}

/**
 * Returns the claims of a signed token; undefined if it is forged, expired, not yet valid or for another audience.
 * Throws `unavailable` if the keys cannot be fetched.
 */
export const verifyToken = async (token: string, rules: TokenRules): Promise<JWTPayload | undefined> => {
  const { keys, issuer, audience, nowMs } = rules
  if (token.length > maxTokenLength) return undefined
  const { errors, jwtVerify } = await import('jose')
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      algorithms: signatureAlgorithms,
      issuer,
      ...(audience !== undefined && { audience }),
      clockTolerance: toleranceSeconds,
      currentDate: new Date(nowMs),
      requiredClaims: ['exp'],
    })
    // The same issuer may sign tokens of other kinds, such as OAuth access tokens (`at+jwt`) for other programs.
    return protectedHeader.typ === undefined || protectedHeader.typ.toUpperCase() === 'JWT' ? payload : undefined
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}
