import { z } from 'zod'

/** Public key for sending secrets to a service: a JWK of RFC 8037. Only that service can decrypt them. */
export const TransitPublicKey = z.object({ kty: z.literal('OKP'), crv: z.literal('X25519'), x: z.string().max(64) })
export type TransitPublicKey = z.infer<typeof TransitPublicKey>

/** Secrets as JSON in a compact JWE with ECDH-ES and A256GCM. The limit allows secrets of maximum length. */
export const EncryptedSecrets = z.string().max(200_000)
