import { globSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ServiceConfig } from '../lifecycle/service.ts'
import { processSettings } from './process.ts'
import { type Settings, formatClientName, listSecretNames } from './setting.ts'

const services = join(import.meta.dirname, '../..')

describe('every setting of the product', () => {
  let groups: readonly Settings[]
  beforeAll(async () => {
    const files = globSync('*/config.ts', { cwd: services })
    const configs: ServiceConfig[] = await Promise.all(files.map((file) => import(join(services, file))))
    groups = [processSettings, ...configs.map(({ settings }) => settings)]
  })

  it('is kept from the browser when it is a secret', () => {
    const names = new Set(groups.flatMap((settings) => Object.keys(settings)))
    const secrets = groups.flatMap(listSecretNames)
    expect(secrets).toEqual(expect.arrayContaining(['COLUMNDB_PASSWORD', 'REDIS_URL']))
    expect(secrets.filter((name) => name.startsWith('CLIENT_'))).toEqual([])
    expect(secrets.map(formatClientName).filter((name) => names.has(name))).toEqual([])
  })

  it('is a secret when its name contains a secret word', () => {
    const isNamedSecret = /(SECRET|PASSWORD|TOKEN|KEY)$/
    // Public by design: web pages contain the publishable and analytics keys, and verification keys cannot sign.
    const isPublic = /(PUBLISHABLE|VERIFICATION)_KEY$|^(SVC|CLIENT_PRODUCT)_ANALYTICS_KEY$/
    const names = groups.flatMap((settings) => Object.keys(settings))
    const secrets = new Set(groups.flatMap(listSecretNames))
    const named = names.filter((name) => isNamedSecret.test(name) && !isPublic.test(name))
    expect(named).toEqual(expect.arrayContaining(['IDP_SECRET_KEY', 'LLM_API_KEY', 'REPLDB_PASSWORD']))
    expect(named.filter((name) => !secrets.has(name))).toEqual([])
  })

  it('has one meaning in all services that read it', () => {
    const docs = new Map<string, Set<string>>()
    for (const [name, { doc }] of groups.flatMap((settings) => Object.entries(settings))) {
      docs.set(name, (docs.get(name) ?? new Set()).add(doc))
    }
    expect([...docs].filter(([, meanings]) => meanings.size > 1)).toEqual([])
  })

  it('has a name as the reference writes them, and a sentence', () => {
    for (const [name, { doc }] of groups.flatMap((settings) => Object.entries(settings))) {
      expect(name).toMatch(/^[A-Z][A-Z0-9_]*$/)
      expect(doc).toMatch(/\.$/)
    }
  })
})
