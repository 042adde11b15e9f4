import type { Call } from '#proto/call.ts'
import { encryptFor } from '#shared/seal/transit.ts'
import type { Gateway } from './gateway.ts'

/** Secrets as they may travel: whoever reads the bus learns none of them, since only `alert-dispatcher` opens them. */
export const encryptForAlerts = async (
  { alerts }: Pick<Gateway, 'alerts'>,
  secrets: object,
  call: Call,
): Promise<string> => encryptFor(await alerts.alertSecretsKey({}, call), secrets)
