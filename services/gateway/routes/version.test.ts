import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BuildInfo } from '#proto/http/build.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

const facts: BuildInfo = {
  version: '3.2.1',
  gitSha: 'abc',
  gitRef: 'main',
  builtAt: '2026-01-01T00:00:00Z',
  client: {},
}
const builtAs = (buildJson: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'web-'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html>')
  writeFileSync(join(folder, 'build.json'), buildJson)
  return folder
}

let built: string
let garbled: string
beforeAll(() => {
  built = builtAs(JSON.stringify(facts))
  garbled = builtAs('{"version":')
})
afterAll(() => [built, garbled].forEach((folder) => rmSync(folder, { recursive: true })))

const versionOf = async (webDirectory: string | undefined, env: Record<string, string> = {}) => {
  await using product = await startFakeProduct({ env, ...(webDirectory && { webDirectory }) })
  return (await fetch(`${product.url}/api/version`)).json()
}

describe('GET /api/version', () => {
  it('returns the build of the web', async () => {
    const { version: _version, client: _client, ...git } = facts
    expect(await versionOf(built)).toEqual({
      ui: '3.2.1',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      edition: 'community',
      ...git,
    })
  })

  it.each([
    [{}, '3.2.1'],
    [{ APP_VERSION: '9.9.9' }, '3.2.1'],
    [{ APP_VERSION: '9.9.9', EDGE_WORKERS: '1' }, '9.9.9'],
    [{ APP_VERSION: '9.9.9', EDGE_PAGES: 'true' }, '9.9.9'],
    [{ APP_VERSION: '9.9.9', EDGE_LOCAL_EMULATOR: '1' }, '9.9.9'],
    [{ EDGE_WORKERS: '1' }, '3.2.1'],
  ])('with %j the ui version is %s', async (env, ui) => {
    expect(await versionOf(built, env)).toMatchObject({ ui })
  })

  it.each([
    ['is not built', () => undefined],
    ['has facts that cannot be read', () => garbled],
  ])('responds when the web %s', async (_what, folder) => {
    expect(await versionOf(folder())).toMatchObject({ ui: '0.0.0-unbuilt', gitSha: null, gitRef: null, builtAt: null })
  })
})
