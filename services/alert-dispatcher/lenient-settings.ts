import type { Environment } from '#shared/config/environment.ts'
import { parseFlag, type Setting, type Settings } from '#shared/config/setting.ts'

/**
 * Returns the settings with parsers that fall back to the default on an invalid value, so that a typo does not block
 * alerts.
 */
export const makeLenient = <S extends Settings>(settings: S): S => {
  const each = Object.entries(settings).map(([name, setting]) => [
    name,
    { ...setting, parse: (text: string | undefined) => parseOrUndefined(text, setting) ?? setting.parse(undefined) },
  ])
  // The mapping keeps every name, and each new `parse` returns the same type.
  return Object.fromEntries(each) as S
}

/** Returns the parsed value of a variable; undefined if it is unset or invalid. */
export const parseIfValid = <T>(name: string, setting: Setting<T>, env: Environment): T | undefined =>
  parseOrUndefined(env[name] === '' ? undefined : env[name], setting)

const parseOrUndefined = <T>(text: string | undefined, setting: Setting<T>): T | undefined => {
  if (text === undefined) return undefined
  try {
    return setting.parse(text)
  } catch {
    return undefined
  }
}

/** Returns a flag setting whose parser throws on a value that is not a boolean. */
export const makeFlagStrict = (setting: Setting<boolean | undefined>): Setting<boolean | undefined> => ({
  ...setting,
  parse: (text) => {
    const flag = parseFlag(text)
    if (text !== undefined && flag === undefined) throw new Error('must be true or false')
    return flag
  },
})
