import { z } from 'zod'

/** Public key for sending secrets to a service: a JWK of RFC 8037. Only that service can decrypt them. */
export const TransitPublicKey = z.object({ kty: z.literal('OKP'), crv: z.literal('X25519'), x: z.string().max(64) })
export type TransitPublicKey = z.infer<typeof TransitPublicKey>

/** A compact JWE by ECDH-ES and A256GCM, of JSON with every secret at its limit. */
export const Encrypted = z.string().max(200_000)
