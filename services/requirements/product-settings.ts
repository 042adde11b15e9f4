import { globSync } from 'node:fs'
import { join } from 'node:path'
import { buildTimeSettings } from '#shared/config/build-time.ts'
import { processSettings } from '#shared/config/process.ts'
import type { Setting, Settings } from '#shared/config/setting.ts'
import type { ServiceConfig } from '#shared/lifecycle/service.ts'
import { root } from '../testing/source-file.ts'

/** Returns all settings of the product by variable name. Several services can declare the same variable. */
export const readProductSettings = async (): Promise<Map<string, Setting<unknown>[]>> => {
  const files = globSync('services/*/config.ts', { cwd: root })
  const configs: ServiceConfig[] = await Promise.all(files.map((file) => import(join(root, file))))
  const groups: Settings[] = [processSettings, buildTimeSettings, ...configs.map(({ settings }) => settings)]
  const byName = new Map<string, Setting<unknown>[]>()
  for (const [name, setting] of groups.flatMap((settings) => Object.entries(settings))) {
    byName.set(name, [...(byName.get(name) ?? []), setting])
  }
  return byName
}
