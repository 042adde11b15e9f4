import { readFileSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { processSettings } from '../config/process.ts'
import type { Settings } from '../config/setting.ts'
import type { ServiceConfig } from '../lifecycle/service.ts'

const services = join(import.meta.dirname, '../..')
/** Settings with the address of a listener instead of a destination. */
const ownAddresses = new Set(['OPERATIONS_HOST'])

/** Returns whether the name or type of a setting denotes an address. */
const namesAddress = ([name, { allowed }]: [string, Settings[string]]): boolean =>
  !ownAddresses.has(name) && (allowed.startsWith('URL') || /_(URL|HOST|BASE|DOMAIN|ISSUER|ENDPOINT)$/.test(name))

it('classifies every setting that names an address as trusted or guarded', async () => {
  const files = globSync('*/config.ts', { cwd: services })
  const configs: ServiceConfig[] = await Promise.all(files.map((file) => import(join(services, file))))
  const settings = [processSettings, ...configs.map((config) => config.settings)].flatMap((each) =>
    Object.entries(each),
  )
  const names = settings.filter(namesAddress).map(([name]) => name)
  expect(names).toEqual(expect.arrayContaining(['COLUMNDB_HOST', 'IDP_API_URL', 'NATS_URL']))
  const table = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .join('\n')
  expect(names.filter((name) => !table.includes(`\`${name}\``))).toEqual([])
})
