import { existsSync } from 'node:fs'
import { copyFile, cp, mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path/posix'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseYaml } from '#shared/config/yaml.ts'
import packageFile from '../../package.json' with { type: 'json' }
import { openDefinitions } from '../query/definitions/definitions.ts'
import { agentTools } from '../agent/tools/index.ts'
import { tools as mcpTools } from '../mcp/tools/index.ts'
import { readToolStatements } from '../query/tools/tool-rows.ts'
import { readSource, repositoryFiles, root, type SourceFile } from '../testing/source-file.ts'

const paths = repositoryFiles().filter((path) =>
  /^(README|CHANGELOG|charts\/README|\.github\/[^/]+|services\/(.+\/)?README)\.md$/.test(path),
)
const documents = paths.map(readSource)
const document = (path: string): SourceFile => documents.find((each) => each.path === path) ?? readSource(path)
const architecture = document('services/README.md')
const contributing = document('.github/CONTRIBUTING.md')

/** What a document says outside of its blocks of code. */
const prose = (text: string): string => text.replaceAll(/^```[\s\S]*?^```/gm, '')

const exists = (path: string): boolean => existsSync(join(root, path))

/** The anchors of the headings of a document, as GitHub makes them. */
const anchorsOf = (path: string): Set<string> => {
  const headings = [...prose(readSource(path).text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  )
}

/** Relative links that lead to no file or heading, as `document: link`. */
const brokenLinks = ({ path, text }: SourceFile): string[] => {
  const links = [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  const leadsNowhere = (link: string): boolean => {
    const [file = '', anchor] = link.split('#')
    const target = file === '' ? path : normalize(join(dirname(path), file))
    if (target.startsWith('../') || !exists(target)) return true
    return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor)
  }
  return links.filter((link) => !/^[a-z]+:/.test(link) && leadsNowhere(link)).map((link) => `${path}: ${link}`)
}

/** Commands that `package.json` does not have, as `document: command`. */
const unknownCommands = ({ path, text }: SourceFile): string[] =>
  [...text.matchAll(/npm run ([\w:-]+)/g)]
    .map(([, name = '']) => name)
    .filter((name) => !Object.hasOwn(packageFile.scripts, name))
    .map((name) => `${path}: npm run ${name}`)

const pathsNamed = (text: string): string[] =>
  [...prose(text).matchAll(/`((?:services|proto|web|helm|charts|k8s|\.ci)\/[^`\s]*)`/g)].map(([, path = '']) => path)

/** Paths between backticks that do not exist. Of a path with a placeholder such as `<id>` the folder before it counts. */
const missingPaths = ({ text }: SourceFile): string[] =>
  pathsNamed(text).filter((path) => !exists(path.replace(/[^/]*<.*$/, '')))

/** The steps of each flow below the heading `Flows`. */
const flowsOf = ({ text }: SourceFile): { title: string; steps: number }[] => {
  const [, section = ''] = /^## Flows$([\s\S]*?)(?=^## )/m.exec(text) ?? []
  return section
    .split(/^### /m)
    .slice(1)
    .map((flow) => ({ title: flow.split('\n')[0] ?? '', steps: flow.match(/^\d+\. /gm)?.length ?? 0 }))
}

describe('the documents', () => {
  it('include those that people look for first', () => {
    expect(paths).toEqual(
      expect.arrayContaining([
        '.github/CONTRIBUTING.md',
        '.github/SECURITY.md',
        'CHANGELOG.md',
        'README.md',
        'services/README.md',
      ]),
    )
  })

  it('link only to files and headings that exist', () => {
    const broken = (text: string) => brokenLinks({ path: 'services/mcp/README.md', text })
    expect(broken('[a](tools/) [b](../query/README.md#decisions) [c](https://example.com/x)')).toEqual([])
    expect(broken('[a](none.md) [b](../query/README.md#none) [c](../../../README.md)')).toHaveLength(3)
    expect(documents.flatMap(brokenLinks)).toEqual([])
  })

  it('name only commands that package.json has', () => {
    expect(unknownCommands({ path: 'README.md', text: '`npm run bench -- guard`, `npm run test:none`' })).toEqual([
      'README.md: npm run test:none',
    ])
    expect(documents.flatMap(unknownCommands)).toEqual([])
  })

  it.each([contributing, architecture])('name only paths that exist: $path', (named) => {
    const text = '`services/none.ts` `services/mcp/tools/<name>.ts` `services/none/<name>.ts` `proto/query.ts`'
    expect(missingPaths({ path: '', text })).toEqual(['services/none.ts', 'services/none/<name>.ts'])
    expect(pathsNamed(named.text).length).toBeGreaterThan(20)
    expect(missingPaths(named)).toEqual([])
  })
})

/** The steps of each recipe below the heading `Recipes`, without tests and what is generated. */
const recipesOf = ({ text }: SourceFile): Map<string, string[]> => {
  const [, section = ''] = /^## Recipes$([\s\S]*?)(?=^## )/m.exec(text) ?? []
  const recipes = section.split(/^### /m).slice(1)
  return new Map(
    recipes.map((recipe) => [
      recipe.split('\n')[0] ?? '',
      [...recipe.matchAll(/^\d+\. (?!tests|`npm run generate`)(.+)/gm)].map(([, step = '']) => step),
    ]),
  )
}

/** Files to write for one addition, without docs, tests, fixtures and generated files. */
const isWritten = (path: string): boolean =>
  /^(proto|services|charts|web)\//.test(path) &&
  !/\.(md|snap|test\.ts|e2e\.ts)$|\/(testing|requirements|acceptance|generate|bench)\//.test(path) &&
  !/^(proto\/channel-list\.ts|services\/query\/\w+\/names\.json|web\/src\/lib\/api\/routes\.ts)$/.test(path)

describe('the recipes', () => {
  const written = repositoryFiles().filter(isWritten).map(readSource)
  const filesOf = (name: RegExp): string[] =>
    written.filter(({ path, text }) => name.test(path) || name.test(text)).map(({ path }) => path)

  it('are read without tests and what is generated', () => {
    const text = '## Recipes\n\n### One\n\n1. `a`\n2. tests: b\n3. `npm run generate`: c\n\n## Next\n'
    expect([...recipesOf({ path: '', text })]).toEqual([['One', ['`a`']]])
  })

  // The example of each recipe was added by it, so its name is in the files of the recipe and in no others.
  it.each([
    ['A rule', 1, /\bmemory-pressure\b/, ['charts/system/memory-pressure.rule.yaml']],
    [
      'A chart or a table page',
      1,
      /\bhealth-disk-percent-detail\b/,
      ['charts/health/health-disk-percent-detail.chart.yaml'],
    ],
    ['A setting', 2, /\bSVC_MCP_FULL_STATEMENTS\b/, ['services/mcp/config.ts', 'services/mcp/service.ts']],
    [
      'A notification channel',
      2,
      /\bsms(\.ts)?\b|\bHEALTH_ALERT_SMS_/,
      ['services/alert-dispatcher/channels/index.ts', 'services/alert-dispatcher/channels/sms.ts'],
    ],
    [
      'A route with a new bus method',
      4,
      /\bexploreDdl\b/,
      [
        'proto/explorer.ts',
        'proto/http/explorer.ts',
        'services/gateway/routes/explorer.ts',
        'services/query/explorer/handlers.ts',
      ],
    ],
  ])('%s touches at most %i files', (title, most, name, files) => {
    const steps = recipesOf(contributing).get(title) ?? []
    expect(steps).toHaveLength(most)
    expect(filesOf(name)).toEqual(files)
    expect(files).toHaveLength(most)
  })

  it.each([
    ['charts', 'storage/backup-outcomes.chart.yaml'],
    ['tables', 'logs/error-log.table.yaml'],
    ['rules', 'system/memory-pressure.rule.yaml'],
  ] as const)('take one more of the %s into use by its file alone', async (kind, example) => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'watchhouse-recipe-'))
    await cp(join(root, 'charts'), directory.path, { recursive: true })
    await copyFile(join(root, 'charts', example), join(directory.path, example.replace(/\/[\w-]+/, '/one-more')))
    const definitions = await openDefinitions(pino({ level: 'silent' }), undefined, directory.path)
    expect(definitions[kind].map(({ name }) => name)).toContain('one-more')
  })
})

describe('the flows of the architecture', () => {
  it('are counted in steps', () => {
    const text = '## Flows\n\n### One\n\n1. a\n2. b\n\n### Two\n\nNothing.\n\n## Next\n\n1. c\n'
    expect(flowsOf({ path: '', text })).toEqual([
      { title: 'One', steps: 2 },
      { title: 'Two', steps: 0 },
    ])
    const titles = flowsOf(architecture).map(({ title }) => title)
    expect(titles).toEqual(['A chart', 'A tool call', 'An alert', 'A question to the agent'])
  })

  it.each(flowsOf(architecture))('$title has at most ten steps', ({ steps }) => {
    expect(steps).toBeGreaterThanOrEqual(5)
    expect(steps).toBeLessThanOrEqual(10)
  })
})

const Workflow = z.looseObject({
  on: z.record(z.string(), z.unknown()),
  permissions: z.strictObject({ contents: z.literal('read') }),
  concurrency: z.object({ group: z.string(), 'cancel-in-progress': z.literal(true) }),
  jobs: z.record(
    z.string(),
    z.looseObject({
      'timeout-minutes': z.int().max(360),
      // Of a major version, and never of a branch.
      steps: z.array(z.looseObject({ uses: z.string().regex(/^actions\/[a-z-]+@v\d+$/), run: z.string() }).partial()),
    }),
  ),
})

describe('the workflows', () => {
  const read = (name: string) => {
    const source = readSource(`.github/workflows/${name}.yml`)
    return { ...source, ...Workflow.parse(parseYaml(source.text)) }
  }

  it('are refused with more rights, without a limit in time, or with an action of a branch', () => {
    const job = { 'timeout-minutes': 5, steps: [{ uses: 'actions/checkout@v6' }, { run: 'true' }] }
    const concurrency = { group: 'one', 'cancel-in-progress': true }
    const good = { on: { push: {} }, permissions: { contents: 'read' }, concurrency, jobs: { job } }
    const isGood = (more: object) => Workflow.safeParse({ ...good, ...more }).success
    expect(isGood({})).toBe(true)
    expect(isGood({ permissions: { contents: 'write' } })).toBe(false)
    expect(isGood({ permissions: { contents: 'read', packages: 'write' } })).toBe(false)
    expect(isGood({ jobs: { job: { steps: job.steps } } })).toBe(false)
    expect(isGood({ jobs: { job: { ...job, steps: [{ uses: 'actions/checkout@main' }] } } })).toBe(false)
  })

  it('check each change by .ci/run', () => {
    const { on, jobs } = read('ci')
    expect(Object.keys(on)).toEqual(expect.arrayContaining(['pull_request', 'push']))
    const commands = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run }) => run))
    expect(commands).toContain('bash .ci/run')
    expect(exists('.ci/run')).toBe(true)
  })

  it('run what takes long each night', () => {
    const nightly = read('nightly')
    expect(Object.keys(nightly.on)).toEqual(expect.arrayContaining(['schedule', 'workflow_dispatch']))
    const named = [...nightly.text.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name)
    expect(named.toSorted()).toEqual(['bench', 'test:attacks', 'test:containers', 'test:faults', 'test:mutations'])
    expect(unknownCommands(nightly)).toEqual([])
  })
})

/** The files that a recipe of the contributing guide lists. */
const filesOfRecipe = (text: string, title: string): string[] => {
  const [, section = ''] = new RegExp(`^### ${title}$([\\s\\S]*?)(?=^##|(?![\\s\\S]))`, 'm').exec(text) ?? []
  return [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path = '']) => path)
}

describe('the recipe of a tool', () => {
  it.each([
    ['An MCP tool', 'services/mcp/tools'],
    ['A tool of the agent', 'services/agent/tools'],
  ])('%s touches its file and one line of the list', (title, folder) => {
    expect(filesOfRecipe(contributing.text, title)).toEqual([`${folder}/<name>.ts`, `${folder}/index.ts`])
  })

  const product = repositoryFiles()
    .filter((path) => /^(proto|services|web\/src)\/.*\.(ts|svelte)$/.test(path))
    .filter((path) => !/\.(test|suite|check)\.ts$|\/(testing|evaluation|acceptance|bench|requirements)\//.test(path))
    .map(readSource)
  const filesWith = (text: string) => product.filter((file) => file.text.includes(text)).map(({ path }) => path)

  // A name of one word, such as `query`, means other things elsewhere.
  it.each([...mcpTools, ...agentTools].map(({ name }) => name).filter((name) => name.includes('_')))(
    '%s is named and imported nowhere else',
    (name) => {
      const file = `${name.replaceAll('_', '-')}.ts`
      const [own] = filesWith(`name: '${name}'`)
      expect(filesWith(`'${name}'`)).toEqual([own])
      expect(filesWith(`/${file}'`)).toEqual([own?.replace(file, 'index.ts')])
    },
  )

  it.each([...readToolStatements()])('%s is as open as its statements', (name, { feature }) => {
    expect([...mcpTools, ...agentTools].find((tool) => tool.name === name)?.feature).toBe(feature)
  })
})
