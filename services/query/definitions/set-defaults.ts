import type { TableDefinition } from '#proto/catalogue.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import { settings } from '../config.ts'

const obeyed = { COLUMNDB_EXCLUDE_USER_DEFAULT: settings.COLUMNDB_EXCLUDE_USER_DEFAULT }

/** A table page with the defaults of its parameters as the settings have them now. */
export const withSetDefaults = <T extends Pick<TableDefinition, 'parameters'>>(table: T, env: Environment): T => {
  const { COLUMNDB_EXCLUDE_USER_DEFAULT: users } = read(obeyed, env)
  if (users === undefined || !table.parameters.some(isExcludedUsers)) return table
  const parameters = table.parameters.map((each) => (isExcludedUsers(each) ? { ...each, default: users } : each))
  return { ...table, parameters }
}

/** Pages of past queries declare it under this name. */
const isExcludedUsers = ({ name }: { name: string }): boolean => name === 'exclude_users'
