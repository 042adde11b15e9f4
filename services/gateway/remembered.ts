import type { Environment } from '#shared/config/environment.ts'
import { read, type Settings, type Values } from '#shared/config/setting.ts'

/** The values of settings as they stand when they are asked for; parsed again only when the text of one has changed. */
export const remembered = <S extends Settings>(settings: S, env: Environment): (() => Values<S>) => {
  const names = Object.keys(settings)
  let texts: readonly (string | undefined)[] = []
  let values: Values<S> | undefined
  return () => {
    const now = names.map((name) => env[name])
    if (values === undefined || now.some((text, index) => text !== texts[index])) {
      values = read(settings, env)
      texts = now
    }
    return values
  }
}
