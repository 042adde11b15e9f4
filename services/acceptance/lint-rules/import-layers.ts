import { dirname, join } from 'node:path/posix'
import { isTestFile } from '../../testing/source-file.ts'

/** Allowed imports of code that starts or inspects the whole product. */
const wholeProduct = [
  'services/<service>',
  'services/client',
  'services/main.ts',
  'services/shared',
  'proto',
  'npm',
  'node',
]

/**
 * Allowed imports of each part of the repository. A service does not import other services, because services
 * communicate over the bus.
 */
const allowedImports: Record<string, readonly string[]> = {
  proto: ['npm:zod'],
  'services/shared': ['proto', 'npm', 'node'],
  'services/<service>': ['package.json', 'services/shared', 'proto', 'npm', 'node'],
  // The client needs nothing but `fetch` and the types of the API.
  'services/client': ['proto'],
  'services/cli': ['package.json', 'services/client', 'services/<service>', 'services/shared', 'proto', 'npm', 'node'],
  'services/main.ts': ['package.json', 'services/<service>', 'services/shared', 'proto', 'npm', 'node'],
  'services/generate.ts': ['services/generate', ...wholeProduct],
  'services/generate': ['services/testing', ...wholeProduct],
  'services/set-up.mjs': ['node'],
  'services/vitest.config.ts': ['npm', 'node'],
  'services/testing': ['package.json', 'services/generate', ...wholeProduct],
  'services/requirements': ['services/testing', ...wholeProduct],
  'services/acceptance': [
    'package.json',
    'services/testing',
    'services/generate',
    'services/requirements',
    ...wholeProduct,
  ],
  // Benchmarks use the real servers of the acceptance tests.
  'services/bench': ['services/testing', 'services/acceptance', ...wholeProduct],
  release: ['package.json', 'services/testing', 'services/generate', 'npm', 'node'],
  web: ['proto', 'npm', 'node'],
  // These scripts run in pods that only have Node.
  helm: ['node'],
  k8s: ['node'],
}

/** Additional allowed imports of tests: fixtures, generators and the embedded ClickHouse host. */
const allowedTestImports = ['services/testing', 'services/generate', 'services/sandbox', 'npm', 'node']

/** Packages that only files below one folder may import. */
const packageOwners: Record<string, string> = {
  nats: 'services/shared/bus/',
  ioredis: 'services/shared/store/',
  '@clickhouse/client': 'services/query/',
  express: 'services/gateway/',
  openai: 'services/agent/',
  chdb: 'services/sandbox/',
}

/** Returns the error message for a forbidden import; undefined if the import is allowed. */
export const explainForbiddenImport = (path: string, specifier: string): string | undefined => {
  const target = resolveImport(path, specifier)
  const from = partOf(path)
  const to = partOf(target)
  if (isTestFile(path) && allowedTestImports.some((allowed) => isCovered(allowed, to))) return undefined
  const owner = packageOwners[packageOf(target) ?? '']
  if (owner && !path.startsWith(owner) && !/^services\/(acceptance|testing|requirements|bench)\//.test(path)) {
    return `${path} imports ${specifier}: only files in ${owner} may import it`
  }
  if (from === to) return undefined
  const allowed = allowedImports[from] ?? allowedImports[generalizePart(from)] ?? []
  if (allowed.some((one) => isCovered(one, to) || one === generalizePart(to))) return undefined
  return `${path} imports ${specifier}: ${from} may import ${allowed.join(', ') || 'nothing'}`
}

const isCovered = (allowed: string, part: string): boolean =>
  allowed === part || (allowed === 'npm' && part.startsWith('npm:'))

/** Resolves an import to a path from the root, `node` for built-in modules, or `npm:<package>`. */
export const resolveImport = (path: string, specifier: string): string => {
  if (specifier.startsWith('.')) return join(dirname(path), specifier)
  if (specifier.startsWith('#proto/')) return specifier.replace('#', '')
  if (specifier.startsWith('#shared/')) return specifier.replace('#shared', 'services/shared')
  if (path.startsWith('web/') && /^(#lib|\$)/.test(specifier)) return 'web/src'
  if (specifier.startsWith('node:')) return 'node'
  return `npm:${/^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier}`
}

const packageOf = (target: string): string | undefined => (target.startsWith('npm:') ? target.slice(4) : undefined)

/**
 * Returns the part of the repository that contains a path: `services/<name>` for services, otherwise the top folder.
 */
const partOf = (target: string): string => {
  if (target === 'node' || target.startsWith('npm:')) return target
  const [top = '', second = ''] = target.split('/')
  return top === 'services' ? `${top}/${second}` : top
}

const notServices = new Set([
  'shared',
  'client',
  'acceptance',
  'testing',
  'requirements',
  'generate',
  'bench',
  'main.ts',
  'generate.ts',
  'set-up.mjs',
  'vitest.config.ts',
])

const generalizePart = (part: string): string => {
  const [top, second] = part.split('/')
  return top === 'services' && second !== undefined && !notServices.has(second) ? 'services/<service>' : part
}
