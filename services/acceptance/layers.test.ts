import { matchesGlob } from 'node:path/posix'
import { describe, expect, it } from 'vitest'
import packageFile from '../../package.json' with { type: 'json' }
import { explainForbiddenImport, resolveImport } from './lint-rules/import-layers.ts'
import { listImports, isCodeFile, readSource, listRepositoryFiles } from '../testing/source-file.ts'

describe('allowed imports', () => {
  it.each([
    ['proto/query.ts', 'node:fs'],
    ['proto/query.ts', 'undici'],
    ['proto/query.ts', '../services/shared/time/clock.ts'],
    ['services/shared/bus/nats.ts', '../../query/hosts.ts'],
    ['services/query/service.ts', '../gateway/service.ts'],
    ['services/mcp/call-tool.ts', '../query/tools/tool-rows.ts'],
    ['services/agent/tool-sources.ts', '../query/handler-deps.ts'],
    ['services/query/service.ts', '../sandbox/start.ts'],
    ['services/query/service.ts', '../acceptance/servers.ts'],
    ['services/query/service.ts', 'nats'],
    ['services/gateway/service.ts', '@clickhouse/client'],
    ['services/gateway/routes/hosts.ts', '../../query/hosts.ts'],
    ['services/gateway/routes/hosts.test.ts', '../../query/hosts.ts'],
    ['services/set-up.mjs', 'zod'],
    ['web/src/lib/api/query-client.ts', '../../../../services/shared/time/clock.ts'],
    ['charts/merges/build.ts', 'zod'],
  ])('%s may not import %s', (path, specifier) => {
    expect(explainForbiddenImport(path, specifier)).toContain(specifier)
  })

  it.each([
    ['proto/query.ts', 'zod'],
    ['proto/http/data.ts', '../catalogue.ts'],
    ['services/shared/bus/nats.ts', 'nats'],
    ['services/query/pool.ts', '@clickhouse/client'],
    ['services/query/service.ts', '#proto/query.ts'],
    ['services/query/service.ts', '#shared/lifecycle/service.ts'],
    ['services/query/service.test.ts', '../sandbox/start.ts'],
    ['services/shared/bus/bus.test.ts', '../../testing/servers.ts'],
    ['services/main.ts', './query/service.ts'],
    ['services/main.ts', './sandbox/start.ts'],
    ['web/src/lib/api/query-client.ts', '#proto/http/data.ts'],
  ])('%s may import %s', (path, specifier) => {
    expect(explainForbiddenImport(path, specifier)).toBeUndefined()
  })

  it('include every import of the repository', () => {
    const files = listRepositoryFiles().filter(isCodeFile).map(readSource)
    const found = files.flatMap((file) =>
      listImports(file).flatMap((one) => explainForbiddenImport(file.path, one) ?? []),
    )
    expect(found).toEqual([])
  })

  it('cover static, exported, dynamic and component imports', () => {
    const text = "import a from 'one'\nexport { b } from 'two'\nexport * from 'three'\nawait import('four')\n"
    expect(listImports({ path: 'services/x.ts', text }).toSorted()).toEqual(['four', 'one', 'three', 'two'])
    const component = '<p>{1}</p>\n<script lang="ts">\n  import A from \'./A.svelte\'\n</script>\n'
    expect(listImports({ path: 'web/src/B.svelte', text: component })).toEqual(['./A.svelte'])
  })
})

describe('the contents of the image', () => {
  const leftOut = readSource('.dockerignore')
    .text.split('\n')
    .filter((line) => line !== '' && !/^([#!]|\*$)/.test(line))
  const isLeftOut = (path: string) => leftOut.some((one) => matchesGlob(path, one) || matchesGlob(path, `${one}/**`))
  const sources = listRepositoryFiles()
    .filter((path) => /^(proto|services|web\/(src|build-time))\/.*\.(ts|svelte)$/.test(path) && !isLeftOut(path))
    .map(readSource)
  // The image is built with the bundler.
  const services = sources.filter(({ path }) => !path.startsWith('web/') && path !== 'services/bundle.ts')

  it('has the packages that the product imports, and no others', () => {
    const imported = services
      .flatMap(listImports)
      .flatMap((one) => /^(?![.#]|node:)(?:@[^/]+\/)?[^/]+/.exec(one)?.[0] ?? [])
    // `node` runs the product and is not imported. `pino-pretty` is a development dependency that is used if installed.
    const installed = [...Object.keys(packageFile.dependencies).filter((name) => name !== 'node'), 'pino-pretty']
    expect([...new Set(imported)].toSorted()).toEqual(installed.toSorted())
  })

  it('has no file that only tests need', () => {
    // Entry points: the product, the command line, and shared modules that only generators import.
    const generated = ['bus/accounts.ts', 'config/build-time.ts', 'config/reference.ts']
    const entries = ['services/main.ts', 'services/cli/main.ts', ...generated.map((path) => `services/shared/${path}`)]
    const imported = sources.flatMap((file) => listImports(file).map((one) => resolveImport(file.path, one)))
    expect(imported).toContain('services/query/service.ts')
    const needed = new Set([...entries, ...imported])
    expect(services.map(({ path }) => path).filter((path) => !needed.has(path))).toEqual([])
  })
})
