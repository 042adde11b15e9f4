import type { Call } from '#proto/call.ts'
import type { ConnectionTest } from '#proto/connections.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Gateway } from '../gateway.ts'

type Works = Extract<ConnectionTest, { ok: true }>

/** Tries a connection before anything is made of it; throws `invalid` with the reason when it does not work. */
export const requireWorking = async (
  { query }: Pick<Gateway, 'query'>,
  encryptedTarget: string,
  call: Call,
): Promise<Works> => {
  const tested = await query.testConnection({ encryptedTarget }, call)
  if (tested.ok) return tested
  const { reason, message } = tested
  throw new ServiceError('invalid', `the connection was tried and does not work: ${message}`, { details: { reason } })
}
