import type { Identity } from '#proto/call.ts'

/** Whoever can reach the server, as long as no way to sign in is configured. */
export const anonymous: Identity = { kind: 'anonymous', subject: 'anonymous', features: 'all' }

/** The gateway asking for itself. */
export const gatewayItself: Identity = { kind: 'service', subject: 'gateway', features: 'all' }
