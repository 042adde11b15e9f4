import { errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from 'jose'

/** Signatures that only the holder of a private key can make; a published key must never work as a shared secret. */
export const algorithms = ['RS256', 'ES256']
/** Maximum clock difference to the signer. */
const toleranceSeconds = 10
/** Longer than any token that fits a cookie. */
const maxTokenLength = 8_192

export interface TokenRules {
  keys: JWTVerifyGetKey
  issuer: string
  audience?: string
  nowMs: number
}

/**
 * What a signed token says; undefined when it is forged, expired, not yet valid, or meant for another. Throws `unavailable` when
 * the keys cannot be had.
 */
export const readToken = async (token: string, rules: TokenRules): Promise<JWTPayload | undefined> => {
  const { keys, issuer, audience, nowMs } = rules
  if (token.length > maxTokenLength) return undefined
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      algorithms,
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
