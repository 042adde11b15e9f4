import type { Call } from '#proto/call.ts'
import type { ConnectionTarget } from '#proto/connections.ts'
import { encryptFor } from '#shared/seal/transit.ts'
import type { Gateway } from '../gateway.ts'

/** A connection as it may travel: whoever reads the bus learns neither address nor password, since only `query` opens it. */
export const encryptTarget = async (
  { query }: Pick<Gateway, 'query'>,
  { url, user, password }: ConnectionTarget,
  call: Call,
): Promise<string> => encryptFor(await query.connectionKey({}, call), { url, user, password })
