import type { Environment } from '#shared/config/environment.ts'
import { parseFlag, type Setting, type Settings } from '#shared/config/setting.ts'

/** The same settings, whose defaults stand in for texts that cannot be meant: a slip of the pen must not keep pages from people. */
export const forgiving = <S extends Settings>(settings: S): S => {
  const each = Object.entries(settings).map(([name, setting]) => [
    name,
    { ...setting, parse: (given: string | undefined) => valueOf(given, setting) ?? setting.parse(undefined) },
  ])
  // Each name has the setting that it had, with a parse of the same type.
  return Object.fromEntries(each) as S
}

/** What a variable says; undefined when it is unset or cannot be meant. */
export const said = <T>(name: string, setting: Setting<T>, env: Environment): T | undefined =>
  valueOf(env[name] === '' ? undefined : env[name], setting)

const valueOf = <T>(given: string | undefined, setting: Setting<T>): T | undefined => {
  if (given === undefined) return undefined
  try {
    return setting.parse(given)
  } catch {
    return undefined
  }
}

/** A flag that takes offence at a text which is neither yes nor no. */
export const strictFlag = (setting: Setting<boolean | undefined>): Setting<boolean | undefined> => ({
  ...setting,
  parse: (given) => {
    const flag = parseFlag(given)
    if (given !== undefined && flag === undefined) throw new Error('must be true or false')
    return flag
  },
})
