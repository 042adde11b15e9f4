import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { retryUntil } from '../../testing/fetch-json.ts'
import { buildImage, runDocker, findBaseImage, type Image } from './docker.ts'
import { reserveFreePort } from '../../testing/servers/port.ts'

/** Maximum compressed size of the image, which is what a registry sends. */
const maxCompressedBytes = 150_000_000
const unknownService = 2

describe('the image', () => {
  let image: Image
  beforeAll(async () => {
    const source = findBaseImage()
    if ('missing' in source) throw new Error(source.missing)
    image = await buildImage(source.base)
  })
  afterAll(() => image?.[Symbol.asyncDispose]())

  it('is small enough to be fetched quickly', async () => {
    expect(await image.compressedBytes()).toBeLessThanOrEqual(maxCompressedBytes)
  })

  it('holds neither what only tests need nor the embedded engine, and says what it holds', async () => {
    const listed = await image.run(['--entrypoint', 'node'], ['-e', listing])
    const { services, packages, components, spdxPackages } = JSON.parse(listed.output)
    expect(services).toEqual(expect.arrayContaining(['gateway', 'query', 'agent', 'shared', 'main.ts']))
    for (const absent of ['sandbox', 'acceptance', 'testing', 'requirements', 'generate', 'bench', 'generate.ts'])
      expect(services).not.toContain(absent)
    for (const absent of ['chdb', 'vitest', 'svelte', 'node']) expect(packages).not.toContain(absent)
    for (const names of [components, spdxPackages])
      expect(names).toEqual(expect.arrayContaining(['express', 'nats', 'zod']))
  })

  it('refuses a service that it does not have', async () => {
    const { code, output } = await image.run([], ['quarry'])
    expect({ code, output }).toEqual({
      code: unknownService,
      output: expect.stringContaining('unknown service "quarry"'),
    })
  })

  it('runs unprivileged on a read-only file system, serves compressed pages and reports itself healthy', async () => {
    const [http, operations] = [await reserveFreePort(), await reserveFreePort()]
    const variables = { COLUMNDB_HOST: 'http://127.0.0.1:1', PORT: http, OPERATIONS_PORT: operations }
    await using running = await image.start(variables)
    await retryUntil(
      () => fetch(`http://127.0.0.1:${operations}/readyz`).catch(() => undefined),
      (answer) => answer?.ok === true,
      60_000,
    )
    const page = await fetch(`http://127.0.0.1:${http}/`, { headers: { 'accept-encoding': 'br' } })
    expect({ status: page.status, encoding: page.headers.get('content-encoding') }).toEqual({
      status: 200,
      encoding: 'br',
    })
    expect(await runDocker(['exec', running.id, 'node', '-p', 'process.getuid()'])).toBe('65532')
    await retryUntil(
      () => runDocker(['inspect', '--format', '{{.State.Health.Status}}', running.id]),
      (health) => health === 'healthy',
      60_000,
    )
  })
})

const listing = `const { readdirSync: list, readFileSync: read } = require('node:fs')
const { components } = JSON.parse(read('sbom.cdx.json', 'utf8'))
const { packages } = JSON.parse(read('sbom.spdx.json', 'utf8'))
console.log(JSON.stringify({
  services: list('services'), packages: list('node_modules'), components: components.map(({ name }) => name),
  spdxPackages: packages.map(({ name }) => name),
}))`
