import type { TableDefinition } from '#proto/catalogue.ts'
import { ServiceError } from '#proto/errors.ts'
import { displayZone } from '#shared/config/shared-settings.ts'
import type { Environment } from '#shared/config/environment.ts'
import { read } from '#shared/config/setting.ts'
import type { ParameterValue } from '../clickhouse/statement.ts'
import { settings } from '../config.ts'
import { checkedZone } from './window.ts'

export type GivenParameters = Readonly<Record<string, ParameterValue>>

interface Declared {
  name: string
  type: string
  default: string | number
}

/** Values of the declared parameters: what was given, else the default. Others are left out. */
export const bindParameters = (declared: readonly Declared[], given: GivenParameters): GivenParameters =>
  Object.fromEntries(
    declared.map(({ name, type, default: fallback }) => [name, checked(name, type, given[name] ?? fallback)]),
  )

/** Refuses parameters that a definition does not declare. */
export const refuseUnknown = (declared: readonly Declared[], given: GivenParameters): void => {
  const known = declared.map((parameter) => parameter.name)
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const choice = known.length > 0 ? `allowed: ${known.join(', ')}` : 'no parameters are allowed'
  throw new ServiceError('invalid', `unknown parameter "${unknown}"; ${choice}`, { details: { parameter: unknown } })
}

/** Numbers and switches are checked here, so that the error names the parameter; every other type is checked by the host. */
const checked = (name: string, type: string, value: ParameterValue): ParameterValue => {
  const [, unsigned, bits] = /^(U?)Int(8|16|32|64)$/.exec(type) ?? []
  const bounds = bits === undefined ? undefined : limitsOf(unsigned === 'U', Number(bits))
  // Spellings that the host does not know (0x10, blanks, +1) are refused here too.
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

/** A number as the host reads one out of a parameter. */
const decimal = /^-?\d+(\.\d*)?([eE][+-]?\d+)?$/
const switchWords = new Set(['1', '0', 'true', 'false'])

const limitsOf = (unsigned: boolean, bits: number): { min: number; max: number } => {
  const largest = Math.min(2 ** (unsigned ? bits : bits - 1) - 1, Number.MAX_SAFE_INTEGER)
  return { min: unsigned ? 0 : -largest, max: largest }
}

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

/** The zone a caller names, else the one of the settings, else none, which is the host's own. */
export const zoneFor = (request: string | undefined, env: Environment): string | undefined =>
  checkedZone(request) ?? displayZone(env)
