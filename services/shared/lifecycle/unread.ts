import { clientVariables } from '#proto/build-variables.ts'
import type { Environment } from '../config/environment.ts'
import type { SettingProblem } from '../config/setting.ts'

/** Prefixes under which older releases and other tools of the web passed variables to the browser. */
const clientPrefix = /^(?:CLIENT|NEXT_PUBLIC|PUBLIC|VITE)_(?<rest>[A-Z0-9_]+)$/

/** Returns client-prefixed names that are set but not read, each with the name that is read instead; `known` are the names of settings. */
export const unreadVariables = (known: Iterable<string>, env: Environment): SettingProblem[] => {
  const read = new Set([...Object.keys(clientVariables), ...known])
  return Object.keys(env).flatMap((name) => {
    const rest = clientPrefix.exec(name)?.groups?.rest
    if (rest === undefined || !env[name] || read.has(name)) return []
    const instead = [rest, `SVC_${rest}`, `CLIENT_${rest}`].find((each) => read.has(each))
    return instead === undefined ? [] : [{ name, sentence: `is no longer read; set ${instead} instead` }]
  })
}
