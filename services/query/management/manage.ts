import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import { read } from '#shared/config/setting.ts'
import { write } from '../actions/write.ts'
import { settings } from '../config.ts'
import type { Parts } from '../handlers/parts.ts'
import { confirm } from './confirm.ts'
import { managementStatement, withoutSecrets } from './statement.ts'

const { COLUMNDB_MANAGEMENT_ENABLED } = settings

/** Changes users, roles or grants of a host after a look at what is there. */
export const manage =
  (parts: Parts): Handlers<typeof query>['manage'] =>
  async ({ hostKey, management }, call) => {
    if (!isEnabled(parts))
      throw new ServiceError('forbidden', 'management is off; COLUMNDB_MANAGEMENT_ENABLED=true turns it on')
    const host = parts.hosts.get(hostKey)
    await confirm(parts, host, management, call)
    const sql = managementStatement(management)
    const grant = 'GRANT ACCESS MANAGEMENT ON *.*, and WITH GRANT OPTION what it shall grant'
    await write(parts, host, { what: `management/${management.operation}`, sql, grant }, call)
    return { ddl: withoutSecrets(sql, management) }
  }

/** Whether that is allowed at all. */
export const management =
  (parts: Parts): Handlers<typeof query>['management'] =>
  async () => ({ enabled: isEnabled(parts) })

const isEnabled = ({ env }: Parts): boolean => read({ COLUMNDB_MANAGEMENT_ENABLED }, env).COLUMNDB_MANAGEMENT_ENABLED
