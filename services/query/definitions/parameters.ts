import type { TableDefinition } from '#proto/catalogue.ts'
import { ServiceError } from '#proto/errors.ts'
import { readDisplayZone } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { ParameterValue } from '../clickhouse/statement.ts'
import { settings } from '../config.ts'
import { validateZone } from './window.ts'

export type ParameterValues = Readonly<Record<string, ParameterValue>>

interface DeclaredParameter {
  name: string
  type: string
  default: string | number
}

/** Returns the requested or default value of each declared parameter. Throws `invalid` for a wrong value. */
export const bindParameters = (declared: readonly DeclaredParameter[], given: ParameterValues): ParameterValues =>
  Object.fromEntries(
    declared.map(({ name, type, default: fallback }) => [name, checked(name, type, given[name] ?? fallback)]),
  )

/** Throws `invalid` for parameters that a definition does not declare. */
export const rejectUnknownParameters = (declared: readonly DeclaredParameter[], given: ParameterValues): void => {
  const known = declared.map((parameter) => parameter.name)
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const choice = known.length > 0 ? `allowed: ${known.join(', ')}` : 'no parameters are allowed'
  throw new ServiceError('invalid', `unknown parameter "${unknown}"; ${choice}`, { details: { parameter: unknown } })
}

/** Validates numbers and booleans, so that the error names the parameter. The host validates all other types. */
const checked = (name: string, type: string, value: ParameterValue): ParameterValue => {
  const [, unsigned, bits] = /^(U?)Int(8|16|32|64)$/.exec(type) ?? []
  const bounds = bits === undefined ? undefined : limitsOf(unsigned === 'U', Number(bits))
  // Formats that ClickHouse does not accept, such as 0x10, spaces or +1, are rejected too.
  const number = decimal.test(String(value)) ? Number(value) : Number.NaN
  if (bounds && !(Number.isInteger(number) && number >= bounds.min && number <= bounds.max)) {
    throw new ServiceError('invalid', `${name} must be a whole number from ${bounds.min} to ${bounds.max}`, {
      details: { parameter: name },
    })
  }
  if (type.startsWith('Float') && !Number.isFinite(number)) {
    throw new ServiceError('invalid', `${name} must be a number`, { details: { parameter: name } })
  }
  if (type === 'Bool' && !switchWords.has(String(value))) {
    throw new ServiceError('invalid', `${name} must be 1 or 0`, { details: { parameter: name } })
  }
  return value
}

/** The number format that ClickHouse accepts in a parameter. */
const decimal = /^-?\d+(\.\d*)?([eE][+-]?\d+)?$/
const switchWords = new Set(['1', '0', 'true', 'false'])

const limitsOf = (unsigned: boolean, bits: number): { min: number; max: number } => {
  const largest = Math.min(2 ** (unsigned ? bits : bits - 1) - 1, Number.MAX_SAFE_INTEGER)
  return { min: unsigned ? 0 : -largest, max: largest }
}

const defaultUserSetting = { COLUMNDB_EXCLUDE_USER_DEFAULT: settings.COLUMNDB_EXCLUDE_USER_DEFAULT }

/** Returns a table page whose parameter `exclude_users` has the default from the current settings. */
export const applyExcludedUsersDefault = <T extends Pick<TableDefinition, 'parameters'>>(
  table: T,
  env: Environment,
): T => {
  const { COLUMNDB_EXCLUDE_USER_DEFAULT: users } = parseSettings(defaultUserSetting, env)
  if (users === undefined || !table.parameters.some(isExcludedUsers)) return table
  const parameters = table.parameters.map((each) => (isExcludedUsers(each) ? { ...each, default: users } : each))
  return { ...table, parameters }
}

/** Returns whether a parameter is the list of excluded users, which query history pages declare. */
const isExcludedUsers = ({ name }: { name: string }): boolean => name === 'exclude_users'

/** Returns the requested time zone, else that of the settings. Undefined means the zone of the host. */
export const resolveZone = (request: string | undefined, env: Environment): string | undefined =>
  validateZone(request) ?? readDisplayZone(env)
